-- What people do with responses: status, star, tags and notes. And how long forms keep responses.

-- new, read or done
ALTER TABLE response ADD COLUMN status TEXT NOT NULL DEFAULT 'new';
ALTER TABLE response ADD COLUMN starred BOOLEAN NOT NULL DEFAULT FALSE;
-- JSON array of the tags, as they are shown; empty: none
ALTER TABLE response ADD COLUMN tags TEXT NOT NULL DEFAULT '';
-- rows in response_note
ALTER TABLE response ADD COLUMN note_count BIGINT NOT NULL DEFAULT 0;
-- A new response is in neither index, so submissions pay nothing for them.
CREATE INDEX response_by_status ON response (account_id, form_id, status, id) WHERE status <> 'new';
CREATE INDEX response_starred ON response (account_id, form_id, id) WHERE starred;

-- The responses that have a tag.
CREATE TABLE response_tag (
  account_id  TEXT COLLATE BINARY NOT NULL,
  form_id     TEXT COLLATE BINARY NOT NULL,
  -- the tag in lower case
  tag_key     TEXT COLLATE BINARY NOT NULL,
  response_id TEXT COLLATE BINARY NOT NULL,
  PRIMARY KEY (account_id, form_id, tag_key, response_id)
) WITHOUT ROWID;

-- How many responses of a form have a mark. The number of new ones is what remains.
CREATE TABLE form_mark (
  account_id TEXT COLLATE BINARY NOT NULL,
  form_id    TEXT COLLATE BINARY NOT NULL,
  -- status, star or tag
  kind       TEXT COLLATE BINARY NOT NULL,
  -- read or done; empty; tag_key
  mark       TEXT COLLATE BINARY NOT NULL,
  -- a tag as it is shown
  name       TEXT NOT NULL,
  responses  BIGINT NOT NULL,
  PRIMARY KEY (account_id, form_id, kind, mark)
) WITHOUT ROWID;

CREATE TABLE response_note (
  account_id  TEXT COLLATE BINARY NOT NULL,
  form_id     TEXT COLLATE BINARY NOT NULL,
  response_id TEXT COLLATE BINARY NOT NULL,
  id          TEXT COLLATE BINARY NOT NULL,
  -- the user who wrote it
  author_id   TEXT COLLATE BINARY NOT NULL,
  text        TEXT NOT NULL,
  created_at  BIGINT NOT NULL,
  updated_at  BIGINT NOT NULL,
  PRIMARY KEY (account_id, form_id, response_id, id)
) WITHOUT ROWID;

-- Forms that delete their responses after some days.
CREATE TABLE form_retention (
  account_id TEXT COLLATE BINARY NOT NULL,
  form_id    TEXT COLLATE BINARY NOT NULL,
  days       BIGINT NOT NULL,
  set_at     BIGINT NOT NULL,
  -- when the owner was told of the first deletion; 0: not yet
  warned_at  BIGINT NOT NULL DEFAULT 0,
  -- nothing is deleted before
  starts_at  BIGINT NOT NULL,
  -- when to look for responses again
  next_at    BIGINT NOT NULL,
  -- responses deleted so far, and when the last ones were
  deleted    BIGINT NOT NULL DEFAULT 0,
  deleted_at BIGINT NOT NULL DEFAULT 0,
  PRIMARY KEY (account_id, form_id)
) WITHOUT ROWID;
CREATE INDEX form_retention_due ON form_retention (next_at);

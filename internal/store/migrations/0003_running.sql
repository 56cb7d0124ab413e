-- Form settings and summaries of responses.

ALTER TABLE form ADD COLUMN slug TEXT NOT NULL DEFAULT '';
ALTER TABLE form ADD COLUMN opens_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE form ADD COLUMN closes_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE form ADD COLUMN response_limit BIGINT NOT NULL DEFAULT 0;
ALTER TABLE form ADD COLUMN sites TEXT NOT NULL DEFAULT '*';
CREATE INDEX form_by_closing ON form (closes_at, account_id, id) WHERE closes_at > 0;

-- How a response was submitted, as JSON.
ALTER TABLE response ADD COLUMN metadata TEXT NOT NULL DEFAULT '{}';

-- The summary of all responses up to a serial, as JSON. Later responses are added when
-- somebody reads the summary, or when there are many. edits counts changed and deleted
-- responses, so that no summary from before a change is written back.
CREATE TABLE form_summary (
  account_id TEXT COLLATE BINARY NOT NULL,
  form_id    TEXT COLLATE BINARY NOT NULL,
  serial     BIGINT NOT NULL,
  edits      BIGINT NOT NULL,
  summary    TEXT NOT NULL,
  PRIMARY KEY (account_id, form_id)
) WITHOUT ROWID;

-- How often each option that has a limit was chosen.
CREATE TABLE option_count (
  account_id TEXT COLLATE BINARY NOT NULL,
  form_id    TEXT COLLATE BINARY NOT NULL,
  field_id   TEXT COLLATE BINARY NOT NULL,
  value      TEXT COLLATE BINARY NOT NULL,
  n          BIGINT NOT NULL,
  PRIMARY KEY (account_id, form_id, field_id, value)
) WITHOUT ROWID;

-- Internal settings that all nodes share, such as the key that signs pages.
CREATE TABLE setting (
  name  TEXT COLLATE BINARY NOT NULL PRIMARY KEY,
  value TEXT NOT NULL
) WITHOUT ROWID;

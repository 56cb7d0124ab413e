-- How forms are offered, and what is known of their responses.

ALTER TABLE form ADD COLUMN slug TEXT NOT NULL DEFAULT '';
ALTER TABLE form ADD COLUMN opens_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE form ADD COLUMN closes_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE form ADD COLUMN response_limit BIGINT NOT NULL DEFAULT 0;
ALTER TABLE form ADD COLUMN sites TEXT NOT NULL DEFAULT '*';
CREATE INDEX form_by_closing ON form (closes_at, account_id, id) WHERE closes_at > 0;

-- How a response came, as JSON.
ALTER TABLE response ADD COLUMN metadata TEXT NOT NULL DEFAULT '{}';

-- What the responses up to a serial amount to, as JSON. Those after it are counted
-- in when somebody asks, or when many have gathered; edits counts what was changed
-- or deleted since, so that nobody writes back what no longer holds.
CREATE TABLE form_summary (
  account_id TEXT COLLATE BINARY NOT NULL,
  form_id    TEXT COLLATE BINARY NOT NULL,
  serial     BIGINT NOT NULL,
  edits      BIGINT NOT NULL,
  summary    TEXT NOT NULL,
  PRIMARY KEY (account_id, form_id)
) WITHOUT ROWID;

-- How often an option that has a cap was chosen.
CREATE TABLE option_count (
  account_id TEXT COLLATE BINARY NOT NULL,
  form_id    TEXT COLLATE BINARY NOT NULL,
  field_id   TEXT COLLATE BINARY NOT NULL,
  value      TEXT COLLATE BINARY NOT NULL,
  n          BIGINT NOT NULL,
  PRIMARY KEY (account_id, form_id, field_id, value)
) WITHOUT ROWID;

-- What all nodes share and nobody sees, such as the key that signs pages.
CREATE TABLE setting (
  name  TEXT COLLATE BINARY NOT NULL PRIMARY KEY,
  value TEXT NOT NULL
) WITHOUT ROWID;

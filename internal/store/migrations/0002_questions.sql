-- What forms ask, and what people answered.

-- The definition that its owner is working on. Its own table, so that lists of
-- forms stay small.
CREATE TABLE form_draft (
  account_id TEXT COLLATE BINARY NOT NULL,
  form_id    TEXT COLLATE BINARY NOT NULL,
  definition TEXT NOT NULL,
  PRIMARY KEY (account_id, form_id)
) WITHOUT ROWID;

-- What was published: never changed, so that each response can be read with the
-- questions that it answers.
CREATE TABLE form_version (
  account_id   TEXT COLLATE BINARY NOT NULL,
  form_id      TEXT COLLATE BINARY NOT NULL,
  version      BIGINT NOT NULL,
  title        TEXT NOT NULL,
  description  TEXT NOT NULL,
  language     TEXT NOT NULL,
  definition   TEXT NOT NULL,
  published_at BIGINT NOT NULL,
  PRIMARY KEY (account_id, form_id, version)
) WITHOUT ROWID;

-- Respondents know a form by its address alone, which leads to its owner. A table
-- and not an index of form: with an index by id, PostgreSQL would read one
-- account's list by walking over everybody's forms.
CREATE TABLE form_address (
  address    TEXT COLLATE BINARY NOT NULL PRIMARY KEY,
  account_id TEXT COLLATE BINARY NOT NULL,
  form_id    TEXT COLLATE BINARY NOT NULL
) WITHOUT ROWID;
CREATE INDEX form_address_by_form ON form_address (account_id, form_id);
INSERT INTO form_address (address, account_id, form_id) SELECT id, account_id, id FROM form;

ALTER TABLE form ADD COLUMN response_serial BIGINT NOT NULL DEFAULT 0;

-- The serial is given while the form's row is locked, so within a form it grows
-- in the order of the commits: a reader that remembers the last one it saw
-- misses none. The table is kept in this order, so that reading many responses
-- is reading on.
CREATE TABLE response (
  account_id   TEXT COLLATE BINARY NOT NULL,
  form_id      TEXT COLLATE BINARY NOT NULL,
  serial       BIGINT NOT NULL,
  id           TEXT COLLATE BINARY NOT NULL,
  version      BIGINT NOT NULL,
  submitted_at BIGINT NOT NULL,
  answers      JSONB NOT NULL,
  PRIMARY KEY (account_id, form_id, serial)
) WITHOUT ROWID;
CREATE UNIQUE INDEX response_by_id ON response (account_id, form_id, id);

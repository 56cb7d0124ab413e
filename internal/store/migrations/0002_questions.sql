-- Form definitions and responses.

-- The draft of a form. It has a table of its own so that listing forms does not read it.
CREATE TABLE form_draft (
  account_id TEXT COLLATE BINARY NOT NULL,
  form_id    TEXT COLLATE BINARY NOT NULL,
  definition TEXT NOT NULL,
  PRIMARY KEY (account_id, form_id)
) WITHOUT ROWID;

-- Published versions. They never change, so that each response can be shown with the
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

-- Finds the owner of a form by its public address. This is a table rather than an index on
-- form: with an index by ID, PostgreSQL would read the forms of all accounts to list those
-- of one.
CREATE TABLE form_address (
  address    TEXT COLLATE BINARY NOT NULL PRIMARY KEY,
  account_id TEXT COLLATE BINARY NOT NULL,
  form_id    TEXT COLLATE BINARY NOT NULL
) WITHOUT ROWID;
CREATE INDEX form_address_by_form ON form_address (account_id, form_id);
INSERT INTO form_address (address, account_id, form_id) SELECT id, account_id, id FROM form;

ALTER TABLE form ADD COLUMN response_serial BIGINT NOT NULL DEFAULT 0;

-- The serial is assigned while the form's row is locked, so that within a form it increases
-- in commit order, and a reader that continues after the last serial misses nothing. The
-- table has the same order, so that reading many responses is sequential.
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

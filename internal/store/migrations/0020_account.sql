-- Tokens that people create for their own scripts.
CREATE TABLE personal_token (
  account_id TEXT COLLATE BINARY NOT NULL,
  id         TEXT COLLATE BINARY NOT NULL,
  hash       TEXT NOT NULL,
  name       TEXT NOT NULL,
  scope      TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  used_at    BIGINT NOT NULL DEFAULT 0,
  PRIMARY KEY (account_id, id)
) WITHOUT ROWID;
CREATE INDEX personal_token_by_expiry ON personal_token (expires_at);

-- The folder of a form in the list of its owner; empty: none. A folder exists while it has
-- forms.
ALTER TABLE form ADD COLUMN folder TEXT COLLATE BINARY NOT NULL DEFAULT '';
CREATE INDEX form_by_folder ON form (account_id, folder, id) WHERE folder <> '';

-- The design of the draft, as JSON, so that lists of forms need not read the draft; empty:
-- the draft was saved before.
ALTER TABLE form_draft ADD COLUMN design TEXT NOT NULL DEFAULT '';

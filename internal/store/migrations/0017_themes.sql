-- Designs that an account has saved under a name, to use them in its forms.
CREATE TABLE theme (
  account_id TEXT COLLATE BINARY NOT NULL,
  id         TEXT COLLATE BINARY NOT NULL,
  name       TEXT NOT NULL,
  -- JSON, as in the definition of a form
  design     TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  PRIMARY KEY (account_id, id)
) WITHOUT ROWID;

-- Browsers in which a person has signed in before. Each has an allowance of its own
-- for wrong passwords, so that a stranger's guesses do not lock the owner out.
CREATE TABLE device (
  account_id TEXT COLLATE BINARY NOT NULL,
  id         TEXT COLLATE BINARY NOT NULL,
  hash       TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  used_at    BIGINT NOT NULL,
  PRIMARY KEY (account_id, id)
) WITHOUT ROWID;

-- Wrong guesses at passwords and client secrets, so that limits survive a restart.
-- until_at is when the allowance of the key is whole again.
CREATE TABLE guess (
  limiter  TEXT COLLATE BINARY NOT NULL,
  key      TEXT COLLATE BINARY NOT NULL,
  until_at BIGINT NOT NULL,
  PRIMARY KEY (limiter, key)
) WITHOUT ROWID;

-- Access tokens of a grant take slots in turn; the one that held a slot before ends.
ALTER TABLE consent ADD COLUMN issued BIGINT NOT NULL DEFAULT 0;
ALTER TABLE access_token ADD COLUMN slot BIGINT NOT NULL DEFAULT 0;
-- Unique, so that SQLite prefers it to reading all tokens of the account. Tokens from before
-- have the slot 0.
CREATE UNIQUE INDEX access_token_by_slot ON access_token (consent_id, slot, account_id) WHERE slot > 0;

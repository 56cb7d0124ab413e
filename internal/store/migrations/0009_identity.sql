-- Browsers in which a user has signed in before. Each has its own limit for wrong
-- passwords, so that an attacker's guesses do not lock the user out.
CREATE TABLE device (
  account_id TEXT COLLATE BINARY NOT NULL,
  id         TEXT COLLATE BINARY NOT NULL,
  hash       TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  used_at    BIGINT NOT NULL,
  PRIMARY KEY (account_id, id)
) WITHOUT ROWID;

-- Wrong guesses at passwords and client secrets, so that limits survive a restart.
-- until_at is when the full number of guesses is allowed again.
CREATE TABLE guess (
  limiter  TEXT COLLATE BINARY NOT NULL,
  key      TEXT COLLATE BINARY NOT NULL,
  until_at BIGINT NOT NULL,
  PRIMARY KEY (limiter, key)
) WITHOUT ROWID;

-- The access tokens of a grant use a fixed number of slots in turn. A new token replaces
-- the one in its slot.
ALTER TABLE consent ADD COLUMN issued BIGINT NOT NULL DEFAULT 0;
ALTER TABLE access_token ADD COLUMN slot BIGINT NOT NULL DEFAULT 0;
-- Unique, so that SQLite prefers it to reading all tokens of the account. Tokens from
-- before this migration have slot 0.
CREATE UNIQUE INDEX access_token_by_slot ON access_token (consent_id, slot, account_id) WHERE slot > 0;

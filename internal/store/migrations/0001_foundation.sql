-- One text for both engines. It is SQLite's spelling; the PostgreSQL engine
-- drops WITHOUT ROWID and reads COLLATE BINARY as COLLATE "C".
-- Times are Unix milliseconds; 0 means "not yet" or "never".
-- Everything that an account owns has a key that starts with account_id.

CREATE TABLE account (
  id          TEXT COLLATE BINARY NOT NULL PRIMARY KEY,
  email       TEXT NOT NULL,
  email_key   TEXT COLLATE BINARY NOT NULL UNIQUE,
  name        TEXT NOT NULL,
  language    TEXT NOT NULL,
  role        TEXT NOT NULL,
  password    TEXT NOT NULL,
  created_at  BIGINT NOT NULL,
  disabled_at BIGINT NOT NULL DEFAULT 0,
  -- the newest form's number and id: both only grow, so they order the list
  form_serial  BIGINT NOT NULL DEFAULT 0,
  form_last_id TEXT NOT NULL DEFAULT ''
) WITHOUT ROWID;

CREATE TABLE session (
  account_id TEXT COLLATE BINARY NOT NULL,
  id         TEXT COLLATE BINARY NOT NULL,
  hash       TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  used_at    BIGINT NOT NULL,
  address    TEXT NOT NULL,
  agent      TEXT NOT NULL,
  PRIMARY KEY (account_id, id)
) WITHOUT ROWID;

-- One-time links: set-up (of no account yet) and a new password.
CREATE TABLE link (
  account_id TEXT COLLATE BINARY NOT NULL,
  id         TEXT COLLATE BINARY NOT NULL,
  kind       TEXT NOT NULL,
  hash       TEXT NOT NULL,
  expires_at BIGINT NOT NULL,
  used_at    BIGINT NOT NULL DEFAULT 0,
  PRIMARY KEY (account_id, id)
) WITHOUT ROWID;

CREATE TABLE app (
  account_id    TEXT COLLATE BINARY NOT NULL,
  id            TEXT COLLATE BINARY NOT NULL,
  name          TEXT NOT NULL,
  public        BOOLEAN NOT NULL,
  redirect_uris TEXT NOT NULL,
  scope         TEXT NOT NULL,
  send_issuer   BOOLEAN NOT NULL,
  created_at    BIGINT NOT NULL,
  disabled_at   BIGINT NOT NULL DEFAULT 0,
  PRIMARY KEY (account_id, id)
) WITHOUT ROWID;
CREATE UNIQUE INDEX app_by_id ON app (id);

CREATE TABLE app_secret (
  account_id TEXT COLLATE BINARY NOT NULL,
  app_id     TEXT COLLATE BINARY NOT NULL,
  id         TEXT COLLATE BINARY NOT NULL,
  hash       TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  PRIMARY KEY (account_id, app_id, id)
) WITHOUT ROWID;

-- What the person is looking at on the consent page: the post cannot change it.
CREATE TABLE ticket (
  account_id   TEXT COLLATE BINARY NOT NULL,
  id           TEXT COLLATE BINARY NOT NULL,
  hash         TEXT NOT NULL,
  app_id       TEXT COLLATE BINARY NOT NULL,
  redirect_uri TEXT NOT NULL,
  scope        TEXT NOT NULL,
  state        TEXT NOT NULL,
  challenge    TEXT NOT NULL,
  expires_at   BIGINT NOT NULL,
  used_at      BIGINT NOT NULL DEFAULT 0,
  PRIMARY KEY (account_id, id)
) WITHOUT ROWID;

-- One person's yes to one application. Codes and tokens hang on it and are dead
-- when it has ended.
CREATE TABLE consent (
  account_id  TEXT COLLATE BINARY NOT NULL,
  id          TEXT COLLATE BINARY NOT NULL,
  app_id      TEXT COLLATE BINARY NOT NULL,
  scope       TEXT NOT NULL,
  created_at  BIGINT NOT NULL,
  redeemed_at BIGINT NOT NULL DEFAULT 0,
  used_at     BIGINT NOT NULL,
  ended_at    BIGINT NOT NULL DEFAULT 0,
  PRIMARY KEY (account_id, id)
) WITHOUT ROWID;
CREATE INDEX consent_by_app ON consent (account_id, app_id);

CREATE TABLE code (
  account_id   TEXT COLLATE BINARY NOT NULL,
  id           TEXT COLLATE BINARY NOT NULL,
  hash         TEXT NOT NULL,
  consent_id   TEXT COLLATE BINARY NOT NULL,
  app_id       TEXT COLLATE BINARY NOT NULL,
  redirect_uri TEXT NOT NULL,
  challenge    TEXT NOT NULL,
  expires_at   BIGINT NOT NULL,
  used_at      BIGINT NOT NULL DEFAULT 0,
  PRIMARY KEY (account_id, id)
) WITHOUT ROWID;

CREATE TABLE access_token (
  account_id TEXT COLLATE BINARY NOT NULL,
  id         TEXT COLLATE BINARY NOT NULL,
  hash       TEXT NOT NULL,
  consent_id TEXT COLLATE BINARY NOT NULL,
  app_id     TEXT COLLATE BINARY NOT NULL,
  scope      TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  PRIMARY KEY (account_id, id)
) WITHOUT ROWID;
CREATE INDEX access_token_by_expiry ON access_token (expires_at);

CREATE TABLE refresh_token (
  account_id TEXT COLLATE BINARY NOT NULL,
  id         TEXT COLLATE BINARY NOT NULL,
  hash       TEXT NOT NULL,
  consent_id TEXT COLLATE BINARY NOT NULL,
  app_id     TEXT COLLATE BINARY NOT NULL,
  created_at BIGINT NOT NULL,
  used_at    BIGINT NOT NULL,
  rotated_at BIGINT NOT NULL DEFAULT 0,
  PRIMARY KEY (account_id, id)
) WITHOUT ROWID;

CREATE TABLE form (
  account_id     TEXT COLLATE BINARY NOT NULL,
  id             TEXT COLLATE BINARY NOT NULL,
  serial         BIGINT NOT NULL,
  title          TEXT NOT NULL,
  description    TEXT NOT NULL,
  language       TEXT NOT NULL,
  status         TEXT NOT NULL,
  version        BIGINT NOT NULL DEFAULT 0,
  revision       BIGINT NOT NULL DEFAULT 1,
  response_count BIGINT NOT NULL DEFAULT 0,
  created_at     BIGINT NOT NULL,
  updated_at     BIGINT NOT NULL,
  title_key      TEXT COLLATE BINARY NOT NULL,
  search_key     TEXT NOT NULL,
  PRIMARY KEY (account_id, id)
) WITHOUT ROWID;
CREATE UNIQUE INDEX form_by_serial ON form (account_id, serial, id);
CREATE INDEX form_by_update ON form (account_id, updated_at, id);
CREATE INDEX form_by_title ON form (account_id, title_key, id);

-- How many forms there are, by what they can be filtered by: totals are sums of
-- a few rows, never a scan.
CREATE TABLE form_count (
  account_id TEXT COLLATE BINARY NOT NULL,
  status     TEXT NOT NULL,
  language   TEXT NOT NULL,
  n          BIGINT NOT NULL,
  PRIMARY KEY (account_id, status, language)
) WITHOUT ROWID;

-- How many serials of a list have no member, in each block of 128, 128² and
-- 128³: a page far down the list is found with a few rows (see rank.go).
CREATE TABLE list_block (
  account_id TEXT COLLATE BINARY NOT NULL,
  list       TEXT COLLATE BINARY NOT NULL,
  level      BIGINT NOT NULL,
  block      BIGINT NOT NULL,
  missing    BIGINT NOT NULL,
  PRIMARY KEY (account_id, list, level, block)
) WITHOUT ROWID;

CREATE TABLE idempotency (
  account_id  TEXT COLLATE BINARY NOT NULL,
  app_id      TEXT COLLATE BINARY NOT NULL,
  key         TEXT COLLATE BINARY NOT NULL,
  hash        TEXT NOT NULL,
  resource_id TEXT NOT NULL,
  created_at  BIGINT NOT NULL,
  PRIMARY KEY (account_id, app_id, key)
) WITHOUT ROWID;
CREATE INDEX idempotency_by_age ON idempotency (created_at);

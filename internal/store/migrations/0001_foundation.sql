-- One SQL text for both engines, in SQLite's dialect: the PostgreSQL engine removes
-- WITHOUT ROWID and replaces COLLATE BINARY with COLLATE "C".
-- Times are Unix milliseconds; 0 means "not yet" or "never".
-- The primary key of everything that an account owns starts with account_id.

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
  -- serial and ID of the newest form; both only increase, so that lists can be ordered by them
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

-- One-time links for setting up the service (no account yet) and for password resets.
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

-- The authorization request that a consent page shows. The submitted page cannot change it.
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

-- A grant: one user has allowed one application access. Codes and tokens belong to a
-- grant and are invalid once it has ended.
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

-- The number of forms by status and language, so that totals need no scan.
CREATE TABLE form_count (
  account_id TEXT COLLATE BINARY NOT NULL,
  status     TEXT NOT NULL,
  language   TEXT NOT NULL,
  n          BIGINT NOT NULL,
  PRIMARY KEY (account_id, status, language)
) WITHOUT ROWID;

-- The number of unused serials of a list in each block of 128, 128² and 128³. Finding a
-- page at any depth reads only a few rows (see rank.go).
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

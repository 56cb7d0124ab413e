-- Time zone, recently deleted data, and the request log of applications.

-- The time zone in which times are shown; empty: UTC.
ALTER TABLE account ADD COLUMN time_zone TEXT NOT NULL DEFAULT '';

-- Recently deleted forms and responses, as JSON, so that they can be restored.
CREATE TABLE trash (
  account_id TEXT COLLATE BINARY NOT NULL,
  id         TEXT COLLATE BINARY NOT NULL,
  form_id    TEXT COLLATE BINARY NOT NULL,
  content    TEXT NOT NULL,
  deleted_at BIGINT NOT NULL,
  PRIMARY KEY (account_id, id)
) WITHOUT ROWID;
CREATE INDEX trash_by_age ON trash (deleted_at);

-- The latest API requests of each application, shown to its developer.
CREATE TABLE app_call (
  account_id TEXT COLLATE BINARY NOT NULL,
  app_id     TEXT COLLATE BINARY NOT NULL,
  id         TEXT COLLATE BINARY NOT NULL,
  method     TEXT NOT NULL,
  path       TEXT NOT NULL,
  status     BIGINT NOT NULL,
  took       BIGINT NOT NULL,
  request_id TEXT NOT NULL,
  called_at  BIGINT NOT NULL,
  PRIMARY KEY (account_id, app_id, id)
) WITHOUT ROWID;

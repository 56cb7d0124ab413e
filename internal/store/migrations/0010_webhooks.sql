-- Webhooks, and the events that they deliver.
-- A position is what follows the prefix in an ID. Responses and events of a form draw their
-- positions from the same counter, form.response_tick, so positions sort in commit order.

-- The position at which a response was restored; empty: it never was. The feed returns it
-- there, because readers may have passed its ID before it was restored.
ALTER TABLE response ADD COLUMN restored TEXT COLLATE BINARY NOT NULL DEFAULT '';
CREATE INDEX response_by_restoration ON response (account_id, form_id, restored) WHERE restored <> '';

-- What happened to a form that has webhooks. A new response has no row here: its own ID is
-- the position of its event.
CREATE TABLE form_event (
  account_id  TEXT COLLATE BINARY NOT NULL,
  form_id     TEXT COLLATE BINARY NOT NULL,
  position    TEXT COLLATE BINARY NOT NULL,
  kind        TEXT NOT NULL,
  response_id TEXT NOT NULL,
  version     BIGINT NOT NULL,
  PRIMARY KEY (account_id, form_id, position)
) WITHOUT ROWID;
CREATE INDEX form_event_by_age ON form_event (position);

CREATE TABLE webhook (
  account_id       TEXT COLLATE BINARY NOT NULL,
  form_id          TEXT COLLATE BINARY NOT NULL,
  id               TEXT COLLATE BINARY NOT NULL,
  url              TEXT NOT NULL,
  events           TEXT NOT NULL,
  strict_order     BOOLEAN NOT NULL,
  status           TEXT NOT NULL,
  disabled_reason  TEXT NOT NULL DEFAULT '',
  -- the application and the grant that created it; empty: the owner did
  app_id           TEXT COLLATE BINARY NOT NULL,
  grant_id         TEXT COLLATE BINARY NOT NULL,
  -- encrypted; the old one signs too until the time given
  secret           TEXT NOT NULL,
  old_secret       TEXT NOT NULL DEFAULT '',
  old_secret_until BIGINT NOT NULL DEFAULT 0,
  created_at       BIGINT NOT NULL,
  updated_at       BIGINT NOT NULL,
  -- Every event up to here is delivered or has a row in delivery.
  position         TEXT COLLATE BINARY NOT NULL,
  -- a second range, which is delivered again; until is empty: there is none. replays counts
  -- how often one was asked for.
  replay_position  TEXT COLLATE BINARY NOT NULL DEFAULT '',
  replay_until     TEXT COLLATE BINARY NOT NULL DEFAULT '',
  replays          BIGINT NOT NULL DEFAULT 0,
  -- when the first attempt failed after the last success; 0: the last attempt succeeded
  failing_since    BIGINT NOT NULL DEFAULT 0,
  PRIMARY KEY (account_id, form_id, id)
) WITHOUT ROWID;
CREATE INDEX webhook_active ON webhook (account_id) WHERE status = 'active';

-- Deliveries that are to be tried again, and the latest ones that have ended.
CREATE TABLE delivery (
  account_id      TEXT COLLATE BINARY NOT NULL,
  form_id         TEXT COLLATE BINARY NOT NULL,
  webhook_id      TEXT COLLATE BINARY NOT NULL,
  position        TEXT COLLATE BINARY NOT NULL,
  kind            TEXT NOT NULL,
  response_id     TEXT NOT NULL,
  version         BIGINT NOT NULL,
  status          TEXT NOT NULL,
  attempt         BIGINT NOT NULL,
  response_status BIGINT NOT NULL,
  error           TEXT NOT NULL,
  answer          TEXT NOT NULL,
  first_at        BIGINT NOT NULL,
  at              BIGINT NOT NULL,
  next_at         BIGINT NOT NULL,
  PRIMARY KEY (account_id, form_id, webhook_id, position)
) WITHOUT ROWID;
CREATE INDEX delivery_pending ON delivery (account_id, form_id, webhook_id, next_at) WHERE status = 'pending';

-- Which node delivers for which accounts, by hash of the account's ID, and which nodes there
-- are. Neither is worth a backup.
CREATE TABLE delivery_lease (
  slot       BIGINT NOT NULL PRIMARY KEY,
  node       TEXT NOT NULL,
  expires_at BIGINT NOT NULL
) WITHOUT ROWID;
CREATE TABLE delivery_node (
  node       TEXT COLLATE BINARY NOT NULL PRIMARY KEY,
  expires_at BIGINT NOT NULL
) WITHOUT ROWID;

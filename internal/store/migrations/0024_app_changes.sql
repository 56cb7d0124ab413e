-- Applications that were disabled, enabled or deleted, until the logs of all spaces that they have
-- access to say so. The name is kept for when the application is gone.
CREATE TABLE app_change (
  id          TEXT COLLATE BINARY NOT NULL,
  name        TEXT NOT NULL,
  actor       TEXT NOT NULL,
  person_id   TEXT COLLATE BINARY NOT NULL,
  person_name TEXT NOT NULL,
  changed_at  BIGINT NOT NULL,
  PRIMARY KEY (id)
) WITHOUT ROWID;

-- The application of the grant is disabled, and the log of the grant's space says so.
ALTER TABLE consent ADD COLUMN suspended BOOLEAN NOT NULL DEFAULT FALSE;
UPDATE consent SET suspended = TRUE WHERE app_id IN (SELECT id FROM app WHERE disabled_at > 0);

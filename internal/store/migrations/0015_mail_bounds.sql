-- When the owner was told that the storage is nearly full; 0: it is not, or the owner was not told.
ALTER TABLE account ADD COLUMN storage_warned_at BIGINT NOT NULL DEFAULT 0;

-- The status is in the index too, so that counting what waits reads nothing else.
DROP INDEX mail_waiting;
CREATE INDEX mail_waiting ON mail (account_id, priority, next_at, status) WHERE status = 'waiting';

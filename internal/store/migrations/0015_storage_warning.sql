-- When the owner was told that the storage is nearly full; 0: it is not, or the owner was not told.
ALTER TABLE account ADD COLUMN storage_warned_at BIGINT NOT NULL DEFAULT 0;

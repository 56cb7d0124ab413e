-- Mails to people.

-- The address that a link confirms, or that a link to a new password was sent to; empty: an
-- administrator has handed the link over.
ALTER TABLE link ADD COLUMN email TEXT NOT NULL DEFAULT '';

-- How full the storage of an account was when its user was last told, in percent, and when that
-- was.
ALTER TABLE account ADD COLUMN storage_warned BIGINT NOT NULL DEFAULT 0;
ALTER TABLE account ADD COLUMN storage_warned_at BIGINT NOT NULL DEFAULT 0;
CREATE INDEX account_storage_warned ON account (id) WHERE storage_warned > 0;

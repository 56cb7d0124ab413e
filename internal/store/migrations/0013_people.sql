-- Mails to people.

-- The address that a link confirms, or that a link to a new password was sent to; empty: an
-- administrator has handed the link over.
ALTER TABLE link ADD COLUMN email TEXT NOT NULL DEFAULT '';

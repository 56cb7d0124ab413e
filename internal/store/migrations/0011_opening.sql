-- When a published form opens by itself; 0: it has opened, or it is not to open. Until then
-- its events do not say that it is open. Forms that have opened long ago are settled by the
-- first search for forms that are due.
ALTER TABLE form ADD COLUMN opening_due BIGINT NOT NULL DEFAULT 0;
UPDATE form SET opening_due = opens_at WHERE status = 'open' AND opens_at > 0;
CREATE INDEX form_by_opening ON form (opening_due, account_id, id) WHERE opening_due > 0;

-- Open forms that have a closing date.
DROP INDEX form_by_closing;
CREATE INDEX form_by_closing ON form (closes_at, account_id, id) WHERE closes_at > 0 AND status = 'open';

-- What accounts may store, and addresses that are held back.

-- Bytes of a form's draft, versions and responses. An account's total is the sum over its
-- forms and its recently deleted data.
ALTER TABLE form ADD COLUMN stored_bytes BIGINT NOT NULL DEFAULT 0;
ALTER TABLE trash ADD COLUMN bytes BIGINT NOT NULL DEFAULT 0;
-- Reading all responses would block the nodes for long, so existing responses count as
-- 300 bytes each.
UPDATE form SET stored_bytes = response_count * 300;
UPDATE form SET stored_bytes = stored_bytes + used.bytes FROM
  (SELECT account_id, form_id, SUM(LENGTH(definition)) AS bytes FROM form_version GROUP BY account_id, form_id) AS used
  WHERE used.account_id = form.account_id AND used.form_id = form.id;
UPDATE form SET stored_bytes = stored_bytes + used.bytes FROM
  (SELECT account_id, form_id, LENGTH(definition) AS bytes FROM form_draft) AS used
  WHERE used.account_id = form.account_id AND used.form_id = form.id;

CREATE INDEX trash_by_size ON trash (account_id, bytes);

-- When a custom link was given up; 0: it is in use. For 30 days after that, only its last
-- owner can use it again.
ALTER TABLE form_address ADD COLUMN released_at BIGINT NOT NULL DEFAULT 0;

-- Open forms of one account whose closing date has passed.
CREATE INDEX form_by_account_closing ON form (account_id, closes_at) WHERE closes_at > 0 AND status = 'open';

-- Deleted accounts whose data is still being removed.
CREATE TABLE account_purge (
  account_id TEXT COLLATE BINARY NOT NULL PRIMARY KEY,
  deleted_at BIGINT NOT NULL
) WITHOUT ROWID;

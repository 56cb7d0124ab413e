-- Responses are stored in the order of their IDs, which increase with their serials. One
-- index finds a response, a period of time, a page, and everything after a response.

-- The time of the last response, in 1/4096 milliseconds. The next response always gets a
-- later one, even if the clock of its node is behind, so that its ID is greater.
ALTER TABLE form ADD COLUMN response_tick BIGINT NOT NULL DEFAULT 0;

CREATE TABLE response_in_order (
  account_id   TEXT COLLATE BINARY NOT NULL,
  form_id      TEXT COLLATE BINARY NOT NULL,
  id           TEXT COLLATE BINARY NOT NULL,
  serial       BIGINT NOT NULL,
  version      BIGINT NOT NULL,
  submitted_at BIGINT NOT NULL,
  answers      JSONB NOT NULL,
  metadata     TEXT NOT NULL,
  PRIMARY KEY (account_id, form_id, id)
) WITHOUT ROWID;
INSERT INTO response_in_order (account_id, form_id, id, serial, version, submitted_at, answers, metadata)
  SELECT account_id, form_id, id, serial, version, submitted_at, answers, metadata FROM response ORDER BY account_id, form_id, id;
DROP TABLE response;
ALTER TABLE response_in_order RENAME TO response;

-- Where clocks differed or were set back, IDs and serials are not in the same order. Those
-- forms get their serials assigned again and their summaries calculated again.
CREATE TABLE mixed_up AS SELECT DISTINCT account_id, form_id FROM
  (SELECT account_id, form_id, serial, LAG(serial) OVER (PARTITION BY account_id, form_id ORDER BY id) AS before FROM response) AS r
  WHERE serial < before;
-- The nth ID gets the nth serial. Both lists are tables with a primary key, so that each
-- lookup is fast.
CREATE TABLE nth_serial (
  account_id TEXT COLLATE BINARY NOT NULL, form_id TEXT COLLATE BINARY NOT NULL, n BIGINT NOT NULL, serial BIGINT NOT NULL,
  PRIMARY KEY (account_id, form_id, n)
) WITHOUT ROWID;
INSERT INTO nth_serial SELECT account_id, form_id, ROW_NUMBER() OVER (PARTITION BY account_id, form_id ORDER BY serial), serial
  FROM response WHERE (account_id, form_id) IN (SELECT account_id, form_id FROM mixed_up);
CREATE TABLE nth_id (
  account_id TEXT COLLATE BINARY NOT NULL, form_id TEXT COLLATE BINARY NOT NULL, id TEXT COLLATE BINARY NOT NULL, n BIGINT NOT NULL,
  PRIMARY KEY (account_id, form_id, id)
) WITHOUT ROWID;
INSERT INTO nth_id SELECT account_id, form_id, id, ROW_NUMBER() OVER (PARTITION BY account_id, form_id ORDER BY id)
  FROM response WHERE (account_id, form_id) IN (SELECT account_id, form_id FROM mixed_up);
UPDATE response SET serial = (SELECT s.serial FROM nth_serial AS s WHERE s.account_id = response.account_id AND s.form_id = response.form_id
    AND s.n = (SELECT i.n FROM nth_id AS i WHERE i.account_id = response.account_id AND i.form_id = response.form_id AND i.id = response.id))
  WHERE (account_id, form_id) IN (SELECT account_id, form_id FROM mixed_up);
DROP TABLE nth_serial;
DROP TABLE nth_id;
DELETE FROM form_summary WHERE (account_id, form_id) IN (SELECT account_id, form_id FROM mixed_up);
-- Recently deleted responses have the old serials.
DELETE FROM trash WHERE id <> form_id AND (account_id, form_id) IN (SELECT account_id, form_id FROM mixed_up);
DROP TABLE mixed_up;

-- Every 64th response can also be found by its serial.
CREATE INDEX response_by_serial ON response (account_id, form_id, serial) WHERE serial % 64 = 0;

UPDATE form SET response_tick = COALESCE((SELECT (MAX(submitted_at) + 1) * 4096 FROM response
  WHERE response.account_id = form.account_id AND response.form_id = form.id), 0);

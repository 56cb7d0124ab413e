-- How far respondents get in a form, as sums per day. There is nothing about a single visit.
CREATE TABLE form_visit (
  account_id TEXT COLLATE BINARY NOT NULL,
  form_id    TEXT COLLATE BINARY NOT NULL,
  -- days since 1970-01-01, in UTC
  day        BIGINT NOT NULL,
  version    BIGINT NOT NULL,
  -- opened, reached, passed, finished or time
  kind       TEXT COLLATE BINARY NOT NULL,
  -- ID of the screen; of a time, the number of its bucket
  part       TEXT COLLATE BINARY NOT NULL,
  n          BIGINT NOT NULL,
  PRIMARY KEY (account_id, form_id, day, version, kind, part)
) WITHOUT ROWID;

-- Files that respondents upload, and pictures of owners. The bytes are in a folder or in S3,
-- under the key in the column object.

CREATE TABLE file (
  account_id  TEXT COLLATE BINARY NOT NULL,
  form_id     TEXT COLLATE BINARY NOT NULL,
  id          TEXT COLLATE BINARY NOT NULL,
  -- ID of the question, which stays when its key changes
  field_id    TEXT COLLATE BINARY NOT NULL,
  -- empty until a response claims the file
  response_id TEXT COLLATE BINARY NOT NULL DEFAULT '',
  name        TEXT NOT NULL,
  size        BIGINT NOT NULL,
  type        TEXT NOT NULL,
  sha256      TEXT NOT NULL,
  object      TEXT COLLATE BINARY NOT NULL,
  -- object of a small picture of it; empty: none was needed yet
  thumbnail   TEXT COLLATE BINARY NOT NULL DEFAULT '',
  -- tells the unclaimed uploads of one client from those of others; empty once claimed
  client      TEXT COLLATE BINARY NOT NULL,
  created_at  BIGINT NOT NULL,
  -- when an unclaimed file is deleted; 0 once claimed
  expires_at  BIGINT NOT NULL,
  -- not_scanned, clean or infected; scan_at is when the next scan may start
  scan        TEXT NOT NULL DEFAULT 'not_scanned',
  scan_at     BIGINT NOT NULL DEFAULT 0,
  signature   TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (account_id, form_id, id)
) WITHOUT ROWID;
CREATE INDEX file_of_response ON file (account_id, form_id, response_id) WHERE response_id <> '';
CREATE INDEX file_unclaimed ON file (account_id, form_id, client, size) WHERE response_id = '';
CREATE INDEX file_expiring ON file (expires_at) WHERE response_id = '';
CREATE INDEX file_unscanned ON file (scan_at) WHERE scan = 'not_scanned';
CREATE INDEX file_object ON file (object);
CREATE INDEX file_thumbnail ON file (thumbnail) WHERE thumbnail <> '';

-- Objects to delete. They are noted in the transaction that deletes the rows of the files, so
-- that a crash neither keeps an object for ever nor deletes one that is still in use.
CREATE TABLE file_garbage (
  account_id TEXT COLLATE BINARY NOT NULL,
  object     TEXT COLLATE BINARY NOT NULL,
  created_at BIGINT NOT NULL,
  PRIMARY KEY (account_id, object)
) WITHOUT ROWID;
CREATE INDEX file_garbage_by_object ON file_garbage (object);

-- Pictures of owners, which anyone may see who knows the ID.
CREATE TABLE picture (
  id         TEXT COLLATE BINARY NOT NULL PRIMARY KEY,
  account_id TEXT COLLATE BINARY NOT NULL,
  name       TEXT NOT NULL,
  size       BIGINT NOT NULL,
  type       TEXT NOT NULL,
  object     TEXT COLLATE BINARY NOT NULL,
  width      BIGINT NOT NULL,
  height     BIGINT NOT NULL,
  created_at BIGINT NOT NULL
) WITHOUT ROWID;
CREATE INDEX picture_of_account ON picture (account_id, size);
CREATE INDEX picture_by_object ON picture (object);

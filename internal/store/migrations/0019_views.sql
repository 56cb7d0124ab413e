-- Filters of a form's responses that are saved under a name, with what the list shows.
CREATE TABLE response_view (
  account_id TEXT COLLATE BINARY NOT NULL,
  form_id    TEXT COLLATE BINARY NOT NULL,
  id         TEXT COLLATE BINARY NOT NULL,
  name       TEXT NOT NULL,
  -- JSON: filter, order and columns
  content    TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  PRIMARY KEY (account_id, form_id, id)
) WITHOUT ROWID;

-- How a user last arranged the list of a form's responses.
CREATE TABLE response_layout (
  account_id TEXT COLLATE BINARY NOT NULL,
  form_id    TEXT COLLATE BINARY NOT NULL,
  user_id    TEXT COLLATE BINARY NOT NULL,
  -- JSON: list or table, and the keys of the columns in their order
  content    TEXT NOT NULL,
  PRIMARY KEY (account_id, form_id, user_id)
) WITHOUT ROWID;

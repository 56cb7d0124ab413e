-- Shared spaces. What an account owns is its space: that of a person, or one of several people,
-- which is an account with the role 'space', without an email address or a password.

-- The members of a space, for its list of members and its rule about the last owner.
CREATE TABLE space_member (
  account_id TEXT COLLATE BINARY NOT NULL,
  person_id  TEXT COLLATE BINARY NOT NULL,
  role       TEXT NOT NULL,
  added_at   BIGINT NOT NULL,
  PRIMARY KEY (account_id, person_id)
) WITHOUT ROWID;

-- The same, stored with the person, for authorizing requests. Both tables are written in one
-- transaction. The role 'guest' is that of somebody who has forms of the space, but is no member.
CREATE TABLE membership (
  account_id TEXT COLLATE BINARY NOT NULL,
  space_id   TEXT COLLATE BINARY NOT NULL,
  role       TEXT NOT NULL,
  PRIMARY KEY (account_id, space_id)
) WITHOUT ROWID;

-- A form that is shared with one person, stored with the space and with the person.
CREATE TABLE form_share (
  account_id TEXT COLLATE BINARY NOT NULL,
  form_id    TEXT COLLATE BINARY NOT NULL,
  person_id  TEXT COLLATE BINARY NOT NULL,
  role       TEXT NOT NULL,
  added_at   BIGINT NOT NULL,
  PRIMARY KEY (account_id, form_id, person_id)
) WITHOUT ROWID;
CREATE INDEX form_share_by_person ON form_share (account_id, person_id);

CREATE TABLE membership_form (
  account_id TEXT COLLATE BINARY NOT NULL,
  space_id   TEXT COLLATE BINARY NOT NULL,
  form_id    TEXT COLLATE BINARY NOT NULL,
  role       TEXT NOT NULL,
  PRIMARY KEY (account_id, space_id, form_id)
) WITHOUT ROWID;

-- An invitation to a space or, with a form, to that form. It is deleted when it is accepted or
-- withdrawn.
CREATE TABLE invitation (
  account_id TEXT COLLATE BINARY NOT NULL,
  id         TEXT COLLATE BINARY NOT NULL,
  hash       TEXT NOT NULL,
  email      TEXT NOT NULL,
  email_key  TEXT COLLATE BINARY NOT NULL,
  role       TEXT NOT NULL,
  form_id    TEXT COLLATE BINARY NOT NULL DEFAULT '',
  invited_by TEXT COLLATE BINARY NOT NULL,
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  PRIMARY KEY (account_id, id)
) WITHOUT ROWID;
CREATE INDEX invitation_by_expiry ON invitation (expires_at);

-- What a grant is limited to: a space (empty: the person's own), the forms in consent_form, a time
-- (0: none). A grant of a shared space, of some forms, or with an end has ended_at = -1: nodes of
-- earlier versions, which know no such limits, take it as ended.
ALTER TABLE consent ADD COLUMN space_id TEXT COLLATE BINARY NOT NULL DEFAULT '';
ALTER TABLE consent ADD COLUMN some_forms BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE consent ADD COLUMN expires_at BIGINT NOT NULL DEFAULT 0;
CREATE INDEX consent_by_end ON consent (expires_at) WHERE expires_at > 0;

CREATE TABLE consent_form (
  account_id TEXT COLLATE BINARY NOT NULL,
  consent_id TEXT COLLATE BINARY NOT NULL,
  form_id    TEXT COLLATE BINARY NOT NULL,
  PRIMARY KEY (account_id, consent_id, form_id)
) WITHOUT ROWID;

-- Who created a webhook of a shared space through a grant; their grant is stored with them.
ALTER TABLE webhook ADD COLUMN person_id TEXT COLLATE BINARY NOT NULL DEFAULT '';

-- What was done in a space, by whom and from where. The actor is person, application,
-- command_line or service.
CREATE TABLE audit (
  account_id  TEXT COLLATE BINARY NOT NULL,
  id          TEXT COLLATE BINARY NOT NULL,
  actor       TEXT NOT NULL,
  person_id   TEXT COLLATE BINARY NOT NULL,
  person_name TEXT NOT NULL,
  app_id      TEXT COLLATE BINARY NOT NULL,
  app_name    TEXT NOT NULL,
  address     TEXT NOT NULL,
  action      TEXT COLLATE BINARY NOT NULL,
  object_id   TEXT COLLATE BINARY NOT NULL,
  object_name TEXT NOT NULL,
  details     TEXT NOT NULL,
  PRIMARY KEY (account_id, id)
) WITHOUT ROWID;
-- IDs sort by time, for the cleanup.
CREATE INDEX audit_by_time ON audit (id);

-- Who has a form open in the builder, and since when nothing was heard of them.
CREATE TABLE form_editor (
  account_id TEXT COLLATE BINARY NOT NULL,
  form_id    TEXT COLLATE BINARY NOT NULL,
  person_id  TEXT COLLATE BINARY NOT NULL,
  seen_at    BIGINT NOT NULL,
  PRIMARY KEY (account_id, form_id, person_id)
) WITHOUT ROWID;
CREATE INDEX form_editor_by_time ON form_editor (seen_at);

-- A form that is being moved to another space, stored with the space that it leaves.
CREATE TABLE form_move (
  account_id TEXT COLLATE BINARY NOT NULL,
  form_id    TEXT COLLATE BINARY NOT NULL,
  to_id      TEXT COLLATE BINARY NOT NULL,
  started_at BIGINT NOT NULL,
  state      TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (account_id, form_id)
) WITHOUT ROWID;

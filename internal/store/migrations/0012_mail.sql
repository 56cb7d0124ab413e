-- Mails, and what forms send by mail.

-- When a user has proved to receive mail at the address, or an administrator has vouched for
-- it; 0: never.
ALTER TABLE account ADD COLUMN email_verified_at BIGINT NOT NULL DEFAULT 0;
UPDATE account SET email_verified_at = created_at WHERE role = 'operator';

-- The address of a deleted user, which is removed from the notifications of other accounts.
ALTER TABLE account_purge ADD COLUMN email_key TEXT NOT NULL DEFAULT '';

-- The queue, and the latest mails that have ended. Mails about a response have no answers in
-- them: they are written when they are sent.
CREATE TABLE mail (
  account_id    TEXT COLLATE BINARY NOT NULL,
  id            TEXT COLLATE BINARY NOT NULL,
  kind          TEXT NOT NULL,
  -- the form and the response that it is about; empty: none
  form_id       TEXT COLLATE BINARY NOT NULL,
  response_id   TEXT COLLATE BINARY NOT NULL,
  recipient     TEXT NOT NULL,
  recipient_key TEXT COLLATE BINARY NOT NULL,
  language      TEXT NOT NULL,
  -- what is needed to write it, as JSON; encrypted if it has a secret, and empty once sent
  data          TEXT NOT NULL,
  -- 0: the recipient waits for it; 1: it can wait for those
  priority      BIGINT NOT NULL,
  -- waiting, sent, failed, kept (there is no SMTP server), dropped (nothing to say any more)
  status        TEXT NOT NULL,
  attempts      BIGINT NOT NULL DEFAULT 0,
  next_at       BIGINT NOT NULL,
  error         TEXT NOT NULL DEFAULT '',
  created_at    BIGINT NOT NULL,
  ended_at      BIGINT NOT NULL DEFAULT 0,
  PRIMARY KEY (account_id, id)
) WITHOUT ROWID;
CREATE INDEX mail_waiting ON mail (account_id, priority, next_at) WHERE status = 'waiting';
CREATE INDEX mail_ended ON mail (ended_at) WHERE status <> 'waiting';
CREATE INDEX mail_kept ON mail (ended_at) WHERE status = 'kept';
CREATE INDEX mail_with_error ON mail (account_id, form_id, id) WHERE error <> '';
CREATE INDEX mail_by_recipient ON mail (account_id, recipient_key, kind, created_at);

-- Addresses that a server has refused for good. An account sends no mails of forms to them.
CREATE TABLE mail_suppression (
  account_id    TEXT COLLATE BINARY NOT NULL,
  recipient_key TEXT COLLATE BINARY NOT NULL,
  reason        TEXT NOT NULL,
  created_at    BIGINT NOT NULL,
  PRIMARY KEY (account_id, recipient_key)
) WITHOUT ROWID;

-- What a form sends by mail: notifications to its owner and receipts to respondents.
CREATE TABLE form_mail (
  account_id       TEXT COLLATE BINARY NOT NULL,
  form_id          TEXT COLLATE BINARY NOT NULL,
  -- each, hourly, daily or off
  frequency        TEXT NOT NULL DEFAULT 'off',
  receipt_active   BOOLEAN NOT NULL DEFAULT FALSE,
  receipt_field    TEXT NOT NULL DEFAULT '',
  receipt_subject  TEXT NOT NULL DEFAULT '',
  receipt_text     TEXT NOT NULL DEFAULT '',
  receipt_answers  BOOLEAN NOT NULL DEFAULT FALSE,
  -- Mails about every response up to here are in the queue.
  position         TEXT COLLATE BINARY NOT NULL,
  -- The last digest was about the responses up to here.
  digest_position  TEXT COLLATE BINARY NOT NULL,
  updated_at       BIGINT NOT NULL,
  PRIMARY KEY (account_id, form_id)
) WITHOUT ROWID;
CREATE INDEX form_mail_active ON form_mail (account_id) WHERE frequency <> 'off' OR receipt_active;

-- Who is notified of a form's responses.
CREATE TABLE form_recipient (
  account_id      TEXT COLLATE BINARY NOT NULL,
  form_id         TEXT COLLATE BINARY NOT NULL,
  email_key       TEXT COLLATE BINARY NOT NULL,
  email           TEXT NOT NULL,
  -- in links with which the recipient confirms or unsubscribes
  token           TEXT NOT NULL,
  created_at      BIGINT NOT NULL,
  -- when the recipient confirmed; 0: not yet. The address of the owner needs no confirmation.
  confirmed_at    BIGINT NOT NULL DEFAULT 0,
  unsubscribed_at BIGINT NOT NULL DEFAULT 0,
  PRIMARY KEY (account_id, form_id, email_key)
) WITHOUT ROWID;
CREATE INDEX form_recipient_by_email ON form_recipient (email_key);

package store

import (
	"context"
	"slices"
	"time"

	"formulary/internal/account"
	"formulary/internal/db"
	"formulary/internal/id"
)

// MailStatus says what became of a mail.
type MailStatus string

// The states of a mail.
const (
	MailWaiting MailStatus = "waiting"
	MailSent    MailStatus = "sent"
	MailFailed  MailStatus = "failed"
	MailKept    MailStatus = "kept"    // there is no server to send it with
	MailDropped MailStatus = "dropped" // there is nothing to say any more
)

// Mail is a mail in the queue of an account. It is written when it is sent.
type Mail struct {
	Account    string
	ID         string
	Kind       string
	FormID     string // that it is about; empty: none
	ResponseID string // that it is about; empty: none
	Recipient  string // address
	Language   string
	Data       string // what is needed to write it; empty after the end if it had a secret
	Urgent     bool   // the recipient waits for it
	Status     MailStatus
	Attempts   int64
	NextAt     time.Time
	Error      string // of the last attempt
	CreatedAt  time.Time
	EndedAt    time.Time
	Suppressed bool // set by DueMails: a server has refused the address for good
}

const mailColumns = `account_id, id, kind, form_id, response_id, recipient, language, data, priority, status, attempts, next_at, error, created_at, ended_at`

const (
	insertMailSQL = `INSERT INTO mail (account_id, id, kind, form_id, response_id, recipient, recipient_key, language, data, priority, status, next_at, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 'waiting', $11, $12)`
	dueMailsSQL = `SELECT ` + mailColumns + `,
		EXISTS (SELECT 1 FROM mail_suppression s WHERE s.account_id = mail.account_id AND s.recipient_key = mail.recipient_key) FROM mail
		WHERE account_id = $1 AND status = 'waiting' AND next_at <= $2 ORDER BY priority, next_at LIMIT $3`
	// The priority is there for SQLite: without it, it would read mails that have ended too.
	nextMailSQL = `SELECT COALESCE(MIN(next_at), 0), COUNT(*) FROM mail WHERE account_id = $1 AND status = 'waiting' AND priority >= 0`
	hasManySQL  = `SELECT 1 FROM mail WHERE account_id = $1 AND status = 'waiting' AND priority >= 0 LIMIT 1 OFFSET 10000`
	mailSQL     = `SELECT ` + mailColumns + ` FROM mail WHERE account_id = $1 AND id = $2`
	endMailSQL  = `UPDATE mail SET status = $3, attempts = $4, next_at = $5, error = $6, ended_at = $7, data = CASE WHEN $8 THEN '' ELSE data END
		WHERE account_id = $1 AND id = $2 AND status = 'waiting'`
	// sentMailsSQL ends up to sentBatch mails at a time; empty IDs fill it up.
	sentMailsSQL = `UPDATE mail SET status = 'sent', attempts = attempts + 1, error = '', ended_at = $2, data = ''
		WHERE account_id = $1 AND status = 'waiting' AND id IN ($3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)`
	// mailAccountsSQL reads all accounts; see webhookAccountsSQL.
	mailAccountsSQL = `SELECT DISTINCT account_id FROM mail WHERE status = 'waiting'`
	// keptMailsSQL is for administrators, who see the mails of all accounts.
	keptMailsSQL = `SELECT ` + mailColumns + ` FROM mail WHERE status = 'kept' ORDER BY ended_at DESC, id DESC LIMIT $1 OFFSET $2`
)

func scanMail(r db.Row, more ...any) (Mail, error) {
	var m Mail
	var status string
	var priority, next, created, ended int64
	err := r.Scan(append([]any{&m.Account, &m.ID, &m.Kind, &m.FormID, &m.ResponseID, &m.Recipient, &m.Language, &m.Data, &priority, &status, &m.Attempts, &next, &m.Error, &created, &ended}, more...)...)
	m.Status, m.Urgent = MailStatus(status), priority == 0
	m.NextAt, m.CreatedAt, m.EndedAt = fromMillis(next), fromMillis(created), fromMillis(ended)
	return m, err
}

func gatherMails(list *[]Mail) func(db.Row) error {
	return func(r db.Row) error {
		m, err := scanMail(r)
		*list = append(*list, m)
		return err
	}
}

// addMails puts mails into the queue of an account, in the transaction that causes them. Call
// mailsAdded after the commit.
func addMails(t db.Tx, owner string, list ...Mail) error {
	rows := make([][]any, len(list))
	for i, m := range list {
		priority := 1
		if m.Urgent {
			priority = 0
		}
		rows[i] = []any{m.ID, m.Kind, m.FormID, m.ResponseID, m.Recipient, account.EmailKey(m.Recipient), m.Language, m.Data, priority, toMillis(m.CreatedAt), toMillis(m.CreatedAt)}
	}
	return t.ExecEach(insertMailSQL, []any{owner}, rows)
}

// mailOwners is the invalidation key of the list of accounts that have waiting mails.
const mailOwners = "mails"

// mailsAdded wakes those who send.
func (s *Store) mailsAdded() { s.db.Invalidate(mailOwners) }

// MailGeneration returns a number that differs once MailAccounts may be different; false if
// that cannot be known without a query.
func (s *Store) MailGeneration() (uint64, bool) { return s.db.Generation(mailOwners) }

// AddMail puts a mail into the queue that no other change causes.
func (s *Store) AddMail(ctx context.Context, owner string, m Mail) (err error) {
	defer wrap(&err, "add mail")
	err = s.db.Write(ctx, func(t db.Tx) error { return addMails(t, owner, m) })
	s.mailsAdded()
	return err
}

// MailAccounts returns the accounts that have waiting mails.
func (s *Store) MailAccounts(ctx context.Context) (owners []string, err error) {
	defer wrap(&err, "list accounts with mails")
	err = s.db.Query(ctx, mailAccountsSQL, func(r db.Row) error {
		var owner string
		err := r.Scan(&owner)
		owners = append(owners, owner)
		return err
	})
	return owners, err
}

// DueMails returns mails whose time has come: first those that recipients wait for, then the
// longest due.
func (s *Store) DueMails(ctx context.Context, owner string, now time.Time, limit int64) (list []Mail, err error) {
	defer wrap(&err, "read due mails")
	err = s.db.Query(ctx, dueMailsSQL, func(r db.Row) error {
		var suppressed bool
		m, err := scanMail(r, &suppressed)
		m.Suppressed = suppressed
		list = append(list, m)
		return err
	}, owner, toMillis(now), limit)
	return list, err
}

// WaitingMails returns how many mails of an account wait, and when the first is due.
func (s *Store) WaitingMails(ctx context.Context, owner string) (n int64, first time.Time, err error) {
	defer wrap(&err, "count waiting mails")
	var next int64
	err = queryOne(s.query(ctx), nextMailSQL, []any{owner}, &next, &n)
	return n, fromMillis(next), err
}

// HasManyMails reports whether so many mails of an account wait that no others should be added.
func (s *Store) HasManyMails(ctx context.Context, owner string) (many bool, err error) {
	defer wrap(&err, "count waiting mails")
	var one int64
	err = queryOne(s.query(ctx), hasManySQL, []any{owner}, &one)
	return one == 1, replaceNotFound(err, nil)
}

// MailResult is what became of an attempt.
type MailResult struct {
	ID       string
	Status   MailStatus
	Attempts int64
	NextAt   time.Time // if it is still waiting
	Error    string
	Erase    bool   // the data has a secret that is not needed any more
	Suppress string // address that exists no more; empty: none
}

// CommitMails stores what became of mails of an account. With trim, it removes those that ended
// before the latest ones.
func (s *Store) CommitMails(ctx context.Context, owner string, results []MailResult, trim bool, now time.Time) (err error) {
	defer wrap(&err, "store sent mails")
	return s.db.Write(ctx, func(t db.Tx) error {
		if err := endSent(t, owner, results, now); err != nil {
			return err
		}
		for _, r := range results {
			var ended int64
			switch r.Status {
			case MailSent:
				continue
			case MailWaiting:
			default:
				ended = toMillis(now)
			}
			if _, err := t.Exec(endMailSQL, owner, r.ID, string(r.Status), r.Attempts, toMillis(r.NextAt), r.Error, ended, r.Erase); err != nil {
				return err
			}
			if r.Suppress == "" {
				continue
			}
			if _, err := t.Exec(suppressSQL, owner, account.EmailKey(r.Suppress), r.Error, toMillis(now)); err != nil {
				return err
			}
		}
		if !trim {
			return nil
		}
		_, err := t.Exec(trimMailsSQL, owner, toMillis(now.Add(-mailLimitWindow)))
		return err
	})
}

// sentBatch is how many mails sentMailsSQL names.
const sentBatch = 16

// endSent stores which mails were sent.
func endSent(t db.Tx, owner string, results []MailResult, now time.Time) error {
	var sent []any
	for _, r := range results {
		if r.Status == MailSent {
			sent = append(sent, r.ID)
		}
	}
	for part := range slices.Chunk(sent, sentBatch) {
		args := append([]any{owner, toMillis(now)}, part...)
		for len(args) < sentBatch+2 {
			args = append(args, "")
		}
		if _, err := t.Exec(sentMailsSQL, args...); err != nil {
			return err
		}
	}
	return nil
}

// Mail returns one mail of an account.
func (s *Store) Mail(ctx context.Context, owner, mailID string) (m Mail, err error) {
	defer wrap(&err, "read mail")
	var list []Mail
	if _, ok := id.Parse(id.Mail, mailID); ok {
		if err := s.db.Query(ctx, mailSQL, gatherMails(&list), owner, mailID); err != nil {
			return m, err
		}
	}
	return firstOf(list)
}

// KeptMails returns mails of all accounts that there was no server for, the latest first. It
// is for administrators only.
func (s *Store) KeptMails(ctx context.Context, page Page) (list []Mail, err error) {
	defer wrap(&err, "list kept mails")
	err = s.db.Query(ctx, keptMailsSQL, gatherMails(&list), page.Limit, page.Offset)
	return list, err
}

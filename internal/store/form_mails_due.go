package store

import (
	"context"
	"errors"
	"time"

	"formulary/internal/account"
	"formulary/internal/db"
	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/id"
)

// FormMail is a form that sends mails about responses, and what decides whether there is
// anything to send.
type FormMail struct {
	FormID    string
	Title     string
	Language  string
	Frequency Frequency
	Receipt   Receipt
	// Position is up to where mails about each response are in the queue.
	Position string
	// DigestPosition is up to where responses were in a digest.
	DigestPosition string
	End            string // differs once anything happens to the form
	Behind         bool   // there may be responses after Position
	DigestBehind   bool   // there may be responses after DigestPosition
}

// Reads reports whether the form sends mails about each response.
func (m FormMail) Reads() bool { return m.Frequency == NotifyEach || m.Receipt.Active }

const (
	// formMailAccountsSQL reads all accounts; see webhookAccountsSQL.
	formMailAccountsSQL = `SELECT DISTINCT account_id FROM form_mail WHERE frequency <> 'off' OR receipt_active`
	// A form that was deleted has no row, and its mails wait until it is restored.
	activeFormMailsSQL = `SELECT m.form_id, f.title, f.language, m.frequency, m.receipt_active, m.receipt_field, m.receipt_subject, m.receipt_text, m.receipt_answers,
		m.position, m.digest_position, f.response_tick
		FROM form_mail m JOIN form f ON f.account_id = m.account_id AND f.id = m.form_id
		WHERE m.account_id = $1 AND f.account_id = $1 AND (m.frequency <> 'off' OR m.receipt_active)`
	moveFormMailSQL   = `UPDATE form_mail SET position = $4 WHERE account_id = $1 AND form_id = $2 AND position = $3`
	moveDigestSQL     = `UPDATE form_mail SET digest_position = $4 WHERE account_id = $1 AND form_id = $2 AND digest_position = $3`
	recentReceiptsSQL = `SELECT COUNT(*) FROM mail
		WHERE account_id = $1 AND recipient_key = $2 AND kind = $3 AND created_at > $4 AND form_id = $5`
	digestCountSQL = `SELECT COUNT(*), COALESCE(MAX(id), '') FROM response
		WHERE account_id = $1 AND form_id = $2 AND id > $3`
	firstResponseSQL   = `SELECT id FROM response WHERE account_id = $1 AND form_id = $2 AND id > $3 ORDER BY id LIMIT 1`
	digestResponsesSQL = `SELECT ` + responseColumns + ` FROM response
		WHERE account_id = $1 AND form_id = $2 AND id > $3 AND id <= $4 ORDER BY id DESC LIMIT $5`
)

// FormMailAccounts returns the accounts whose forms send mails about responses.
func (s *Store) FormMailAccounts(ctx context.Context) (owners []string, err error) {
	defer wrap(&err, "list accounts whose forms send mails")
	err = s.db.Query(ctx, formMailAccountsSQL, func(r db.Row) error {
		var owner string
		err := r.Scan(&owner)
		owners = append(owners, owner)
		return err
	})
	return owners, err
}

// FormMails returns the forms of an account that send mails about responses.
func (s *Store) FormMails(ctx context.Context, owner string) (list []FormMail, err error) {
	defer wrap(&err, "read mails of forms")
	isAfter := func(tick int64, position string) bool {
		at, _ := id.Parse("", position)
		return id.Tick(tick) > id.TickOf(at)
	}
	err = s.db.Query(ctx, activeFormMailsSQL, func(r db.Row) error {
		var m FormMail
		var frequency string
		var tick int64
		err := r.Scan(&m.FormID, &m.Title, &m.Language, &frequency, &m.Receipt.Active, &m.Receipt.Field, &m.Receipt.Subject, &m.Receipt.Text, &m.Receipt.Answers,
			&m.Position, &m.DigestPosition, &tick)
		m.Frequency, m.End = Frequency(frequency), id.Tick(tick).First("")
		m.Behind = m.Reads() && isAfter(tick, m.Position)
		m.DigestBehind = m.Frequency.isDigest() && isAfter(tick, m.DigestPosition)
		list = append(list, m)
		return err
	}, owner)
	return list, err
}

// FormRecipients returns the addresses that a form notifies now, with their links.
func (s *Store) FormRecipients(ctx context.Context, owner, formID string) (links []RecipientLink, err error) {
	defer wrap(&err, "read recipients")
	list, err := readRecipients(s.query(ctx), owner, formID)
	for _, r := range list {
		if r.Receives() {
			links = append(links, LinkOf(owner, formID, r))
		}
	}
	return links, err
}

// MailsPerHour is how many receipts an address gets from one form, and how many requests to
// confirm from one account.
const MailsPerHour = 5

// FormMailCommit is what a reader of a form's responses has put into the queue.
type FormMailCommit struct {
	FormID         string
	From, Position string // where the reader was, and where it is now
	Mails          []Mail // notifications
	Receipts       []Mail
	Digest         bool // the positions are those of digests
}

// CommitFormMails puts mails into the queue and moves the position, both or neither. Left out are
// receipts beyond the limit of their address, and mails to addresses that a server has refused;
// skipped is how many the latter are. ErrPositionMoved: another node was faster.
func (s *Store) CommitFormMails(ctx context.Context, owner string, c FormMailCommit, now time.Time) (skipped int, err error) {
	defer wrap(&err, "queue mails of a form")
	move := moveFormMailSQL
	if c.Digest {
		move = moveDigestSQL
	}
	err = s.db.Write(ctx, func(t db.Tx) error {
		n, err := t.Exec(move, owner, c.FormID, c.From, c.Position)
		if err != nil || n == 0 {
			return errorWhen(err, n == 0, ErrPositionMoved)
		}
		mails, err := acceptedMails(t, owner, c.Mails)
		if err != nil {
			return err
		}
		receipts, err := acceptedMails(t, owner, c.Receipts)
		if err != nil {
			return err
		}
		skipped = len(c.Mails) + len(c.Receipts) - len(mails) - len(receipts)
		if receipts, err = limitReceipts(t, owner, c.FormID, receipts, now); err != nil {
			return err
		}
		return addMails(t, owner, append(mails, receipts...)...)
	})
	return skipped, err
}

// acceptedMails leaves out mails to addresses that a server has refused.
func acceptedMails(t db.Tx, owner string, list []Mail) (accepted []Mail, err error) {
	refused := map[string]bool{} // by address
	for _, m := range list {
		key := account.EmailKey(m.Recipient)
		if _, known := refused[key]; !known {
			var reason string
			err := queryOne(t.Query, suppressedSQL, []any{owner, key}, &reason)
			if err != nil && !errors.Is(err, fault.NotFound) {
				return nil, err
			}
			refused[key] = err == nil
		}
		if !refused[key] {
			accepted = append(accepted, m)
		}
	}
	return accepted, nil
}

// limitReceipts leaves out receipts to addresses that have had enough of them.
func limitReceipts(t db.Tx, owner, formID string, list []Mail, now time.Time) (allowed []Mail, err error) {
	sent := map[string]int64{} // within the hour, by address
	for _, m := range list {
		key := account.EmailKey(m.Recipient)
		if _, known := sent[key]; !known {
			var recent int64
			err := queryOne(t.Query, recentReceiptsSQL, []any{owner, key, m.Kind, toMillis(now.Add(-mailLimitWindow)), formID}, &recent)
			if err != nil {
				return nil, err
			}
			sent[key] = recent
		}
		if sent[key]++; sent[key] <= MailsPerHour {
			allowed = append(allowed, m)
		}
	}
	return allowed, nil
}

// FirstResponseAfter returns when the first response after a position was submitted; zero: there
// is none.
func (s *Store) FirstResponseAfter(ctx context.Context, owner, formID, position string) (at time.Time, err error) {
	defer wrap(&err, "find first response")
	var first string
	if err := queryOne(s.query(ctx), firstResponseSQL, []any{owner, formID, id.Response + position}, &first); err != nil {
		return at, replaceNotFound(err, nil)
	}
	u, _ := id.Parse(id.Response, first)
	return u.Time(), nil
}

// CountResponsesAfter returns how many responses follow a position, and the position of the
// last one.
func (s *Store) CountResponsesAfter(ctx context.Context, owner, formID, position string) (n int64, last string, err error) {
	defer wrap(&err, "count responses")
	if err := queryOne(s.query(ctx), digestCountSQL, []any{owner, formID, id.Response + position}, &n, &last); err != nil || n == 0 {
		return 0, "", err
	}
	return n, last[len(id.Response):], nil
}

// NewestResponses returns the newest responses of a part of a form's events, the newest first.
func (s *Store) NewestResponses(ctx context.Context, owner, formID string, part EventRange) (list []form.Response, err error) {
	defer wrap(&err, "read newest responses")
	err = s.db.Query(ctx, digestResponsesSQL, gatherInto(&list, newResponseScanner(formID)), owner, formID, id.Response+part.After, id.Response+part.Until, part.Limit)
	return list, err
}

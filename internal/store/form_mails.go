package store

import (
	"context"
	"strconv"
	"strings"
	"time"

	"formulary/internal/db"
)

// Frequency says how often a form notifies of responses, as the API spells it.
type Frequency string

// The frequencies of notifications.
const (
	NotifyEach   Frequency = "each"
	NotifyHourly Frequency = "hourly"
	NotifyDaily  Frequency = "daily"
	NotifyOff    Frequency = "off"
)

// Frequencies lists all frequencies.
var Frequencies = []Frequency{NotifyEach, NotifyHourly, NotifyDaily, NotifyOff}

func (f Frequency) isDigest() bool { return f == NotifyHourly || f == NotifyDaily }

// Notifications says who is notified of a form's responses, and how often.
type Notifications struct {
	When       Frequency
	Recipients []FormRecipient
}

// Receipt is the mail that respondents get. The zero value sends none.
type Receipt struct {
	Active  bool
	Field   string // key of the question for the address
	Subject string
	Text    string // Markdown with {{key}}
	Answers bool   // a copy of the answers follows the text
}

const (
	formMailSQL = `SELECT frequency, receipt_active, receipt_field, receipt_subject, receipt_text, receipt_answers FROM form_mail
		WHERE account_id = $1 AND form_id = $2`
	insertFormMailSQL = `INSERT INTO form_mail (account_id, form_id, position, digest_position, updated_at) VALUES ($1, $2, $3, $3, $4)
		ON CONFLICT (account_id, form_id) DO NOTHING`
	// A position moves to the end if nothing was read from it before.
	setFrequencySQL = `UPDATE form_mail SET updated_at = $5,
		position = CASE WHEN $3 = 'each' AND frequency <> 'each' AND NOT receipt_active THEN $4 ELSE position END,
		digest_position = CASE WHEN $3 IN ('hourly', 'daily') AND frequency NOT IN ('hourly', 'daily') THEN $4 ELSE digest_position END,
		frequency = $3 WHERE account_id = $1 AND form_id = $2`
	setReceiptSQL = `UPDATE form_mail SET updated_at = $5,
		position = CASE WHEN $3 AND NOT receipt_active AND frequency <> 'each' THEN $4 ELSE position END,
		receipt_active = $3, receipt_field = $6, receipt_subject = $7, receipt_text = $8, receipt_answers = $9
		WHERE account_id = $1 AND form_id = $2`
)

// readFormMail reads what a form sends. A form without a row sends nothing.
func readFormMail(q querier, owner, formID string) (Frequency, Receipt, error) {
	frequency := string(NotifyOff)
	var r Receipt
	err := queryOne(q, formMailSQL, []any{owner, formID}, &frequency, &r.Active, &r.Field, &r.Subject, &r.Text, &r.Answers)
	return Frequency(frequency), r, replaceNotFound(err, nil)
}

// Notifications returns who is notified of a form's responses.
func (s *Store) Notifications(ctx context.Context, owner, formID string) (n Notifications, err error) {
	defer wrap(&err, "read notifications")
	err = s.db.Read(ctx, func(t db.Tx) error {
		if err := requireForm(t.Query, owner, formID); err != nil {
			return err
		}
		n, err = readNotifications(t.Query, owner, formID)
		return err
	})
	return n, err
}

func readNotifications(q querier, owner, formID string) (n Notifications, err error) {
	if n.When, _, err = readFormMail(q, owner, formID); err != nil {
		return n, err
	}
	n.Recipients, err = readRecipients(q, owner, formID)
	return n, err
}

// NotificationChange replaces the notifications of a form.
type NotificationChange struct {
	When Frequency
	To   []string // addresses, each once
	// Edit, if it is not nil, returns To from what is stored. It may be called several times.
	Edit func(Notifications) ([]string, error)
	// Confirm returns the mail that asks an address to confirm. It may be called several times.
	Confirm func(RecipientLink) (Mail, error)
}

// edit returns the addresses to store.
func (change NotificationChange) edit(t db.Tx, owner, formID string) ([]string, error) {
	if change.Edit == nil {
		return change.To, nil
	}
	stored, err := readNotifications(t.Query, owner, formID)
	if err != nil {
		return nil, err
	}
	to, err := change.Edit(stored)
	if err != nil {
		return nil, err
	}
	return to, checkRecipients(to)
}

// SetNotifications changes who is notified of a form's responses, from now on. Addresses that
// are not the owner's get a mail first, and are notified once they have confirmed.
func (s *Store) SetNotifications(ctx context.Context, owner, formID string, change NotificationChange, now time.Time) (n Notifications, err error) {
	defer wrap(&err, "set notifications")
	if err := checkRecipients(change.To); err != nil {
		return n, err
	}
	err = s.write(ctx, owner, func(t db.Tx) error {
		position, err := startFormMail(t, owner, formID, now)
		if err != nil {
			return err
		}
		if change.To, err = change.edit(t, owner, formID); err != nil {
			return err
		}
		if _, err := t.Exec(setFrequencySQL, owner, formID, string(change.When), position, toMillis(now)); err != nil {
			return err
		}
		if err := replaceRecipients(t, owner, formID, change, now); err != nil {
			return err
		}
		if err := recordForm(ctx, t, owner, formID, AuditNotifications, details{"when": string(change.When), "recipients": strings.Join(change.To, ", ")}); err != nil {
			return err
		}
		n, err = readNotifications(t.Query, owner, formID)
		return err
	})
	s.db.Invalidate(formMailOwners)
	s.mailsAdded()
	return n, err
}

// startFormMail makes sure that a form has a row, and returns a position after everything that
// has happened to it. It locks the form's row.
func startFormMail(t db.Tx, owner, formID string, now time.Time) (string, error) {
	if err := requireForm(t.Query, owner, formID); err != nil {
		return "", err
	}
	positions, err := drawPositions(t, owner, formID, 1, now)
	if err != nil {
		return "", err
	}
	_, err = t.Exec(insertFormMailSQL, owner, formID, positions[0], toMillis(now))
	return positions[0], err
}

// Receipt returns the mail that respondents of a form get.
func (s *Store) Receipt(ctx context.Context, owner, formID string) (r Receipt, err error) {
	defer wrap(&err, "read receipt")
	err = s.db.Read(ctx, func(t db.Tx) error {
		if err := requireForm(t.Query, owner, formID); err != nil {
			return err
		}
		_, r, err = readFormMail(t.Query, owner, formID)
		return err
	})
	return r, err
}

// ReceiptChange replaces the receipt of a form.
type ReceiptChange struct {
	Receipt
	Check func(stored Receipt) error // nil: whatever is stored is replaced
}

// SetReceipt changes the mail that respondents of a form get, from now on.
func (s *Store) SetReceipt(ctx context.Context, owner, formID string, r ReceiptChange, now time.Time) (err error) {
	defer wrap(&err, "set receipt")
	err = s.write(ctx, owner, func(t db.Tx) error {
		position, err := startFormMail(t, owner, formID, now)
		if err != nil {
			return err
		}
		if r.Check != nil {
			_, stored, err := readFormMail(t.Query, owner, formID)
			if err != nil {
				return err
			}
			if err := r.Check(stored); err != nil {
				return err
			}
		}
		if _, err := t.Exec(setReceiptSQL, owner, formID, r.Active, position, toMillis(now), r.Field, r.Subject, r.Text, r.Answers); err != nil {
			return err
		}
		return recordForm(ctx, t, owner, formID, AuditReceiptChanged, details{"active": strconv.FormatBool(r.Active)})
	})
	s.db.Invalidate(formMailOwners)
	return err
}

// formMailOwners is the invalidation key of the list of accounts whose forms send mails.
const formMailOwners = "form mails"

// FormMailGeneration returns a number that differs once FormMailAccounts may be different;
// false if that cannot be known without a query.
func (s *Store) FormMailGeneration() (uint64, bool) { return s.db.Generation(formMailOwners) }

package store

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"slices"
	"strconv"
	"strings"
	"time"

	"formulary/internal/account"
	"formulary/internal/db"
	"formulary/internal/fault"
	"formulary/internal/id"
)

// MaxRecipients is how many addresses can be notified of a form's responses.
const MaxRecipients = 20

// FormRecipient is an address that is to be notified of a form's responses.
type FormRecipient struct {
	Email          string
	Own            bool // the confirmed address of the owner or of a member of the space, which needs no other confirmation
	CreatedAt      time.Time
	ConfirmedAt    time.Time // zero: not yet
	UnsubscribedAt time.Time // zero: never
	Refused        string    // why the last mail came back; empty: it did not
	token          string
}

// Receives reports whether the address is notified.
func (r FormRecipient) Receives() bool {
	return r.UnsubscribedAt.IsZero() && (r.Own || !r.ConfirmedAt.IsZero())
}

const (
	recipientsSQL = `SELECT r.email, r.token, r.created_at, r.confirmed_at, r.unsubscribed_at, COALESCE(a.email_verified_at, 0) > 0, COALESCE(s.reason, '')
		FROM form_recipient r LEFT JOIN account a ON a.email_key = r.email_key
			AND (a.id = r.account_id OR EXISTS (SELECT 1 FROM space_member m WHERE m.account_id = r.account_id AND m.person_id = a.id))
		LEFT JOIN mail_suppression s ON s.account_id = r.account_id AND s.recipient_key = r.email_key
		WHERE r.account_id = $1 AND r.form_id = $2 ORDER BY r.created_at, r.email_key`
	insertRecipientSQL = `INSERT INTO form_recipient (account_id, form_id, email_key, email, token, created_at) VALUES ($1, $2, $3, $4, $5, $6)`
	dropRecipientSQL   = `DELETE FROM form_recipient WHERE account_id = $1 AND form_id = $2 AND email_key = $3`
	confirmSQL         = `UPDATE form_recipient SET confirmed_at = $4, unsubscribed_at = 0 WHERE account_id = $1 AND form_id = $2 AND token = $3`
	unsubscribeSQL     = `UPDATE form_recipient SET unsubscribed_at = $4 WHERE account_id = $1 AND form_id = $2 AND token = $3 AND unsubscribed_at = 0`
	recentMailsSQL     = `SELECT COUNT(*) FROM mail WHERE account_id = $1 AND recipient_key = $2 AND kind = $3 AND created_at > $4`
)

func readRecipients(q querier, owner, formID string) (list []FormRecipient, err error) {
	err = q(recipientsSQL, func(r db.Row) error {
		var e FormRecipient
		var created, confirmed, unsubscribed int64
		err := r.Scan(&e.Email, &e.token, &created, &confirmed, &unsubscribed, &e.Own, &e.Refused)
		e.CreatedAt, e.ConfirmedAt, e.UnsubscribedAt = fromMillis(created), fromMillis(confirmed), fromMillis(unsubscribed)
		list = append(list, e)
		return err
	}, owner, formID)
	return list, err
}

// checkRecipients returns an error for a list of addresses that cannot be stored.
func checkRecipients(addresses []string) error {
	if len(addresses) > MaxRecipients {
		return fault.InvalidField("to", "enter no more than %d email addresses", MaxRecipients)
	}
	seen := map[string]bool{}
	var details []fault.Detail
	for i, address := range addresses {
		field := "to." + strconv.Itoa(i)
		if parsed, err := account.ParseEmail(address); err != nil || parsed != address {
			details = append(details, fault.NewDetail(field, "enter an email address, such as name@example.com"))
		} else if seen[account.EmailKey(address)] {
			details = append(details, fault.NewDetail(field, "enter each email address once"))
		}
		seen[account.EmailKey(address)] = true
	}
	if len(details) > 0 {
		return fault.InvalidFields(details...)
	}
	return nil
}

// replaceRecipients stores the addresses of a change. Those that have unsubscribed stay in the
// list if they are not in the change, so that the owner sees them.
func replaceRecipients(t db.Tx, owner, formID string, change NotificationChange, now time.Time) error {
	before, err := readRecipients(t.Query, owner, formID)
	if err != nil {
		return err
	}
	stays := map[string]bool{}
	for _, r := range before {
		key := account.EmailKey(r.Email)
		listed := slices.ContainsFunc(change.To, func(address string) bool { return account.EmailKey(address) == key })
		if r.UnsubscribedAt.IsZero() == listed {
			stays[key] = listed
			continue
		}
		if _, err := t.Exec(dropRecipientSQL, owner, formID, key); err != nil {
			return err
		}
	}
	for _, address := range change.To {
		if stays[account.EmailKey(address)] {
			continue
		}
		raw := make([]byte, 16)
		rand.Read(raw)
		token := base64.RawURLEncoding.EncodeToString(raw)
		if _, err := t.Exec(insertRecipientSQL, owner, formID, account.EmailKey(address), address, token, toMillis(now)); err != nil {
			return err
		}
	}
	return askForConfirmation(t, owner, formID, change, stays)
}

// askForConfirmation sends a mail to the new addresses that have to confirm.
func askForConfirmation(t db.Tx, owner, formID string, change NotificationChange, known map[string]bool) error {
	list, err := readRecipients(t.Query, owner, formID)
	if err != nil {
		return err
	}
	for _, r := range list {
		if key := account.EmailKey(r.Email); known[key] || r.Own || !r.UnsubscribedAt.IsZero() || !r.ConfirmedAt.IsZero() {
			continue
		}
		m, err := change.Confirm(RecipientLink{Owner: owner, FormID: formID, Email: r.Email, token: r.token})
		if err != nil {
			return err
		}
		// Nobody can fill a mailbox by adding its address to many forms, again and again.
		var recent int64
		err = queryOne(t.Query, recentMailsSQL, []any{owner, account.EmailKey(r.Email), m.Kind, toMillis(m.CreatedAt.Add(-mailLimitWindow))}, &recent)
		if err != nil {
			return err
		}
		if recent >= MailsPerHour {
			return fault.TooManyRequests(int(mailLimitWindow.Seconds()))
		}
		if err := addMails(t, owner, m); err != nil {
			return err
		}
	}
	return nil
}

// RecipientLink identifies an address that a form notifies. Its text is in links, with which
// the recipient confirms or unsubscribes without signing in.
type RecipientLink struct {
	Owner, FormID string
	Email         string
	token         string
}

// recipientPrefix lets secret scanners find links.
const recipientPrefix = "fmn_"

// LinkOf returns the link of a recipient.
func LinkOf(owner, formID string, r FormRecipient) RecipientLink {
	return RecipientLink{owner, formID, r.Email, r.token}
}

// String returns the text for a link.
func (l RecipientLink) String() string {
	owner, _ := id.Parse(id.User, l.Owner)
	form, _ := id.Parse(id.Form, l.FormID)
	return recipientPrefix + base64.RawURLEncoding.EncodeToString(append(owner[:], form[:]...)) + "." + l.token
}

func parseRecipientLink(text string) (l RecipientLink, err error) {
	body, ok := strings.CutPrefix(text, recipientPrefix)
	encoded, token, found := strings.Cut(body, ".")
	raw, err := base64.RawURLEncoding.Strict().DecodeString(encoded)
	random, errToken := base64.RawURLEncoding.Strict().DecodeString(token)
	if !ok || !found || err != nil || errToken != nil || len(raw) != 32 || len(random) != 16 {
		return l, errRecipientLink
	}
	return RecipientLink{Owner: id.UUID(raw[:16]).String(id.User), FormID: id.UUID(raw[16:]).String(id.Form), token: token}, nil
}

var errRecipientLink = fault.New(fault.BadRequest, "This link is not valid any more.")

// RecipientByLink returns the recipient that a link was sent to, and the title of the form.
func (s *Store) RecipientByLink(ctx context.Context, text string) (link RecipientLink, r FormRecipient, title string, err error) {
	defer wrap(&err, "read recipient")
	if link, err = parseRecipientLink(text); err != nil {
		return link, r, "", err
	}
	// The form may have been moved to another space since the link was sent.
	if err := queryOne(s.query(ctx), ownerSQL, []any{link.FormID}, &link.Owner); err != nil && !isMissing(err) {
		return link, r, "", err
	}
	err = s.db.Read(ctx, func(t db.Tx) error {
		f, err := readForm(t.Query, link.Owner, link.FormID)
		if err != nil {
			return replaceNotFound(err, errRecipientLink)
		}
		title = f.Title
		list, err := readRecipients(t.Query, link.Owner, link.FormID)
		if err != nil {
			return err
		}
		at := slices.IndexFunc(list, func(e FormRecipient) bool { return account.EqualHash(e.token, link.token) })
		if at < 0 {
			return errRecipientLink
		}
		r, link.Email = list[at], list[at].Email
		return nil
	})
	return link, r, title, err
}

// ConfirmRecipient notifies the address of a link from now on.
func (s *Store) ConfirmRecipient(ctx context.Context, text string, now time.Time) (err error) {
	defer wrap(&err, "confirm recipient")
	return s.changeRecipient(ctx, text, confirmSQL, now)
}

// Unsubscribe notifies the address of a link no more. Repeating it changes nothing.
func (s *Store) Unsubscribe(ctx context.Context, text string, now time.Time) (err error) {
	defer wrap(&err, "unsubscribe")
	return s.changeRecipient(ctx, text, unsubscribeSQL, now)
}

func (s *Store) changeRecipient(ctx context.Context, text, sql string, now time.Time) error {
	link, _, _, err := s.RecipientByLink(ctx, text)
	if err != nil {
		return err
	}
	return s.write(ctx, link.Owner, func(t db.Tx) error {
		_, err := t.Exec(sql, link.Owner, link.FormID, link.token, toMillis(now))
		return err
	})
}

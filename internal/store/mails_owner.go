package store

import (
	"context"
	"encoding/json"
	"time"

	"formulary/internal/account"
	"formulary/internal/db"
	"formulary/internal/id"
)

// Kinds of mails that the store itself causes. Package mail has what they say.
const (
	// MailWebhookDisabled has the ID of the webhook as its data.
	MailWebhookDisabled = "webhook_disabled"
	// MailStorageFull has a StorageFull as its data.
	MailStorageFull = "storage_full"
	// MailRetention has a RetentionNotice as its data.
	MailRetention = "retention"
)

func encodeNotice(notice any) (string, error) {
	text, err := json.Marshal(notice)
	return string(text), err
}

// A space is that of a person, or has members who are its owners.
const (
	mailedUserSQL = `SELECT email, language FROM account
		WHERE id = $1 AND email_verified_at > 0 AND disabled_at = 0 AND role <> '` + account.RoleSpace + `'`
	mailedOwnersSQL = `SELECT a.email, a.language FROM space_member m JOIN account a ON a.id = m.person_id
		WHERE m.account_id = $1 AND m.role = 'owner' AND a.email_verified_at > 0 AND a.disabled_at = 0 ORDER BY m.person_id`
)

// addOwnerMail puts a mail to the owners of a space into the queue, if their address is confirmed.
func addOwnerMail(t db.Tx, space string, m Mail, now time.Time) error {
	var list []Mail
	for _, sql := range []string{mailedUserSQL, mailedOwnersSQL} {
		if err := t.Query(sql, func(r db.Row) error {
			err := r.Scan(&m.Recipient, &m.Language)
			m.ID, m.CreatedAt = id.New(id.Mail, now), now
			list = append(list, m)
			return err
		}, space); err != nil {
			return err
		}
	}
	if len(list) == 0 {
		return nil
	}
	return addMails(t, space, list...)
}

// StorageFull says how much an account has stored, for people.
type StorageFull struct {
	Used, Limit string
}

// Owners are told when they have used this part of their storage, and again only after they have
// used less than the second one in between.
const (
	nearlyFull = 0.9
	enoughFree = 0.8
)

// storageState is what an owner knows about the storage.
type storageState int

const (
	storageUnknown storageState = iota // not read from the database yet
	storageFree
	storageNearlyFull
)

const (
	storageWarnedSQL = `SELECT storage_warned_at FROM account WHERE id = $1`
	warnStorageSQL   = `UPDATE account SET storage_warned_at = $2 WHERE id = $1 AND storage_warned_at = 0 AND email_verified_at > 0 AND disabled_at = 0`
	endWarningSQL    = `UPDATE account SET storage_warned_at = 0 WHERE id = $1`
)

// watchStorage tells an owner in the background when there is little storage left. The caller holds
// the lock of the quotas.
func (s *Store) watchStorage(owner string, u *knownUsage) {
	state, change := u.state, s.endWarning
	found := StorageFull{FormatBytes(u.bytes), FormatBytes(s.quotas.Bytes)}
	switch share := float64(u.bytes) / float64(s.quotas.Bytes); {
	case share > nearlyFull:
		state, change = storageNearlyFull, s.warnOwner
	case share < enoughFree:
		state = storageFree
	}
	if state == u.state {
		return
	}
	u.state = state
	s.background.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), usageTTL)
		defer cancel()
		if change(ctx, owner, found) == nil {
			return
		}
		s.quotas.mu.Lock()
		defer s.quotas.mu.Unlock()
		u.state = storageUnknown // again when the usage is read next
	})
}

// warnOwner tells an owner that there is little storage left, unless that has happened already.
func (s *Store) warnOwner(ctx context.Context, owner string, found StorageFull) error {
	data, err := json.Marshal(found)
	if err != nil {
		return err
	}
	now := time.Now()
	err = s.db.Write(ctx, func(t db.Tx) error {
		n, err := t.Exec(warnStorageSQL, owner, toMillis(now))
		if err != nil || n == 0 {
			return err
		}
		return addOwnerMail(t, owner, Mail{Kind: MailStorageFull, Data: string(data)}, now)
	})
	s.mailsAdded()
	return err
}

// endWarning notes that there is enough storage, so that the owner is told the next time.
func (s *Store) endWarning(ctx context.Context, owner string, _ StorageFull) error {
	var warned int64
	if err := queryOne(s.query(ctx), storageWarnedSQL, []any{owner}, &warned); err != nil || warned == 0 {
		return replaceNotFound(err, nil)
	}
	return s.db.Write(ctx, func(t db.Tx) error {
		_, err := t.Exec(endWarningSQL, owner)
		return err
	})
}

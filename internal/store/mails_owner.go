package store

import (
	"context"
	"encoding/json"
	"time"

	"formulary/internal/db"
	"formulary/internal/id"
)

// Kinds of mails that the store itself causes. Package mail has what they say.
const (
	// MailWebhookDisabled has the ID of the webhook as its data.
	MailWebhookDisabled = "webhook_disabled"
	// MailStorageFull has a StorageFull as its data.
	MailStorageFull = "storage_full"
)

// addOwnerMail puts a mail to the owner into the queue, if the address is confirmed.
func addOwnerMail(t db.Tx, owner string, m Mail, now time.Time) error {
	user, err := queryUser(t.Query, userSQL, owner)
	if err != nil || user.EmailVerifiedAt.IsZero() || user.Disabled {
		return replaceNotFound(err, nil)
	}
	m.ID, m.Recipient, m.Language, m.CreatedAt = id.New(id.Mail, now), user.Email, user.Language, now
	return addMails(t, owner, m)
}

// StorageFull says how much an account has stored, for people.
type StorageFull struct {
	Used, Limit string
}

// Owners are told when they have used this part of their storage, and again after a week.
const (
	nearlyFull       = 0.9
	storageMailPause = 7 * 24 * time.Hour
)

// warnOwner tells an owner in the background that there is little storage left.
func (s *Store) warnOwner(owner string, used int64) {
	data, err := json.Marshal(StorageFull{FormatBytes(used), FormatBytes(s.quotas.Bytes)})
	if err != nil {
		return
	}
	s.background.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), usageTTL)
		defer cancel()
		now := time.Now()
		err := s.db.Write(ctx, func(t db.Tx) error {
			// One node at a time, so that the owner gets one mail.
			if err := checkAffected(t.Exec(holdAccountSQL, owner)); err != nil {
				return err
			}
			var recent int64
			if err := queryOne(t.Query, recentKindSQL, []any{owner, MailStorageFull, toMillis(now.Add(-storageMailPause))}, &recent); err != nil || recent > 0 {
				return err
			}
			return addOwnerMail(t, owner, Mail{Kind: MailStorageFull, Data: string(data)}, now)
		})
		if err == nil {
			s.mailsAdded()
		}
	})
}

const recentKindSQL = `SELECT COUNT(*) FROM mail WHERE account_id = $1 AND kind = $2 AND created_at > $3`

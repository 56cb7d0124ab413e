package outbox

import (
	"context"
	"net/url"
	"time"

	"formulary/internal/account"
	"formulary/internal/mail"
	"formulary/internal/store"
)

// CanSeal reports whether mails with secrets can be stored. On PostgreSQL that needs
// FORMULARY_SECRET_KEY.
func (s *Service) CanSeal() bool { return s.Sealer != nil }

// ToUser returns a mail to a user about their account. There is none if the address is not
// confirmed: it may be that of a stranger.
func (s *Service) ToUser(user account.User, kind mail.Kind) ([]store.Mail, error) {
	if !user.IsEmailVerified() {
		return nil, nil
	}
	m, err := s.Prepare(Recipient{user.Email, user.Language}, kind)
	return []store.Mail{m}, err
}

// WebhookDisabled returns the mail about a webhook that was disabled.
func (s *Service) WebhookDisabled(user account.User, w store.ActiveWebhook, reason string) ([]store.Mail, error) {
	host := w.URL
	if u, err := url.Parse(w.URL); err == nil {
		host = u.Host
	}
	list, err := s.ToUser(user, mail.WebhookDisabled{
		BaseURL: s.BaseURL, FormTitle: w.FormTitle, URL: s.BaseURL + "/forms/" + w.FormID + "/connect/" + w.ID, Host: host, Reason: reason,
	})
	for i := range list {
		list[i].FormID = w.FormID
	}
	return list, err
}

// storageInterval is the time between two looks at how full the storage of accounts is.
const storageInterval = 10 * time.Minute

// WarnStorage tells users whose storage is nearly full, until ctx ends.
func (s *Service) WarnStorage(ctx context.Context) {
	ticker := time.NewTicker(storageInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			if err := s.Store.WarnStorage(ctx, s.storageLow, s.Now()); err != nil && ctx.Err() == nil {
				s.Log.Error("could not warn of full storage", "error", err)
			}
		}
	}
}

func (s *Service) storageLow(user account.User, percent int64, used store.Usage) ([]store.Mail, error) {
	return s.ToUser(user, mail.StorageLow{
		BaseURL: s.BaseURL, Percent: percent, Used: store.FormatBytes(used.Bytes), Limit: store.FormatBytes(s.Store.Quotas().Bytes),
	})
}

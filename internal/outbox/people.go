package outbox

import (
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

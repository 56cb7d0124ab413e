package identity

import (
	"errors"
	"net/http"
	"time"

	"formulary/internal/account"
	"formulary/internal/fault"
	"formulary/internal/limit"
	"formulary/internal/mail"
	"formulary/internal/outbox"
	"formulary/internal/store"
	"formulary/internal/web/page"
)

// How long a link to a new password works. Without a mail server an administrator has to pass
// it on, which takes longer.
const (
	resetTTL     = 4 * time.Hour
	keptResetTTL = 24 * time.Hour
)

// forgotPage asks for the address to which a link to a new password is sent.
type forgotPage struct {
	page.Layout
	Email  string
	Hours  int  // that the link works
	MailOn bool // otherwise mails are kept for administrators
	CanAsk bool // mails with links can be stored
	Sent   bool
}

func (pages *Pages) newForgotPage() *forgotPage {
	p := &forgotPage{Layout: page.Layout{TitleKey: "Reset password", Narrow: true}, MailOn: pages.Mails.IsOn(), CanAsk: pages.Mails.CanSeal()}
	p.Hours = int(pages.resetTTL().Hours())
	return p
}

func (pages *Pages) resetTTL() time.Duration {
	if pages.Mails.IsOn() {
		return resetTTL
	}
	return keptResetTTL
}

// ShowForgot asks for the address of the account.
func (pages *Pages) ShowForgot(req *page.Request) error {
	p := pages.newForgotPage()
	if req.User != nil {
		p.Email = req.User.Email
	}
	return pages.templates.Render(req, http.StatusOK, "forgot", p)
}

// Forgot sends a link to a new password. Addresses with and without an account get the same
// answer, after the same work and with the same limits.
func (pages *Pages) Forgot(req *page.Request) error {
	p := pages.newForgotPage()
	p.Email = req.Field("email")
	email, err := account.ParseEmail(p.Email)
	if err != nil {
		p.Problems = page.Problems{"email": fault.MessageOf(err)}
		return pages.templates.Render(req, http.StatusUnprocessableEntity, "forgot", p)
	}
	if !p.CanAsk {
		return pages.templates.Render(req, http.StatusOK, "forgot", p)
	}
	if _, wait, ok := pages.MailsByNetwork.Allow(limit.ClientNetwork(pages.Address(req.Request))); !ok {
		return fault.TooManyRequests(limit.RetryAfterSeconds(wait))
	}
	user, err := pages.Store.UserByEmail(req.Context(), email)
	if err != nil && !errors.Is(err, fault.NotFound) {
		return err
	}
	if err != nil || user.Disabled {
		user = account.User{ID: store.NoOwner, Email: email, Language: req.PreferredLanguage()}
	}
	// Beyond the limit, the mails before are enough.
	if _, ok := pages.mayMail("reset", email); ok {
		if err := pages.mailResetLink(req, user); err != nil {
			return err
		}
	}
	p.Sent, p.Email = true, email
	return pages.templates.Render(req, http.StatusOK, "forgot", p)
}

func (pages *Pages) mailResetLink(req *page.Request, user account.User) error {
	now := pages.Now()
	ttl := pages.resetTTL()
	secret := account.NewSecret(account.OneTimeLinkKey, user.ID, now)
	m, err := pages.Mails.Prepare(outbox.Recipient{Address: user.Email, Language: user.Language}, mail.PasswordReset{
		Email: user.Email, Link: pages.Site.BaseURL + "/reset?token=" + secret.Text, Hours: int(ttl.Hours()), Expires: now.Add(ttl),
	})
	if err != nil {
		return err
	}
	return pages.Store.MailResetLink(req.Context(), store.MailedLink{Secret: secret, Email: user.Email, Expires: now.Add(ttl), Mail: m})
}

// mayMail counts a mail to an address, whoever asks for it, so that nobody is flooded. If there
// were too many, it returns how long to wait.
func (pages *Pages) mayMail(kind, email string) (wait time.Duration, ok bool) {
	_, wait, ok = pages.MailsByRecipient.Allow(account.Hash(kind + "/" + account.EmailKey(email)))
	return wait, ok
}

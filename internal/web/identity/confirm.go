package identity

import (
	"net/http"
	"net/url"
	"time"

	"formulary/internal/account"
	"formulary/internal/fault"
	"formulary/internal/limit"
	"formulary/internal/mail"
	"formulary/internal/outbox"
	"formulary/internal/store"
	"formulary/internal/web/page"
)

// confirmTTL is how long a link that confirms an address works.
const confirmTTL = 48 * time.Hour

// confirmPage asks the user to confirm an address. Opening the link is not enough: programs
// that check mails open links too.
type confirmPage struct {
	page.Layout
	Link   string
	Email  string
	Change bool // it replaces another address
}

// ShowConfirm shows the page of a link that confirms an address.
func (pages *Pages) ShowConfirm(req *page.Request) error {
	text := req.URL.Query().Get("token")
	link, err := pages.Store.CheckEmailLink(req.Context(), text, pages.Now())
	if err != nil {
		return err
	}
	if ok, err := pages.mayConfirm(req, link, text); !ok {
		return err
	}
	return pages.templates.Render(req, http.StatusOK, "confirm", &confirmPage{
		Layout: page.Layout{TitleKey: "Confirm your email address", Narrow: true}, Link: text, Email: link.Email, Change: link.IsChange(),
	})
}

// mayConfirm reports whether the user may use a link. A new address must be confirmed by the
// user who has entered it: otherwise a typing mistake would give the account to a stranger, who
// gets the link and could then reset the password.
func (pages *Pages) mayConfirm(req *page.Request, link store.EmailLink, text string) (bool, error) {
	switch {
	case !link.IsChange():
		return true, nil
	case req.User == nil:
		return false, req.Redirect("/signin?next=" + url.QueryEscape("/confirm?token="+text))
	case req.User.ID != link.User.ID:
		return false, fault.New(fault.Forbidden, "This link is for another account. Sign out, then open the link again.")
	}
	return true, nil
}

// Confirm confirms an address.
func (pages *Pages) Confirm(req *page.Request) error {
	text := req.Field("token")
	link, err := pages.Store.CheckEmailLink(req.Context(), text, pages.Now())
	if err != nil {
		return err
	}
	if ok, err := pages.mayConfirm(req, link, text); !ok {
		return err
	}
	var mails []store.Mail
	if link.IsChange() {
		if mails, err = pages.Mails.ToUser(link.User, mail.EmailChanged{Event: pages.event(req, link.User), NewEmail: link.Email}); err != nil {
			return err
		}
	}
	if err := pages.Store.ConfirmEmail(req.Context(), text, mails, pages.Now()); err != nil {
		if fault.Wrap(err).Code == fault.Invalid {
			return fault.New(fault.Invalid, "Another account uses this email address now.").WithCause(err)
		}
		return err
	}
	if req.User != nil && req.User.ID == link.User.ID {
		return req.Redirect("/account?saved=confirmed")
	}
	return req.Redirect("/signin?saved=confirmed")
}

// newEmailLink creates a link that confirms an address of a user, and its mail.
func (pages *Pages) newEmailLink(user account.User, email string) (store.MailedLink, error) {
	now := pages.Now()
	l := store.MailedLink{Secret: account.NewSecret(account.OneTimeLinkKey, user.ID, now), Email: email, Expires: now.Add(confirmTTL)}
	var err error
	l.Mail, err = pages.Mails.Prepare(outbox.Recipient{Address: email, Language: user.Language}, mail.ConfirmEmail{
		Email: email, Change: account.EmailKey(email) != account.EmailKey(user.Email), Hours: int(confirmTTL.Hours()), Expires: l.Expires,
		Link: pages.Site.BaseURL + "/confirm?token=" + l.Secret.Text,
	})
	return l, err
}

// mailEmailLink asks for the confirmation of an address of the signed-in user.
func (pages *Pages) mailEmailLink(req *page.Request, email string) error {
	if wait, ok := pages.mayMail("confirm", email); !ok {
		return fault.TooManyRequests(limit.RetryAfterSeconds(wait))
	}
	l, err := pages.newEmailLink(*req.User, email)
	if err != nil {
		return err
	}
	return pages.Store.MailEmailLink(req.Context(), l)
}

// ChangeEmail changes the email address. The current one stays until the new one is confirmed.
// Without a mail server, the new one is used at once.
func (pages *Pages) ChangeEmail(req *page.Request) error {
	fill := func(p *accountPage) { p.Email = req.Field("email") }
	email, err := account.ParseEmail(req.Field("email"))
	if err != nil {
		return pages.renderAccountProblems(req, fill, page.Problems{"email": fault.MessageOf(err)})
	}
	correct, err := pages.confirmPassword(req, req.Field("current"))
	if err != nil {
		return err
	}
	if !correct {
		return pages.renderAccountProblems(req, fill, page.Problems{"email-current": wrongPassword})
	}
	change, saved := pages.setEmail, "email"
	if pages.Mails.IsOn() && account.EmailKey(email) != account.EmailKey(req.User.Email) {
		change, saved = pages.requestEmail, "pending"
	}
	if err := change(req, email); err != nil {
		list, err := page.NewProblems(err)
		if err != nil {
			return err
		}
		return pages.renderAccountProblems(req, fill, list)
	}
	return req.Redirect("/account?saved=" + saved)
}

// requestEmail asks for the confirmation of a new address that nobody else has.
func (pages *Pages) requestEmail(req *page.Request, email string) error {
	if err := pages.Store.CheckEmailFree(req.Context(), email); err != nil {
		return err
	}
	return pages.mailEmailLink(req, email)
}

// setEmail changes the address at once.
func (pages *Pages) setEmail(req *page.Request, email string) error {
	c := store.EmailChange{Owner: req.User.ID, Email: email}
	if account.EmailKey(email) == account.EmailKey(req.User.Email) {
		c.VerifiedAt = req.User.EmailVerifiedAt
		return pages.Store.SetEmail(req.Context(), c)
	}
	// Administrators vouch for the addresses that they enter.
	if req.User.Role == account.RoleAdmin {
		c.VerifiedAt = pages.Now()
	}
	var err error
	if c.Mails, err = pages.Mails.ToUser(*req.User, mail.EmailChanged{Event: pages.event(req, *req.User), NewEmail: email}); err != nil {
		return err
	}
	return pages.Store.SetEmail(req.Context(), c)
}

// ResendEmailLink sends the link for the address that is not confirmed once more.
func (pages *Pages) ResendEmailLink(req *page.Request) error {
	email, err := pages.Store.PendingEmail(req.Context(), req.User.ID, pages.Now())
	if err != nil {
		return err
	}
	if email == "" {
		email = req.User.Email
	}
	if account.EmailKey(email) == account.EmailKey(req.User.Email) && req.User.IsEmailVerified() {
		return req.Redirect("/account")
	}
	if err := pages.mailEmailLink(req, email); err != nil {
		return err
	}
	return req.Redirect("/account?saved=sent")
}

// CancelEmail keeps the current address.
func (pages *Pages) CancelEmail(req *page.Request) error {
	if err := pages.Store.CancelEmail(req.Context(), req.User.ID); err != nil {
		return err
	}
	return req.Redirect("/account?saved=kept")
}

package identity

import (
	"formulary/internal/account"
	"formulary/internal/mail"
	"formulary/internal/store"
	"formulary/internal/web/page"
)

// event describes this request for a notice to a user.
func (pages *Pages) event(req *page.Request, user account.User) mail.Event {
	browser, system := parseAgent(req.UserAgent())
	return mail.Event{
		BaseURL: pages.Site.BaseURL, Email: user.Email, At: pages.Now(), TimeZone: user.TimeZone,
		Browser: browser, System: system, Address: pages.Address(req.Request).String(),
	}
}

// signInNotice returns the mail about a sign-in from an unknown browser.
func (pages *Pages) signInNotice(req *page.Request, user account.User) ([]store.Mail, error) {
	// Programs that sign in again and again have no cookies.
	if _, ok := pages.mayMail("signin", user.Email); !ok {
		return nil, nil
	}
	return pages.Mails.ToUser(user, mail.NewSignIn{Event: pages.event(req, user)})
}

// maxFormsInNotice is how many forms a mail names.
const maxFormsInNotice = 10

// grantNotice returns the mail about access that the user gives to an application.
func (pages *Pages) grantNotice(req *page.Request, choice store.GrantChoice) func(store.NewGrant) ([]store.Mail, error) {
	return func(g store.NewGrant) ([]store.Mail, error) {
		notice := mail.NewGrant{Event: pages.event(req, *req.User), App: g.App.Name, Own: g.Developer.ID == req.User.ID}
		if g.Developer.ID != "" {
			notice.Registrant, notice.Domain = registrantOf(g.Developer)
		}
		for _, scope := range g.Scopes {
			notice.Scopes = append(notice.Scopes, scope.Description())
		}
		limits := choice.Limits()
		notice.Space, notice.SomeForms, notice.Ends = choice.Space.Name, limits.SomeForms, limits.Ends
		for i, f := range choice.Forms {
			if i == maxFormsInNotice {
				notice.MoreForms = len(choice.Forms) - i
				break
			}
			notice.Forms = append(notice.Forms, f.Title)
		}
		return pages.Mails.ToUser(*req.User, notice)
	}
}

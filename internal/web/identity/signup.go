package identity

import (
	"net/http"

	"formulary/internal/account"
	"formulary/internal/fault"
	"formulary/internal/id"
	"formulary/internal/limit"
	"formulary/internal/web/page"
)

// signUpPage creates an account; the setup link creates the first one.
type signUpPage struct {
	page.Layout
	Action string
	Link   string // secret of the setup link
	Email  string
	Name   string
	First  bool // the first account, which becomes the administrator
	Next   string
}

var errClosed = fault.New(fault.UnknownPath, "Sign-up is closed. Ask your administrator for an account.")

// maySignUp returns an error unless visitors can create an account. The first account is
// the administrator's and needs the setup link.
func (pages *Pages) maySignUp(req *page.Request) error {
	if !pages.SignupOpen {
		return errClosed
	}
	hasUsers, err := pages.Store.HasUsers(req.Context())
	if err == nil && !hasUsers {
		return fault.New(fault.UnknownPath, "Formulary isn’t set up yet. Your administrator has the setup link.")
	}
	return err
}

// ShowSignUp shows the sign-up page.
func (pages *Pages) ShowSignUp(req *page.Request) error {
	if err := pages.maySignUp(req); err != nil {
		return err
	}
	return pages.templates.Render(req, http.StatusOK, "signup", newSignUpPage(req.URL.Query().Get("next")))
}

// SignUp creates an account for a visitor.
func (pages *Pages) SignUp(req *page.Request) error {
	if err := pages.maySignUp(req); err != nil {
		return err
	}
	if _, wait, ok := pages.AddressAttempts.Allow(limit.ClientNetwork(pages.Address(req.Request))); !ok {
		return fault.TooManyRequests(limit.RetryAfterSeconds(wait))
	}
	return pages.register(req, newSignUpPage(req.Field("next")), func(user account.User) (account.User, error) {
		return pages.signUp(req, user)
	})
}

// signUp adds a user, and asks for the confirmation of the address.
func (pages *Pages) signUp(req *page.Request, user account.User) (account.User, error) {
	// The user can ask for the link later.
	if _, ok := pages.mayMail("confirm", user.Email); !ok || !pages.Mails.CanSeal() {
		return pages.Store.AddUser(req.Context(), user)
	}
	link, err := pages.newEmailLink(user, user.Email)
	if err != nil {
		return user, err
	}
	return pages.Store.SignUp(req.Context(), user, link)
}

func newSignUpPage(next string) *signUpPage {
	return &signUpPage{Layout: page.Layout{TitleKey: "Sign up", Narrow: true}, Action: "/signup", Next: localPath(next)}
}

// ShowSetup shows the page that creates the first account.
func (pages *Pages) ShowSetup(req *page.Request) error {
	link := req.URL.Query().Get("token")
	if err := pages.Store.CheckSetupLink(req.Context(), link, pages.Now()); err != nil {
		return err
	}
	return pages.templates.Render(req, http.StatusOK, "signup", newSetupPage(link))
}

func newSetupPage(link string) *signUpPage {
	return &signUpPage{Layout: page.Layout{TitleKey: "Set up Formulary", Narrow: true}, Action: "/setup", Link: link, First: true, Next: "/"}
}

// Setup creates the first account.
func (pages *Pages) Setup(req *page.Request) error {
	link := req.Field("token")
	if err := pages.Store.CheckSetupLink(req.Context(), link, pages.Now()); err != nil {
		return err
	}
	return pages.register(req, newSetupPage(link), func(user account.User) (account.User, error) {
		return pages.Store.CreateFirstUser(req.Context(), link, user, pages.Now())
	})
}

// register validates the profile of a new user, adds the user and signs in.
func (pages *Pages) register(req *page.Request, p *signUpPage, add func(account.User) (account.User, error)) error {
	p.Email, p.Name = req.Field("email"), req.Field("name")
	p.Problems = page.Problems{}
	email, err := account.ParseEmail(p.Email)
	if err != nil {
		p.Problems["email"] = fault.MessageOf(err)
	}
	name, err := account.ParseName(p.Name)
	if err != nil {
		p.Problems["name"] = fault.MessageOf(err)
	}
	password := req.Field("password")
	if err := account.CheckPassword(password, p.Email, p.Name); err != nil {
		p.Problems["password"] = fault.MessageOf(err)
	}
	if len(p.Problems) > 0 {
		return pages.templates.Render(req, http.StatusUnprocessableEntity, "signup", p)
	}
	hash, err := pages.Hasher.Hash(req.Context(), password)
	if err != nil {
		return err
	}
	// From the browser; users can change it in their account.
	zone := req.Field("time_zone")
	if !page.IsZone(zone) {
		zone = ""
	}
	now := pages.Now()
	user, err := add(account.User{
		ID: id.New(id.User, now), Email: email, Name: name,
		Language: req.PreferredLanguage(), TimeZone: zone, Password: hash, CreatedAt: now,
	})
	if err != nil {
		if p.Problems, err = page.NewProblems(err); err != nil {
			return err
		}
		return pages.templates.Render(req, http.StatusUnprocessableEntity, "signup", p)
	}
	if err := pages.startSession(req, user, nil); err != nil {
		return err
	}
	return req.Redirect(p.Next)
}

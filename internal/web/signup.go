package web

import (
	"net/http"

	"formulary/internal/account"
	"formulary/internal/fault"
	"formulary/internal/id"
	"formulary/internal/limit"
)

// signupPage serves signing up and the set-up of the first account.
type signupPage struct {
	layout
	Action string
	Link   string // the set-up link's secret
	Email  string
	Name   string
	First  bool
	Next   string
}

var errClosed = fault.New(fault.UnknownPath, "Sign-up is closed. Ask your administrator for an account.")

// maySignUp says whether strangers can make an account. The first is the
// operator's, by the set-up link.
func (web *Handler) maySignUp(v *pageRequest) error {
	if !web.SignupOpen {
		return errClosed
	}
	some, err := web.Store.HasUsers(v.ctx())
	if err == nil && !some {
		return fault.New(fault.UnknownPath, "Formulary isn’t set up yet. Your administrator has the setup link.")
	}
	return err
}

func (web *Handler) showSignup(v *pageRequest) error {
	if err := web.maySignUp(v); err != nil {
		return err
	}
	p := newSignup(v.r.URL.Query().Get("next"))
	return web.render(v, http.StatusOK, "signup", p)
}

func (web *Handler) signup(v *pageRequest) error {
	if err := web.maySignUp(v); err != nil {
		return err
	}
	if _, wait, ok := web.AddressAttempts.Allow(limit.ClientNetwork(web.Address(v.r))); !ok {
		return fault.TooManyRequests(limit.RetryAfterSeconds(wait))
	}
	return web.register(v, newSignup(v.field("next")), func(person account.User) (account.User, error) {
		return web.Store.AddUser(v.ctx(), person)
	})
}

func newSignup(next string) *signupPage {
	return &signupPage{layout: layout{title: "Sign up", Narrow: true}, Action: "/signup", Next: localPath(next)}
}

func (web *Handler) showSetup(v *pageRequest) error {
	link := v.r.URL.Query().Get("token")
	if err := web.Store.CheckSetupLink(v.ctx(), link, web.Now()); err != nil {
		return err
	}
	return web.render(v, http.StatusOK, "signup", setupPage(link))
}

func setupPage(link string) *signupPage {
	return &signupPage{layout: layout{title: "Set up Formulary", Narrow: true}, Action: "/setup", Link: link, First: true, Next: "/"}
}

func (web *Handler) setup(v *pageRequest) error {
	link := v.field("token")
	if err := web.Store.CheckSetupLink(v.ctx(), link, web.Now()); err != nil {
		return err
	}
	return web.register(v, setupPage(link), func(person account.User) (account.User, error) {
		return web.Store.CreateFirstUser(v.ctx(), link, person, web.Now())
	})
}

// register checks what a new person tells, adds them and signs them in.
func (web *Handler) register(v *pageRequest, p *signupPage, add func(account.User) (account.User, error)) error {
	p.Email, p.Name = v.field("email"), v.field("name")
	p.problems = problems{}
	email, err := account.ParseEmail(p.Email)
	if err != nil {
		p.problems["email"] = fault.MessageOf(err)
	}
	name, err := account.ParseName(p.Name)
	if err != nil {
		p.problems["name"] = fault.MessageOf(err)
	}
	password := v.field("password")
	if err := account.CheckPassword(password, p.Email, p.Name); err != nil {
		p.problems["password"] = fault.MessageOf(err)
	}
	if len(p.problems) > 0 {
		return web.render(v, http.StatusUnprocessableEntity, "signup", p)
	}
	hash, err := web.Hasher.Hash(v.ctx(), password)
	if err != nil {
		return err
	}
	// The browser says where it is; whoever is elsewhere can change it.
	zone := v.field("time_zone")
	if !isZone(zone) {
		zone = ""
	}
	now := web.Now()
	person, err := add(account.User{
		ID: id.New(id.User, now), Email: email, Name: name,
		Language: web.viewerLanguage(v), TimeZone: zone, Password: hash, CreatedAt: now,
	})
	if err != nil {
		if p.problems, err = newProblems(err); err != nil {
			return err
		}
		return web.render(v, http.StatusUnprocessableEntity, "signup", p)
	}
	if err := web.signIn(v, person); err != nil {
		return err
	}
	return web.redirect(v, p.Next)
}

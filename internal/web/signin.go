package web

import (
	"errors"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"formulary/internal/account"
	"formulary/internal/fault"
	"formulary/internal/limit"
)

type signinPage struct {
	layout
	Next       string
	Email      string
	SignupOpen bool
}

// localPath keeps a way back inside the service: nothing that a browser could
// read as another host.
func localPath(next string) string {
	if !strings.HasPrefix(next, "/") || strings.HasPrefix(next, "//") || strings.ContainsAny(next, "\\\r\n\t") {
		return "/"
	}
	u, err := url.Parse(next)
	if err != nil || u.IsAbs() || u.Host != "" || u.User != nil {
		return "/"
	}
	return next
}

func (web *Web) signinForm(next string) *signinPage {
	p := &signinPage{layout: layout{title: "Sign in", Narrow: true}, Next: localPath(next), SignupOpen: web.SignupOpen}
	return p
}

func (web *Web) showSignin(v *visit) error {
	next := v.r.URL.Query().Get("next")
	if v.person != nil {
		return web.redirect(v, localPath(next))
	}
	some, err := web.Store.Anybody(v.ctx())
	if err != nil {
		return err
	}
	p := web.signinForm(next)
	if !some {
		p.notice = "There is no account yet. Open the set-up link that the server printed when it started."
	}
	return web.render(v, http.StatusOK, "signin", p)
}

func (web *Web) signin(v *visit) error {
	email, password := v.field("email"), v.field("password")
	next := localPath(v.field("next"))
	address := limit.Network(web.Address(v.r))
	key := account.EmailKey(strings.ToValidUTF8(strings.TrimSpace(email), ""))
	if err := web.mayGuess(address, key); err != nil {
		return err
	}
	person, err := web.Store.PersonByEmail(v.ctx(), strings.TrimSpace(email))
	if err != nil && !errors.Is(err, fault.NotFound) {
		return err
	}
	// For an address that nobody has, the work is the same.
	right, err := web.Hasher.Verify(v.ctx(), person.Password, password)
	if err != nil {
		return err
	}
	if !right || person.Disabled {
		p := web.signinForm(next)
		p.Email = email
		p.Errors = problems{"email": "The address or the password is not right."}
		return web.render(v, http.StatusUnauthorized, "signin", p)
	}
	web.guessedRight(address, key)
	if err := web.signIn(v, person); err != nil {
		return err
	}
	return web.redirect(v, next)
}

func (web *Web) signout(v *visit) error {
	if v.person != nil {
		if err := web.Store.EndSession(v.ctx(), v.person.ID, v.session.ID); err != nil && !errors.Is(err, fault.NotFound) {
			return err
		}
	}
	web.setCookie(v, "", 0)
	if next := localPath(v.field("next")); next != "/" {
		return web.redirect(v, "/signin?next="+url.QueryEscape(next))
	}
	return web.redirect(v, "/signin")
}

// confirm checks the password of the person who is signed in, before what must
// not happen at an unattended screen.
func (web *Web) confirm(v *visit, password string) (bool, error) {
	address, key := limit.Network(web.Address(v.r)), account.EmailKey(v.person.Email)
	if err := web.mayGuess(address, key); err != nil {
		return false, err
	}
	right, err := web.Hasher.Verify(v.ctx(), v.person.Password, password)
	if right {
		web.guessedRight(address, key)
	}
	return right, err
}

// mayGuess counts an attempt at a password, before the work of checking it: many
// at once count as many. A right one is given back.
func (web *Web) mayGuess(address netip.Addr, emailKey string) error {
	if _, wait, ok := web.AddressGuesses.Take(address); !ok {
		return fault.TooManyRequests(limit.Seconds(wait))
	}
	if _, wait, ok := web.AccountGuesses.Take(guessed(emailKey)); !ok {
		return fault.TooManyRequests(limit.Seconds(wait))
	}
	return nil
}

func (web *Web) guessedRight(address netip.Addr, emailKey string) {
	web.AddressGuesses.Return(address)
	web.AccountGuesses.Return(guessed(emailKey))
}

// guessed names an account in the count of guesses, in bounded space.
func guessed(emailKey string) string { return account.Hash(emailKey) }

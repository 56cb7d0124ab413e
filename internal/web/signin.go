package web

import (
	"context"
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

func (web *Handler) signinForm(next string) *signinPage {
	p := &signinPage{layout: layout{title: "Sign in", Narrow: true}, Next: localPath(next), SignupOpen: web.SignupOpen}
	return p
}

func (web *Handler) showSignin(v *pageRequest) error {
	next := v.r.URL.Query().Get("next")
	if v.user != nil {
		return web.redirect(v, localPath(next))
	}
	some, err := web.Store.HasUsers(v.ctx())
	if err != nil {
		return err
	}
	p := web.signinForm(next)
	if !some {
		p.notice = "Formulary isn’t set up yet. Open the setup link in the server log to create the first account."
	}
	return web.render(v, http.StatusOK, "signin", p)
}

func (web *Handler) signin(v *pageRequest) error {
	email, password := v.field("email"), v.field("password")
	next := localPath(v.field("next"))
	person, err := web.Store.UserByEmail(v.ctx(), strings.TrimSpace(email))
	if err != nil && !errors.Is(err, fault.NotFound) {
		return err
	}
	try, err := web.attemptSignin(v, email, person.ID)
	if err != nil {
		return err
	}
	// For an address that nobody has, the work is the same.
	right, err := web.Hasher.Verify(v.ctx(), person.Password, password)
	if err != nil {
		return err
	}
	if !right || person.Disabled {
		if err := try.fail(v.ctx()); err != nil {
			return err
		}
		p := web.signinForm(next)
		p.Email = email
		p.problems = problems{"email": fault.Messagef("The email address or password is incorrect.")}
		return web.render(v, http.StatusUnauthorized, "signin", p)
	}
	try.succeed()
	if err := web.signIn(v, person); err != nil {
		return err
	}
	return web.redirect(v, next)
}

func (web *Handler) signout(v *pageRequest) error {
	if v.user != nil {
		if err := web.Store.EndSession(v.ctx(), v.user.ID, v.session.ID); err != nil && !errors.Is(err, fault.NotFound) {
			return err
		}
	}
	web.setCookie(v, "", 0)
	if next := localPath(v.field("next")); next != "/" {
		return web.redirect(v, "/signin?next="+url.QueryEscape(next))
	}
	return web.redirect(v, "/signin")
}

// confirmPassword checks the password of the person who is signed in, before what must
// not happen at an unattended screen. A session has an allowance of its own.
func (web *Handler) confirmPassword(v *pageRequest, password string) (bool, error) {
	try, err := web.attempt("session/"+v.user.ID+"/"+v.session.ID, netip.Addr{})
	if err != nil {
		return false, err
	}
	right, err := web.Hasher.Verify(v.ctx(), v.user.Password, password)
	if err != nil {
		return false, err
	}
	if !right {
		return false, try.fail(v.ctx())
	}
	try.succeed()
	return true, nil
}

// attempt is one guess at a password. It is counted before the work of checking it, so
// many at once count as many.
type attempt struct {
	web     *Handler
	guessed string     // what counts together: an account's strangers, a device, a session
	address netip.Addr // zero: addresses do not count
}

// attemptSignin counts a guess at the password of an account. Strangers share the
// allowance of the account and that of their address. A device in which the person
// has signed in before has its own, so nobody else can use that up.
func (web *Handler) attemptSignin(v *pageRequest, email, owner string) (attempt, error) {
	if owner != "" {
		_, key, known, err := web.knownDevice(v, owner)
		if err != nil {
			return attempt{}, err
		}
		if known {
			return web.attempt("device/"+key.Account+"/"+key.ID, netip.Addr{})
		}
	}
	key := account.EmailKey(strings.ToValidUTF8(strings.TrimSpace(email), ""))
	return web.attempt(key, limit.ClientNetwork(web.Address(v.r)))
}

func (web *Handler) attempt(guessed string, address netip.Addr) (attempt, error) {
	try := attempt{web, account.Hash(guessed), address} // hashed: in bounded space
	if address.IsValid() {
		if _, wait, ok := web.AddressAttempts.Allow(address); !ok {
			return try, fault.TooManyRequests(limit.RetryAfterSeconds(wait))
		}
	}
	if _, wait, ok := web.AccountAttempts.Allow(try.guessed); !ok {
		return try, fault.TooManyRequests(limit.RetryAfterSeconds(wait))
	}
	return try, nil
}

// succeed gives the attempt back.
func (a attempt) succeed() {
	a.web.AccountAttempts.Refund(a.guessed)
	if a.address.IsValid() {
		a.web.AddressAttempts.Refund(a.address)
	}
}

// fail makes the attempt count across restarts; call it before answering.
func (a attempt) fail(ctx context.Context) error {
	if err := a.web.AccountAttempts.Record(ctx, a.guessed); err != nil || !a.address.IsValid() {
		return err
	}
	return a.web.AddressAttempts.Record(ctx, a.address)
}

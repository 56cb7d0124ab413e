package web

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"formulary/internal/account"
	"formulary/internal/fault"
)

// sessionStep is how exactly a session's last use is kept.
const sessionStep = 5 * time.Minute

// cookieName has the __Host- prefix on https, which keeps other hosts of the
// same domain from setting it.
func (web *Web) cookieName() string {
	if web.Secure {
		return "__Host-formulary"
	}
	return "formulary"
}

func (web *Web) setCookie(v *visit, value string, lives time.Duration) {
	c := &http.Cookie{
		Name: web.cookieName(), Value: value, Path: "/",
		HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: web.Secure,
		MaxAge: int(lives / time.Second),
	}
	if lives <= 0 {
		c.MaxAge = -1
	}
	http.SetCookie(v.w, c)
}

// recognise finds out who is visiting.
func (web *Web) recognise(v *visit) error {
	cookie, err := v.r.Cookie(web.cookieName())
	if err != nil {
		return nil
	}
	key, ok := account.ParseKey(account.SessionKey, cookie.Value)
	if !ok {
		return nil
	}
	session, person, err := web.Store.Session(v.ctx(), key)
	if errors.Is(err, fault.NotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	now := web.Now()
	if person.Disabled || !session.Alive(now) {
		return nil
	}
	if now.Sub(session.UsedAt) > sessionStep {
		if err := web.Store.TouchSession(v.ctx(), session.Account, session.ID, now); err != nil && fault.From(err).Code != fault.DatabaseUnreachable {
			return err
		}
	}
	v.person, v.session = &person, session
	return nil
}

// signIn starts a session under a new id and ends the one before it.
func (web *Web) signIn(v *visit, person account.Person) error {
	now := web.Now()
	if v.person != nil {
		if err := web.Store.EndSession(v.ctx(), v.session.Account, v.session.ID); err != nil && !errors.Is(err, fault.NotFound) {
			return err
		}
	}
	secret := account.Mint(account.SessionKey, person.ID, now)
	agent := v.r.UserAgent()
	if len(agent) > 300 {
		agent = agent[:300]
	}
	agent = strings.ToValidUTF8(agent, "")
	if !account.CleanLine(agent) {
		agent = ""
	}
	if err := web.Store.AddSession(v.ctx(), secret, web.Address(v.r).String(), agent, now); err != nil {
		return err
	}
	web.setCookie(v, secret.Text, account.SessionAbsolute)
	return nil
}

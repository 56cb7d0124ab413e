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

// deviceCookie is the cookie by which a browser is known after sign-out. It opens
// nothing: it only gives wrong passwords an allowance apart from strangers'.
func (web *Web) deviceCookie() string { return web.cookieName() + "-device" }

func (web *Web) setCookie(v *visit, value string, lives time.Duration) {
	web.set(v, web.cookieName(), value, lives)
}

func (web *Web) set(v *visit, name, value string, lives time.Duration) {
	c := &http.Cookie{
		Name: name, Value: value, Path: "/",
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
	return web.keepDevice(v, person.ID)
}

// maxDeviceKeys is for how many accounts one browser is known.
const maxDeviceKeys = 5

// deviceKeys are the keys in the device cookie, one per account, newest first.
func (web *Web) deviceKeys(v *visit) []string {
	cookie, err := v.r.Cookie(web.deviceCookie())
	if err != nil {
		return nil
	}
	keys := strings.SplitN(cookie.Value, ".", maxDeviceKeys+1)
	return keys[:min(len(keys), maxDeviceKeys)]
}

// knownDevice returns the key by which this browser is known to the account.
func (web *Web) knownDevice(v *visit, owner string) (text string, key account.Key, known bool, err error) {
	for _, text := range web.deviceKeys(v) {
		if key, ok := account.ParseKey(account.DeviceKey, text); ok && key.Account == owner {
			known, err := web.Store.KnowsDevice(v.ctx(), key, web.Now())
			return text, key, known, err
		}
	}
	return "", account.Key{}, false, nil
}

// keepDevice makes this browser known to an account, or keeps it known.
func (web *Web) keepDevice(v *visit, owner string) error {
	text, key, known, err := web.knownDevice(v, owner)
	if err != nil {
		return err
	}
	if !known {
		secret := account.Mint(account.DeviceKey, owner, web.Now())
		text, key = secret.Text, secret.Key()
	}
	if err := web.Store.KeepDevice(v.ctx(), key, web.Now()); err != nil {
		return err
	}
	keys := []string{text}
	for _, other := range web.deviceKeys(v) {
		if k, ok := account.ParseKey(account.DeviceKey, other); ok && k.Account != owner && len(keys) < maxDeviceKeys {
			keys = append(keys, other)
		}
	}
	web.set(v, web.deviceCookie(), strings.Join(keys, "."), account.DeviceIdle)
	return nil
}

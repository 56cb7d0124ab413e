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
func (web *Handler) cookieName() string {
	if web.Secure {
		return "__Host-formulary"
	}
	return "formulary"
}

// deviceCookie is the cookie by which a browser is known after sign-out. It opens
// nothing: it only gives wrong passwords an allowance apart from strangers'.
func (web *Handler) deviceCookie() string { return web.cookieName() + "-device" }

func (web *Handler) setCookie(v *pageRequest, value string, lives time.Duration) {
	web.setNamedCookie(v, web.cookieName(), value, lives)
}

func (web *Handler) setNamedCookie(v *pageRequest, name, value string, lives time.Duration) {
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

// loadSession finds out who is visiting.
func (web *Handler) loadSession(v *pageRequest) error {
	cookie, err := v.r.Cookie(web.cookieName())
	if err != nil {
		return nil
	}
	key, ok := account.ParseSecret(account.SessionKey, cookie.Value)
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
	if person.Disabled || !session.IsLive(now) {
		return nil
	}
	if now.Sub(session.UsedAt) > sessionStep {
		if err := web.Store.MarkSessionUsed(v.ctx(), session.Account, session.ID, now); err != nil && fault.Wrap(err).Code != fault.DatabaseUnreachable {
			return err
		}
	}
	v.user, v.session = &person, session
	return nil
}

// signIn starts a session under a new id and ends the one before it.
func (web *Handler) signIn(v *pageRequest, person account.User) error {
	now := web.Now()
	if v.user != nil {
		if err := web.Store.EndSession(v.ctx(), v.session.Account, v.session.ID); err != nil && !errors.Is(err, fault.NotFound) {
			return err
		}
	}
	secret := account.NewSecret(account.SessionKey, person.ID, now)
	agent := v.r.UserAgent()
	if len(agent) > 300 {
		agent = agent[:300]
	}
	agent = strings.ToValidUTF8(agent, "")
	if !account.IsSingleLine(agent) {
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
func (web *Handler) deviceKeys(v *pageRequest) []string {
	cookie, err := v.r.Cookie(web.deviceCookie())
	if err != nil {
		return nil
	}
	keys := strings.SplitN(cookie.Value, ".", maxDeviceKeys+1)
	return keys[:min(len(keys), maxDeviceKeys)]
}

// knownDevice returns the key by which this browser is known to the account.
func (web *Handler) knownDevice(v *pageRequest, owner string) (text string, key account.SecretRef, known bool, err error) {
	for _, text := range web.deviceKeys(v) {
		if key, ok := account.ParseSecret(account.DeviceKey, text); ok && key.Account == owner {
			known, err := web.Store.KnowsDevice(v.ctx(), key, web.Now())
			return text, key, known, err
		}
	}
	return "", account.SecretRef{}, false, nil
}

// keepDevice makes this browser known to an account, or keeps it known.
func (web *Handler) keepDevice(v *pageRequest, owner string) error {
	text, key, known, err := web.knownDevice(v, owner)
	if err != nil {
		return err
	}
	if !known {
		secret := account.NewSecret(account.DeviceKey, owner, web.Now())
		text, key = secret.Text, secret.Ref()
	}
	if err := web.Store.KeepDevice(v.ctx(), key, web.Now()); err != nil {
		return err
	}
	keys := []string{text}
	for _, other := range web.deviceKeys(v) {
		if k, ok := account.ParseSecret(account.DeviceKey, other); ok && k.Account != owner && len(keys) < maxDeviceKeys {
			keys = append(keys, other)
		}
	}
	web.setNamedCookie(v, web.deviceCookie(), strings.Join(keys, "."), account.DeviceIdle)
	return nil
}

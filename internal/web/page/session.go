package page

import (
	"errors"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"formulary/internal/account"
	"formulary/internal/fault"
	"formulary/internal/store"
)

// Sessions are signed-in browsers. A cookie has the secret of the session.
type Sessions struct {
	Store   *store.Store
	Secure  bool // people reach the service over HTTPS
	Now     func() time.Time
	Address func(*http.Request) netip.Addr
}

// usePrecision is how exactly the last use of a session is stored; it spares a write for
// each request.
const usePrecision = 5 * time.Minute

// CookieName has the __Host- prefix on HTTPS, which keeps other hosts of the same domain
// from setting the cookie.
func (s *Sessions) CookieName() string {
	if s.Secure {
		return "__Host-formulary"
	}
	return "formulary"
}

// TourCookie is the cookie of a browser in which the tour of the first form has started.
const TourCookie = "formulary-tour"

// SpaceCookie is the cookie with the ID of the space that the user has switched to. It gives no
// access by itself.
const SpaceCookie = "formulary-space"

// SetCookie sets a cookie that scripts and other sites cannot read; without a lifetime it
// deletes the cookie.
func (s *Sessions) SetCookie(req *Request, name, value string, lifetime time.Duration) {
	c := &http.Cookie{
		Name: name, Value: value, Path: "/",
		HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: s.Secure,
		MaxAge: int(lifetime / time.Second),
	}
	if lifetime <= 0 {
		c.MaxAge = -1
	}
	http.SetCookie(req.W, c)
}

// Load sets the user and the session of the request, if its cookie belongs to a live
// session.
func (s *Sessions) Load(req *Request) error {
	cookie, err := req.Cookie(s.CookieName())
	if err != nil {
		return nil
	}
	key, ok := account.ParseSecret(account.SessionKey, cookie.Value)
	if !ok {
		return nil
	}
	session, user, err := s.Store.Session(req.Context(), key)
	if errors.Is(err, fault.NotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	now := s.Now()
	if user.Disabled || !session.IsLive(now) {
		return nil
	}
	if now.Sub(session.UsedAt) > usePrecision {
		if err := s.Store.MarkSessionUsed(req.Context(), session.Account, session.ID, now); err != nil && fault.Wrap(err).Code != fault.DatabaseUnreachable {
			return err
		}
	}
	req.User, req.Session = &user, session
	return nil
}

// maxUserAgent is how many bytes of the browser's name are stored.
const maxUserAgent = 300

// Start signs a user in: it starts a new session, with mails about it, and ends the one that
// the browser had.
func (s *Sessions) Start(req *Request, user account.User, mails []store.Mail) error {
	now := s.Now()
	if err := s.endCurrent(req); err != nil {
		return err
	}
	secret := account.NewSecret(account.SessionKey, user.ID, now)
	agent := req.UserAgent()
	if len(agent) > maxUserAgent {
		agent = agent[:maxUserAgent]
	}
	agent = strings.ToValidUTF8(agent, "")
	if !account.IsSingleLine(agent) {
		agent = ""
	}
	if err := s.Store.AddSession(req.Context(), store.NewSession{Secret: secret, Address: s.Address(req.Request).String(), Agent: agent, Mails: mails}, now); err != nil {
		return err
	}
	s.SetCookie(req, s.CookieName(), secret.Text, account.SessionAbsolute)
	return nil
}

// End signs the user out.
func (s *Sessions) End(req *Request) error {
	if err := s.endCurrent(req); err != nil {
		return err
	}
	s.ClearCookie(req)
	return nil
}

// ClearCookie deletes the cookie of a session that no longer exists.
func (s *Sessions) ClearCookie(req *Request) { s.SetCookie(req, s.CookieName(), "", 0) }

func (s *Sessions) endCurrent(req *Request) error {
	if req.User == nil {
		return nil
	}
	err := s.Store.EndSession(req.Context(), req.Session.Account, req.Session.ID)
	if errors.Is(err, fault.NotFound) {
		return nil
	}
	return err
}

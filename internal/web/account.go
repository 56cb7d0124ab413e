package web

import (
	"net/http"
	"strings"

	"formulary/internal/account"
	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/store"
)

// accountPage is what a person can say and change about themselves.
type accountPage struct {
	layout
	Name     string
	Language string
	Tongues  [][2]string // tags and names, to choose from
	TimeZone string
	Zones    []string // to choose from
	Email    string
	Sessions []account.Session
	Current  string
	Usage    store.Usage
	Quotas   store.Quotas
}

// Bytes writes an amount of storage in the reader's language.
func (p *accountPage) Bytes(n int64) string {
	return strings.Replace(store.FormatBytes(n), ".", p.T("."), 1)
}

// commonZones are offered; any other of the IANA database can be written.
var commonZones = []string{
	"UTC", "Europe/London", "Europe/Lisbon", "Europe/Berlin", "Europe/Paris", "Europe/Madrid", "Europe/Vienna", "Europe/Zurich", "Europe/Istanbul",
	"Africa/Cairo", "Asia/Riyadh", "Asia/Dubai", "Asia/Kolkata", "Asia/Shanghai", "Asia/Tokyo", "Australia/Sydney",
	"America/New_York", "America/Chicago", "America/Denver", "America/Los_Angeles", "America/Mexico_City", "America/Bogota", "America/Sao_Paulo",
}

var accountNotices = map[string]string{
	"profile":  "Profile saved.",
	"email":    "Email address changed.",
	"password": "Password changed. You have been signed out of all other sessions.",
	"apps":     "Password changed. You have been signed out of all other sessions, and all apps were disconnected.",
	"session":  "Signed out of that session.",
	"sessions": "Signed out of all other sessions.",
}

func (web *Handler) accountPage(v *pageRequest) (*accountPage, error) {
	sessions, err := web.Store.Sessions(v.ctx(), v.user.ID)
	p := &accountPage{
		layout: layout{title: "Account", Here: "account"},
		Name:   v.user.Name, Language: v.user.Language, Tongues: formLanguages, TimeZone: v.user.TimeZone, Zones: commonZones, Email: v.user.Email, Current: v.session.ID,
	}
	for _, s := range sessions {
		if s.IsLive(web.Now()) {
			p.Sessions = append(p.Sessions, s)
		}
	}
	if err != nil {
		return p, err
	}
	p.Quotas = web.Store.Quotas()
	p.Usage, err = web.Store.Usage(v.ctx(), v.user.ID)
	return p, err
}

func (web *Handler) showAccount(v *pageRequest) error {
	p, err := web.accountPage(v)
	if err != nil {
		return err
	}
	p.notice = accountNotices[v.r.URL.Query().Get("saved")]
	return web.render(v, http.StatusOK, "account", p)
}

// accountProblem shows the account page again with what is wrong.
func (web *Handler) accountProblem(v *pageRequest, fill func(*accountPage), list problems) error {
	p, err := web.accountPage(v)
	if err != nil {
		return err
	}
	if fill != nil {
		fill(p)
	}
	p.problems = list
	return web.render(v, http.StatusUnprocessableEntity, "account", p)
}

func (web *Handler) changeProfile(v *pageRequest) error {
	list := problems{}
	name, err := account.ParseName(v.field("name"))
	if err != nil {
		list["name"] = fault.MessageOf(err)
	}
	language, ok := form.ParseLanguage(v.field("language"))
	if !ok {
		list["language"] = fault.Messagef("enter a valid language tag, such as en or pt-BR")
	}
	zone := strings.TrimSpace(v.field("time_zone"))
	if !isZone(zone) {
		list["time_zone"] = fault.Messagef("enter a valid time zone, such as Europe/Berlin")
	}
	if len(list) > 0 {
		return web.accountProblem(v, func(p *accountPage) {
			p.Name, p.Language, p.TimeZone = v.field("name"), v.field("language"), v.field("time_zone")
		}, list)
	}
	if err := web.Store.SetProfile(v.ctx(), v.user.ID, name, language, zone); err != nil {
		return err
	}
	return web.redirect(v, "/account?saved=profile")
}

var wrongPassword = fault.Messagef("The password is incorrect.")

func (web *Handler) changeEmail(v *pageRequest) error {
	fill := func(p *accountPage) { p.Email = v.field("email") }
	email, err := account.ParseEmail(v.field("email"))
	if err != nil {
		return web.accountProblem(v, fill, problems{"email": fault.MessageOf(err)})
	}
	right, err := web.confirmPassword(v, v.field("current"))
	if err != nil {
		return err
	}
	if !right {
		return web.accountProblem(v, fill, problems{"email-current": wrongPassword})
	}
	if err := web.Store.SetEmail(v.ctx(), v.user.ID, email); err != nil {
		list, err := newProblems(err)
		if err != nil {
			return err
		}
		return web.accountProblem(v, fill, list)
	}
	return web.redirect(v, "/account?saved=email")
}

// changePasswordAddress is for password managers, which look for the page at this
// well-known address.
func (web *Handler) changePasswordAddress(v *pageRequest) error {
	return web.redirect(v, "/account#password")
}

func (web *Handler) changePassword(v *pageRequest) error {
	right, err := web.confirmPassword(v, v.field("current"))
	if err != nil {
		return err
	}
	if !right {
		return web.accountProblem(v, nil, problems{"password-current": wrongPassword})
	}
	password := v.field("password")
	if err := account.CheckPassword(password, v.user.Email, v.user.Name); err != nil {
		return web.accountProblem(v, nil, problems{"password": fault.MessageOf(err)})
	}
	hash, err := web.Hasher.Hash(v.ctx(), password)
	if err != nil {
		return err
	}
	_, device, _, err := web.knownDevice(v, v.user.ID)
	if err != nil {
		return err
	}
	change := store.PasswordChange{
		Owner: v.user.ID, Hash: hash, KeepSession: v.session.ID, KeepDevice: device.ID, KeepGrants: v.field("disconnect") == "",
	}
	if err := web.Store.SetPassword(v.ctx(), change, web.Now()); err != nil {
		return err
	}
	if !change.KeepGrants {
		return web.redirect(v, "/account?saved=apps")
	}
	return web.redirect(v, "/account?saved=password")
}

func (web *Handler) endSession(v *pageRequest) error {
	if err := web.Store.EndSession(v.ctx(), v.user.ID, v.r.PathValue("id")); err != nil {
		return err
	}
	return web.redirect(v, "/account?saved=session")
}

func (web *Handler) endOtherSessions(v *pageRequest) error {
	_, device, _, err := web.knownDevice(v, v.user.ID)
	if err != nil {
		return err
	}
	if err := web.Store.EndOtherSessions(v.ctx(), v.user.ID, v.session.ID, device.ID); err != nil {
		return err
	}
	return web.redirect(v, "/account?saved=sessions")
}

func (web *Handler) deleteAccount(v *pageRequest) error {
	right, err := web.confirmPassword(v, v.field("current"))
	if err != nil {
		return err
	}
	if !right {
		return web.accountProblem(v, nil, problems{"delete-current": wrongPassword})
	}
	if _, err := web.Store.DeleteUser(v.ctx(), v.user.ID, web.Now()); err != nil {
		return err
	}
	web.setCookie(v, "", 0)
	return web.redirect(v, "/signin")
}

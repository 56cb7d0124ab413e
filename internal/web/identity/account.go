package identity

import (
	"net/http"
	"strings"

	"formulary/internal/account"
	"formulary/internal/fault"
	"formulary/internal/mail"
	"formulary/internal/store"
	"formulary/internal/web/page"
)

// accountPage shows and changes the account of the user.
type accountPage struct {
	page.Layout
	Name      string
	Language  string           // as in the suggestions, or a tag
	Languages []languageChoice // suggestions
	TimeZone  string
	Zones     []string // suggestions
	Email     string
	Verified  bool   // the address is confirmed
	Pending   string // address that waits for its confirmation; empty: none does
	MailOn    bool
	CanAsk    bool // mails with links can be stored
	Sessions  []account.Session
	Current   string // ID of this session
	Usage     store.Usage
	Quotas    store.Quotas
}

// SpaceID is the ID of the user's own space.
func (p *accountPage) SpaceID() string { return account.SpaceID(p.User.ID) }

// Bytes formats a size in the language of the user.
func (p *accountPage) Bytes(n int64) string {
	return strings.Replace(store.FormatBytes(n), ".", p.T("."), 1)
}

var accountNotices = map[string]string{
	"profile":   "Profile saved.",
	"email":     "Email address changed.",
	"pending":   "Check your inbox: the new address is used after you confirm it.",
	"sent":      "Link sent.",
	"kept":      "Your email address stays the same.",
	"confirmed": "Email address confirmed.",
	"password":  "Password changed. You have been signed out of all other sessions.",
	"apps":      "Password changed. You have been signed out of all other sessions, all apps were disconnected, and all personal tokens were revoked.",
	"session":   "Signed out of that session.",
	"sessions":  "Signed out of all other sessions.",
}

func (pages *Pages) newAccountPage(req *page.Request) (*accountPage, error) {
	sessions, err := pages.Store.Sessions(req.Context(), req.User.ID)
	if err != nil {
		return nil, err
	}
	p := &accountPage{
		Layout: page.Layout{TitleKey: "Account", Section: "account", Script: "account.js"},
		Name:   req.User.Name, Language: languageName(req.User.Language), Languages: languageChoices(), TimeZone: req.User.TimeZone, Zones: commonZones, Email: req.User.Email, Current: req.Session.ID,
	}
	p.Verified, p.MailOn, p.CanAsk = req.User.IsEmailVerified(), pages.Mails.IsOn(), pages.Mails.CanSeal()
	if p.Pending, err = pages.Store.PendingEmail(req.Context(), req.User.ID, pages.Now()); err != nil {
		return nil, err
	}
	if account.EmailKey(p.Pending) == account.EmailKey(req.User.Email) {
		p.Pending = ""
	}
	for _, s := range sessions {
		if s.IsLive(pages.Now()) {
			p.Sessions = append(p.Sessions, s)
		}
	}
	p.Quotas = pages.Store.Quotas()
	p.Usage, err = pages.Store.Usage(req.Context(), req.User.ID)
	return p, err
}

// ShowAccount shows the account.
func (pages *Pages) ShowAccount(req *page.Request) error {
	p, err := pages.newAccountPage(req)
	if err != nil {
		return err
	}
	p.NoticeKey = accountNotices[req.URL.Query().Get("saved")]
	return pages.templates.Render(req, http.StatusOK, "account", p)
}

// renderAccountProblems shows the account page again with problems; fill restores the
// posted values.
func (pages *Pages) renderAccountProblems(req *page.Request, fill func(*accountPage), list page.Problems) error {
	p, err := pages.newAccountPage(req)
	if err != nil {
		return err
	}
	if fill != nil {
		fill(p)
	}
	p.Problems = list
	return pages.templates.Render(req, http.StatusUnprocessableEntity, "account", p)
}

// ChangeProfile saves name, language and time zone.
func (pages *Pages) ChangeProfile(req *page.Request) error {
	list := page.Problems{}
	name, err := account.ParseName(req.Field("name"))
	if err != nil {
		list["name"] = fault.MessageOf(err)
	}
	language, ok := findLanguage(req.Field("language"))
	if !ok {
		list["language"] = fault.Messagef("enter a valid language tag, such as en or pt-BR")
	}
	zone, ok := findZone(req.Field("time_zone"))
	if !ok {
		list["time_zone"] = fault.Messagef("enter a valid time zone, such as Europe/Berlin")
	}
	if len(list) > 0 {
		return pages.renderAccountProblems(req, func(p *accountPage) {
			p.Name, p.Language, p.TimeZone = req.Field("name"), req.Field("language"), req.Field("time_zone")
		}, list)
	}
	if err := pages.Store.SetProfile(req.Context(), req.User.ID, name, language, zone); err != nil {
		return err
	}
	return req.Redirect("/account?saved=profile")
}

var wrongPassword = fault.Messagef("The password is incorrect.")

// ChangePasswordAddress redirects password managers, which use a well-known address, to
// the form that changes the password.
func (pages *Pages) ChangePasswordAddress(req *page.Request) error {
	return req.Redirect("/account#password")
}

// ChangePassword changes the password. It ends all other sessions and, if the user wants
// that, disconnects all apps.
func (pages *Pages) ChangePassword(req *page.Request) error {
	correct, err := pages.confirmPassword(req, req.Field("current"))
	if err != nil {
		return err
	}
	if !correct {
		return pages.renderAccountProblems(req, nil, page.Problems{"password-current": wrongPassword})
	}
	password := req.Field("password")
	if err := account.CheckPassword(password, req.User.Email, req.User.Name); err != nil {
		return pages.renderAccountProblems(req, nil, page.Problems{"password": fault.MessageOf(err)})
	}
	hash, err := pages.Hasher.Hash(req.Context(), password)
	if err != nil {
		return err
	}
	_, device, _, err := pages.knownDevice(req, req.User.ID)
	if err != nil {
		return err
	}
	change := store.PasswordChange{
		Owner: req.User.ID, Hash: hash, KeepSession: req.Session.ID, KeepDevice: device.ID, KeepGrants: req.Field("disconnect") == "",
	}
	if change.Mails, err = pages.Mails.ToUser(*req.User, mail.PasswordChanged{Event: pages.event(req, *req.User)}); err != nil {
		return err
	}
	if err := pages.Store.SetPassword(req.Context(), change, pages.Now()); err != nil {
		return err
	}
	if !change.KeepGrants {
		return req.Redirect("/account?saved=apps")
	}
	return req.Redirect("/account?saved=password")
}

// EndSession ends one session of the user.
func (pages *Pages) EndSession(req *page.Request) error {
	if err := pages.Store.EndSession(req.Context(), req.User.ID, req.PathValue("id")); err != nil {
		return err
	}
	return req.Redirect("/account?saved=session")
}

// EndOtherSessions ends all sessions of the user but this one.
func (pages *Pages) EndOtherSessions(req *page.Request) error {
	_, device, _, err := pages.knownDevice(req, req.User.ID)
	if err != nil {
		return err
	}
	if err := pages.Store.EndOtherSessions(req.Context(), req.User.ID, req.Session.ID, device.ID); err != nil {
		return err
	}
	return req.Redirect("/account?saved=sessions")
}

// DeleteAccount deletes the account and all its data.
func (pages *Pages) DeleteAccount(req *page.Request) error {
	correct, err := pages.confirmPassword(req, req.Field("current"))
	if err != nil {
		return err
	}
	if !correct {
		return pages.renderAccountProblems(req, nil, page.Problems{"delete-current": wrongPassword})
	}
	if _, err := pages.Store.DeleteUser(req.Context(), req.User.ID, pages.Now()); err != nil {
		return err
	}
	pages.Sessions.ClearCookie(req)
	return req.Redirect("/signin")
}

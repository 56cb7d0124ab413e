package identity

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"formulary/internal/account"
	"formulary/internal/web/page"
)

// consentPage asks the user to allow an application access.
type consentPage struct {
	page.Layout
	App            account.Application
	Scopes         account.Scopes
	Host           string // that the browser is redirected to
	ConsentRequest string // secret that the page posts back
	Back           string // address of this page, to use another account

	// Who registered the application: the name that they chose and the domain of their
	// email address. It is enough to recognize a colleague or a company, and not enough
	// to write to them.
	Registrant string
	Domain     string
	Own        bool // the user registered it
	Ours       bool // it is part of the service
}

// registrantOf returns how users see who registered an application. It omits a name that
// imitates another, and escapes such a domain.
func registrantOf(developer account.User) (name, domain string) {
	if account.CheckAppName(developer.Name) == nil {
		name = developer.Name
	}
	_, domain, _ = strings.Cut(developer.Email, "@")
	if account.CheckUnambiguous(domain) != nil {
		domain = strings.Trim(strconv.QuoteToASCII(domain), `"`)
	}
	return name, domain
}

// Authorize checks the request before the user has to sign in, so that the application
// gets its error at once.
func (pages *Pages) Authorize(req *page.Request) error {
	request, refused, err := pages.OAuth.Parse(req.Context(), req.URL.RawQuery)
	if err != nil {
		return err
	}
	if refused != nil {
		return req.Redirect(refused.To)
	}
	if req.User == nil {
		return req.Redirect("/signin?next=" + url.QueryEscape(req.URL.RequestURI()))
	}
	secret, err := pages.OAuth.BeginConsent(req.Context(), req.User.ID, request)
	if err != nil {
		return err
	}
	p := &consentPage{
		Layout: page.Layout{TitleKey: "Allow access", Narrow: true, FormAction: account.RedirectSource(request.RedirectURI)},
		App:    request.App, Scopes: request.Scopes, Host: account.RedirectHost(request.RedirectURI), ConsentRequest: secret, Back: req.URL.RequestURI(),
		Own: request.App.Account == req.User.ID, Ours: request.App.ID == pages.Explorer,
	}
	if !p.Own && !p.Ours {
		developer, err := pages.Store.User(req.Context(), request.App.Account)
		if err != nil {
			return err
		}
		p.Registrant, p.Domain = registrantOf(developer)
	}
	return pages.templates.Render(req, http.StatusOK, "consent", p)
}

// AnswerConsent allows or denies access.
func (pages *Pages) AnswerConsent(req *page.Request) error {
	to, err := pages.OAuth.CompleteConsent(req.Context(), req.User.ID, req.Field("ticket"), req.Field("answer") == "allow", pages.grantNotice(req))
	if err != nil {
		return err
	}
	return req.Redirect(to)
}

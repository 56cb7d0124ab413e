package identity

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"formulary/internal/account"
	"formulary/internal/fault"
	"formulary/internal/oauth"
	"formulary/internal/store"
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
	Limits         limitChoice

	registrant
}

// registrant says who registered an application: the name that they chose and the domain of their
// email address. It is enough to recognize a colleague or a company, and not enough to write to
// them.
type registrant struct {
	Registrant string
	Domain     string
	Own        bool // the user registered it
	Ours       bool // it is part of the service
}

func (pages *Pages) registrantFor(req *page.Request, app account.Application, developer account.User) registrant {
	r := registrant{Own: app.Account == req.User.ID, Ours: app.ID == pages.Explorer}
	if !r.Own && !r.Ours {
		r.Registrant, r.Domain = registrantOf(developer)
	}
	return r
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
	p, err := pages.newConsentPage(req, request, secret)
	if err != nil {
		return err
	}
	p.Back = req.URL.RequestURI()
	if p.Limits, err = pages.consentLimits(req, account.OwnSpace(req.User.ID), store.GrantLimits{}); err != nil {
		return err
	}
	return pages.templates.Render(req, http.StatusOK, "consent", p)
}

func (pages *Pages) newConsentPage(req *page.Request, request oauth.Request, secret string) (*consentPage, error) {
	p := &consentPage{
		Layout: page.Layout{TitleKey: "Allow access", Narrow: true, Style: "grants.css", FormAction: account.RedirectSource(request.RedirectURI)},
		App:    request.App, Scopes: request.Scopes, Host: account.RedirectHost(request.RedirectURI), ConsentRequest: secret,
	}
	var developer account.User
	if request.App.Account != req.User.ID && request.App.ID != pages.Explorer {
		var err error
		if developer, err = pages.Store.User(req.Context(), request.App.Account); err != nil {
			return nil, err
		}
	}
	p.registrant = pages.registrantFor(req, request.App, developer)
	return p, nil
}

func (pages *Pages) consentLimits(req *page.Request, access account.Access, limits store.GrantLimits) (limitChoice, error) {
	c, err := pages.newLimitChoice(req, access, limits)
	if err != nil {
		return c, err
	}
	return c, pages.offerSpaces(req, &c)
}

// AnswerConsent allows or denies access, or shows the page again with other forms to choose from.
func (pages *Pages) AnswerConsent(req *page.Request) error {
	answer := req.Field("answer")
	if answer != "allow" && answer != "show" {
		return pages.completeConsent(req, oauth.Decision{})
	}
	limits, problems, err := pages.readLimits(req)
	if err != nil {
		return err
	}
	if answer == "show" {
		return pages.showConsentAgain(req, http.StatusOK, limits, nil)
	}
	if len(problems) > 0 {
		return pages.showConsentAgain(req, http.StatusUnprocessableEntity, limits, problems)
	}
	if limits.SomeForms && len(limits.Forms) == 0 {
		// Only an application that creates forms can do something without one.
		request, err := pages.OAuth.PendingConsent(req.Context(), req.User.ID, req.Field("ticket"))
		if err != nil {
			return err
		}
		if !request.Scopes.Has(account.FormsWrite) {
			return pages.showConsentAgain(req, http.StatusUnprocessableEntity, limits, page.Problems{"form": errNoForms})
		}
	}
	choice, err := pages.Store.GrantChoice(req.Context(), req.User.ID, limits)
	if err != nil && fault.Wrap(err) == store.ErrForeignForm {
		// The user may have chosen another space after these forms.
		return pages.showConsentAgain(req, http.StatusForbidden, limits, page.Problems{"form": errNoFormHere})
	}
	if err != nil {
		return err
	}
	return pages.completeConsent(req, oauth.Decision{Allow: true, Choice: choice, Notice: pages.grantNotice(req, choice)})
}

func (pages *Pages) completeConsent(req *page.Request, d oauth.Decision) error {
	to, err := pages.OAuth.CompleteConsent(req.Context(), req.User.ID, req.Field("ticket"), d)
	if err != nil {
		return err
	}
	return req.Redirect(to)
}

// showConsentAgain shows the page with what was chosen before. The request stays open.
func (pages *Pages) showConsentAgain(req *page.Request, status int, limits store.GrantLimits, problems page.Problems) error {
	request, err := pages.OAuth.PendingConsent(req.Context(), req.User.ID, req.Field("ticket"))
	if err != nil {
		return err
	}
	access, err := pages.Store.Access(req.Context(), req.User.ID, limits.Space)
	if errors.Is(err, fault.NotFound) {
		return store.ErrForeignSpace
	}
	if err != nil {
		return err
	}
	p, err := pages.newConsentPage(req, request, req.Field("ticket"))
	if err != nil {
		return err
	}
	if p.Limits, err = pages.consentLimits(req, access, limits); err != nil {
		return err
	}
	p.Back, p.Problems, p.Limits.Open = localPath(req.Field("next")), problems, true
	return pages.templates.Render(req, status, "consent", p)
}

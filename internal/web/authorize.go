package web

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"formulary/internal/account"
)

// consentPage asks a person whether an application may act for them.
type consentPage struct {
	layout
	App    account.Application
	Scopes account.Scopes
	Host   string // where the person is sent afterwards
	Ticket string
	Back   string // to this page again, as somebody else

	// Who registered the application. The name is their own choice and the domain is
	// that of their email address: enough to recognise a colleague or a company, and
	// not enough to write to them.
	Registrant string
	Domain     string
	Own        bool // the person who is asked registered it
	Ours       bool // it belongs to the service
}

// describe says who registered the application. A name that imitates
// another is left out, and such a domain is spelled out in ASCII.
func (p *consentPage) describe(owner account.User) {
	if account.CheckAppName(owner.Name) == nil {
		p.Registrant = owner.Name
	}
	_, p.Domain, _ = strings.Cut(owner.Email, "@")
	if account.CheckUnambiguous(p.Domain) != nil {
		p.Domain = strings.Trim(strconv.QuoteToASCII(p.Domain), `"`)
	}
}

// authorize checks the request before anybody has to sign in for it, so that a
// mistake of the application is answered at once.
func (web *Handler) authorize(v *pageRequest) error {
	req, back, err := web.OAuth.Parse(v.ctx(), v.r.URL.RawQuery)
	if err != nil {
		return err
	}
	if back != nil {
		return web.redirect(v, back.To)
	}
	if v.user == nil {
		return web.redirect(v, "/signin?next="+url.QueryEscape(v.r.URL.RequestURI()))
	}
	ticket, err := web.OAuth.BeginConsent(v.ctx(), v.user.ID, req)
	if err != nil {
		return err
	}
	p := &consentPage{
		layout: layout{title: "Allow access", Narrow: true, formAction: account.RedirectSource(req.RedirectURI)},
		App:    req.App, Scopes: req.Scopes, Host: account.RedirectHost(req.RedirectURI), Ticket: ticket, Back: v.r.URL.RequestURI(),
		Own: req.App.Account == v.user.ID, Ours: req.App.ID == web.Explorer,
	}
	if !p.Own && !p.Ours {
		owner, err := web.Store.User(v.ctx(), req.App.Account)
		if err != nil {
			return err
		}
		p.describe(owner)
	}
	return web.render(v, http.StatusOK, "consent", p)
}

func (web *Handler) answerConsent(v *pageRequest) error {
	to, err := web.OAuth.CompleteConsent(v.ctx(), v.user.ID, v.field("ticket"), v.field("answer") == "allow")
	if err != nil {
		return err
	}
	return web.redirect(v, to)
}

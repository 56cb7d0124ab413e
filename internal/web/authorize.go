package web

import (
	"net/http"
	"net/url"

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
}

// authorize checks the request before anybody has to sign in for it, so that a
// mistake of the application is answered at once.
func (web *Web) authorize(v *visit) error {
	req, back, err := web.OAuth.Parse(v.ctx(), v.r.URL.RawQuery)
	if err != nil {
		return err
	}
	if back != nil {
		return web.redirect(v, back.To)
	}
	if v.person == nil {
		return web.redirect(v, "/signin?next="+url.QueryEscape(v.r.URL.RequestURI()))
	}
	ticket, err := web.OAuth.Ask(v.ctx(), v.person.ID, req)
	if err != nil {
		return err
	}
	return web.render(v, http.StatusOK, "consent", &consentPage{
		layout: layout{title: "Allow access", Narrow: true, formAction: account.RedirectSource(req.RedirectURI)},
		App:    req.App, Scopes: req.Scopes, Host: account.RedirectHost(req.RedirectURI), Ticket: ticket, Back: v.r.URL.RequestURI(),
	})
}

func (web *Web) answer(v *visit) error {
	to, err := web.OAuth.Answer(v.ctx(), v.person.ID, v.field("ticket"), v.field("answer") == "allow")
	if err != nil {
		return err
	}
	return web.redirect(v, to)
}

package web

import (
	"net/http"

	"formulary/internal/account"
	"formulary/internal/fault"
)

// resetPage sets a new password with a one-time link.
type resetPage struct {
	layout
	Link  string
	Email string
}

func (web *Handler) showReset(v *pageRequest) error {
	link := v.r.URL.Query().Get("token")
	person, err := web.Store.CheckResetLink(v.ctx(), link, web.Now())
	if err != nil {
		return err
	}
	return web.render(v, http.StatusOK, "reset", newReset(link, person))
}

func newReset(link string, person account.User) *resetPage {
	return &resetPage{layout: layout{title: "New password", Narrow: true}, Link: link, Email: person.Email}
}

func (web *Handler) reset(v *pageRequest) error {
	link, password := v.field("token"), v.field("password")
	person, err := web.Store.CheckResetLink(v.ctx(), link, web.Now())
	if err != nil {
		return err
	}
	if err := account.CheckPassword(password, person.Email, person.Name); err != nil {
		p := newReset(link, person)
		p.problems = problems{"password": fault.MessageOf(err)}
		return web.render(v, http.StatusUnprocessableEntity, "reset", p)
	}
	hash, err := web.Hasher.Hash(v.ctx(), password)
	if err != nil {
		return err
	}
	if err := web.Store.ResetPassword(v.ctx(), link, hash, web.Now()); err != nil {
		return err
	}
	if person.Disabled {
		return web.redirect(v, "/signin")
	}
	if err := web.signIn(v, person); err != nil {
		return err
	}
	return web.redirect(v, "/")
}

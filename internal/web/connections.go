package web

import (
	"net/http"

	"formulary/internal/store"
)

type connectionsPage struct {
	layout
	Connections []store.Connection
}

func (web *Web) listConnections(v *visit) error {
	list, err := web.OAuth.Connections(v.ctx(), v.person.ID)
	if err != nil {
		return err
	}
	p := &connectionsPage{layout{Title: "Connected applications", Here: "connections"}, list}
	if v.r.URL.Query().Get("saved") == "disconnected" {
		p.Notice = "The application is disconnected; its tokens no longer work."
	}
	return web.render(v, http.StatusOK, "connections", p)
}

func (web *Web) disconnect(v *visit) error {
	if err := web.OAuth.Disconnect(v.ctx(), v.person.ID, v.r.PathValue("id")); err != nil {
		return err
	}
	return web.redirect(v, "/connections?saved=disconnected")
}

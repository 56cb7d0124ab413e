package web

import (
	"errors"
	"net/http"

	"formulary/internal/fault"
	"formulary/internal/id"
	"formulary/internal/store"
)

type connectionsPage struct {
	layout
	Connections []store.ConnectedApp
}

func (web *Handler) listConnections(v *pageRequest) error {
	list, err := web.OAuth.ConnectedApps(v.ctx(), v.user.ID)
	if err != nil {
		return err
	}
	p := &connectionsPage{layout{title: "Connected apps", Here: "connections"}, list}
	if v.r.URL.Query().Get("saved") == "disconnected" {
		p.notice = "Disconnected. The app no longer has access to your account."
	}
	return web.render(v, http.StatusOK, "connected-apps", p)
}

func (web *Handler) disconnect(v *pageRequest) error {
	appID := v.r.PathValue("id")
	if _, ok := id.Parse(id.App, appID); !ok {
		return fault.NotFound
	}
	// Pressed twice, it is disconnected all the same.
	if err := web.OAuth.Disconnect(v.ctx(), v.user.ID, appID); err != nil && !errors.Is(err, fault.NotFound) {
		return err
	}
	return web.redirect(v, "/connections?saved=disconnected")
}

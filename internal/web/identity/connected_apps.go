package identity

import (
	"errors"
	"net/http"

	"formulary/internal/fault"
	"formulary/internal/id"
	"formulary/internal/store"
	"formulary/internal/web/page"
)

type connectedAppsPage struct {
	page.Layout
	Apps []store.ConnectedApp
}

// ListConnectedApps lists the applications with access to the account.
func (pages *Pages) ListConnectedApps(req *page.Request) error {
	list, err := pages.OAuth.ConnectedApps(req.Context(), req.User.ID)
	if err != nil {
		return err
	}
	p := &connectedAppsPage{page.Layout{TitleKey: "Connected apps", Section: "connections"}, list}
	if req.URL.Query().Get("saved") == "disconnected" {
		p.NoticeKey = "Disconnected. The app no longer has access to your account."
	}
	return pages.templates.Render(req, http.StatusOK, "connected-apps", p)
}

// Disconnect removes the access of an application.
func (pages *Pages) Disconnect(req *page.Request) error {
	appID := req.PathValue("id")
	if _, ok := id.Parse(id.App, appID); !ok {
		return fault.NotFound
	}
	// A second click finds it disconnected already.
	if err := pages.OAuth.Disconnect(req.Context(), req.User.ID, appID); err != nil && !errors.Is(err, fault.NotFound) {
		return err
	}
	return req.Redirect("/connections?saved=disconnected")
}

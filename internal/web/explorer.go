package web

import (
	"net/http"
)

// explorerPage lets people try the API in the browser. Its own public application
// does the OAuth flow, with nothing to register first.
type explorerPage struct {
	layout
	Client   string
	Callback string
}

func (web *Web) showExplorer(v *visit) error {
	return web.render(v, http.StatusOK, "explorer", &explorerPage{
		layout:   layout{title: "Try the API", Here: "api", Style: "swagger-ui.css", Script: "explorer.js"},
		Client:   web.Explorer,
		Callback: web.BaseURL + ExplorerCallback,
	})
}

// ExplorerCallback is where the explorer's application is sent back to.
const ExplorerCallback = "/docs/api/callback"

func (web *Web) explorerCallback(v *visit) error {
	return web.render(v, http.StatusOK, "explorer-callback", &explorerPage{
		layout: layout{Title: "API", Narrow: true, Script: "explorer-callback.js"},
	})
}

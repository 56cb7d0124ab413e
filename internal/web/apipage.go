package web

import (
	"net/http"
)

// apiPage shows the OpenAPI document and lets people try it. Its own public
// application does the OAuth flow, with nothing to register first.
type apiPage struct {
	layout
	Client   string
	Callback string
}

func (web *Web) apiPage(v *visit) error {
	return web.render(v, http.StatusOK, "apipage", &apiPage{
		layout:   layout{Title: "API", Here: "api", Style: "swagger-ui.css", Script: "apipage.js"},
		Client:   web.Explorer,
		Callback: web.BaseURL + ExplorerCallback,
	})
}

// ExplorerCallback is where the API page's application is sent back to.
const ExplorerCallback = "/docs/api/callback"

func (web *Web) apiCallback(v *visit) error {
	return web.render(v, http.StatusOK, "apicallback", &apiPage{
		layout: layout{Title: "API", Narrow: true, Script: "apicallback.js"},
	})
}

package reference

import (
	"net/http"
	"strings"

	"formulary/internal/web/page"
)

// The explorer sends requests from the pages of the reference, with a few lines of
// JavaScript. It is a public application of the service itself, so developers need not
// register one first.

// ExplorerCallbackPath is the path of the explorer's redirect URI.
const ExplorerCallbackPath = "/docs/api/callback"

type explorerRequest struct {
	*referencePage
	Operation *apiOperation
}

// ExplorerRequest is the argument of the template "explorer".
func (p *referencePage) ExplorerRequest(o *apiOperation) explorerRequest {
	return explorerRequest{p, o}
}

// Triable reports whether the explorer can send the request. Those of the OAuth flow are
// part of getting a token.
func (o *apiOperation) Triable() bool {
	return strings.HasPrefix(o.Path, "/api/v1/") || strings.HasPrefix(o.Path, "/f/")
}

// Inputs are the parameters that fit into one line.
func (o *apiOperation) Inputs() []apiField {
	var list []apiField
	for _, p := range o.Parameters {
		if p.Type != "object" {
			list = append(list, p)
		}
	}
	return list
}

// ExplorerCallback receives the authorization code for the explorer.
func (pages *Pages) ExplorerCallback(req *page.Request) error {
	return pages.templates.Render(req, http.StatusOK, "explorer-callback", &referencePage{
		Layout: page.Layout{Title: "API", Narrow: true, Script: "explorer-callback.js"},
	})
}

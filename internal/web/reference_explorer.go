package web

import (
	"net/http"
	"strings"
)

// On the pages of the reference people try calls, by a few lines of JavaScript. A
// public application of the service itself does the OAuth flow for them, with
// nothing to register first.

// ExplorerCallbackPath is where that application is sent back to.
const ExplorerCallbackPath = "/docs/api/callback"

// explorerRequest is a call with the page around it, for the template that tries it.
type explorerRequest struct {
	*referencePage
	Call *apiOperation
}

// Tried hands a call to its template.
func (p *referencePage) Tried(o *apiOperation) explorerRequest { return explorerRequest{p, o} }

// Triable says whether a call can be tried: those of the OAuth flow are made by
// the way on which one gets a token.
func (o *apiOperation) Triable() bool {
	return strings.HasPrefix(o.Path, "/api/v1/") || strings.HasPrefix(o.Path, "/f/")
}

// Inputs are the parameters for which one line is enough.
func (o *apiOperation) Inputs() []apiField {
	var list []apiField
	for _, p := range o.Parameters {
		if p.Type != "object" {
			list = append(list, p)
		}
	}
	return list
}

func (web *Handler) explorerCallback(v *pageRequest) error {
	return web.render(v, http.StatusOK, "explorer-callback", &referencePage{
		layout: layout{Title: "API", Narrow: true, Script: "explorer-callback.js"},
	})
}

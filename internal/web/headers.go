package web

import (
	"net/http"
	"strings"

	"formulary/internal/compress"
)

// These headers never differ, so they are made once.
var (
	deny       = []string{"DENY"}
	noRefer    = []string{"no-referrer"}
	noFeatures = []string{"accelerometer=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), magnetometer=(), microphone=(), midi=(), payment=(), usb=()"}
	ownWindow  = []string{"same-origin"}
	anyWindow  = []string{"unsafe-none"}
)

// setSecurityHeaders sets the headers that every page has. Pages stay out of the frames of browsers
// that do not know content security policies, do not tell other sites their address,
// and get no device of the visitor.
func setSecurityHeaders(h http.Header, path string) {
	h["X-Frame-Options"] = deny
	h["Referrer-Policy"] = noRefer
	h["Permissions-Policy"] = noFeatures
	h["Cross-Origin-Opener-Policy"] = ownWindow
	if allowsOpener(path) {
		h["Cross-Origin-Opener-Policy"] = anyWindow
	}
}

// allowsOpener says whether a page stays connected to the window that opened it. For
// all other pages that connection is cut, so that another site which opens one can
// neither watch nor navigate it.
//
// Applications may open /authorize in a pop-up and wait for it to come back. One page
// on the way that cuts the connection (same-origin-allow-popups does too, as it only
// spares windows that the page itself opens) would leave them waiting, so this covers
// every page that a person can meet between the two. Sites may open a public form in
// a window, too; such a page has no session to protect.
func allowsOpener(path string) bool {
	switch path {
	case "/authorize", "/signin", "/signup", "/forgot":
		return true
	}
	return strings.HasPrefix(path, "/f/")
}

// compressible lists the pages that may be sent with gzip. A page belongs here only if
// it carries no ticket, token, signed link or other secret, whoever looks at it
// (package compress says why); a page that is missing only costs bytes. Static files
// and the first page of a public form are compressed when they are made, without this.
func compressible(pattern string) bool {
	switch pattern {
	case "GET /docs/api", "GET /docs/api/{operation}":
		return true
	}
	return false
}

// compress lets a page be compressed, where that is allowed and asked for. Pages for
// somebody who is signed in never are: whatever they show of the account is private.
func (web *Handler) compress(v *pageRequest, route route) {
	if !compressible(route.pattern) {
		return
	}
	if v.user != nil {
		compress.Vary(v.w.Header())
	} else if zipped := compress.NewWriter(v.w, v.r); zipped != nil {
		v.w = zipped
	}
}

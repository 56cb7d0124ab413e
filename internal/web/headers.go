package web

import (
	"net/http"
	"strings"

	"formulary/internal/compress"
	"formulary/internal/web/page"
)

// Values of headers that never differ, allocated once.
var (
	deny       = []string{"DENY"}
	noRefer    = []string{"no-referrer"}
	noFeatures = []string{"accelerometer=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), magnetometer=(), microphone=(), midi=(), payment=(), usb=()"}
	ownWindow  = []string{"same-origin"}
	anyWindow  = []string{"unsafe-none"}
)

// setSecurityHeaders sets the headers of every page. Browsers that do not support Content
// Security Policy do not show the page in frames, other sites do not learn its address,
// and the page cannot use cameras and other devices.
func setSecurityHeaders(h http.Header, path string) {
	h["X-Frame-Options"] = deny
	h["Referrer-Policy"] = noRefer
	h["Permissions-Policy"] = noFeatures
	h["Cross-Origin-Opener-Policy"] = ownWindow
	if allowsOpener(path) {
		h["Cross-Origin-Opener-Policy"] = anyWindow
	}
}

// allowsOpener reports whether a page stays connected to the window that opened it. All
// other pages cut the connection, so that a site that opens one can neither observe nor
// navigate it.
//
// Applications may open /authorize in a pop-up and wait for the redirect. If one page on
// the way cut the connection, they would wait forever, so this includes all pages between
// the two. (same-origin-allow-popups would cut it as well: it only spares windows that
// the page itself opens.) Sites may open a public form in a window, too; it has no
// session to protect.
func allowsOpener(path string) bool {
	switch path {
	case "/authorize", "/signin", "/signup", "/forgot":
		return true
	}
	return strings.HasPrefix(path, "/f/")
}

// compressible lists the pages that may be compressed. A page belongs here only if it has
// no consent request, token, signed link or other secret for any visitor (package
// compress says why); a page that is missing only costs bytes. Static files and the first
// page of a public form are compressed once, when they are created.
func compressible(pattern string) bool {
	switch pattern {
	case "GET /docs/api", "GET /docs/api/{operation}":
		return true
	}
	return false
}

// compressPage compresses a page if the route allows it and the client accepts it. Pages
// for users who are signed in are never compressed: they have private data.
func compressPage(req *page.Request, route route) {
	if !compressible(route.pattern) {
		return
	}
	if req.User != nil {
		compress.Vary(req.W.Header())
	} else if zipped := compress.NewWriter(req.W, req.Request); zipped != nil {
		req.W = zipped
	}
}

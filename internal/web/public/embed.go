package public

import (
	"encoding/json"
	"html"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/web/page"
)

// Queries of a form inside a frame: one that is part of a page, and one that fills the window
// and has the cover too.
const (
	embedQuery    = "embed=1"
	fullPageQuery = "embed=full"
)

// frameQuery is the query of the form in the same kind of frame.
func (s *fillSession) frameQuery() string {
	if s.fullPage {
		return fullPageQuery
	}
	return embedQuery
}

// allowFrames leaves it to the policy of the page which sites may show the page in a
// frame: X-Frame-Options cannot list sites.
func allowFrames(req *page.Request, o form.Availability) {
	delete(req.W.Header(), "X-Frame-Options")
	if o.Sites == "" {
		req.W.Header().Set("X-Frame-Options", "SAMEORIGIN")
	}
}

// frameAncestors are the sites that may show the form in a frame: those that the owner
// chose, and our own, for the preview on the share page.
func frameAncestors(o form.Availability) string {
	if o.Sites == form.AnySite {
		return form.AnySite
	}
	sources := "'self'"
	for _, site := range strings.Fields(o.Sites) {
		if origin, ok := form.SiteOf(site); ok && origin == site {
			sources += " " + site
		}
	}
	return sources
}

// EmbedScript sends the script that replaces itself with a frame of a form.
func (pages *Pages) EmbedScript(req *page.Request) error {
	req.W.Header().Set("Cross-Origin-Resource-Policy", "cross-origin")
	return pages.Site.ServeFile(req, "embed.js")
}

// oEmbedResponse tells a site how to replace a link with the form.
type oEmbedResponse struct {
	Type         string `json:"type"`
	Version      string `json:"version"`
	Title        string `json:"title"`
	ProviderName string `json:"provider_name"`
	ProviderURL  string `json:"provider_url"`
	HTML         string `json:"html"`
	Width        int    `json:"width"`
	Height       int    `json:"height"`
}

const (
	frameWidth  = 720
	frameHeight = 640
)

// OEmbed describes how to embed a form (oembed.com).
func (pages *Pages) OEmbed(req *page.Request) error {
	query := req.URL.Query()
	if format := query.Get("format"); format != "" && format != "json" {
		req.W.WriteHeader(http.StatusNotImplemented) // required by oEmbed
		return nil
	}
	address, ok := strings.CutPrefix(query.Get("url"), pages.Site.BaseURL+"/f/")
	address, _, _ = strings.Cut(address, "?")
	if !ok || strings.Contains(address, "/") {
		return fault.New(fault.UnknownPath, "No form exists at this address.")
	}
	f, err := pages.Store.PublicForm(req.Context(), address)
	if err != nil {
		return err
	}
	if f.Version == 0 || f.Availability.Sites == "" {
		return fault.NotFound
	}
	out := oEmbedResponse{
		Type: "rich", Version: "1.0", Title: f.Header.Title, ProviderName: "Formulary", ProviderURL: pages.Site.BaseURL,
		Width: sizeUpTo(query, "maxwidth", frameWidth), Height: sizeUpTo(query, "maxheight", frameHeight),
	}
	out.HTML = `<iframe src="` + html.EscapeString(pages.Site.BaseURL+"/f/"+url.PathEscape(address)+"?"+embedQuery) + `" title="` + html.EscapeString(f.Header.Title) +
		`" width="` + strconv.Itoa(out.Width) + `" height="` + strconv.Itoa(out.Height) + `" style="border:0"></iframe>`
	text, err := json.Marshal(out)
	if err != nil {
		return err
	}
	header := req.W.Header()
	header.Set("Content-Type", "application/json")
	header.Set("Access-Control-Allow-Origin", "*")
	req.W.Write(text) // the client may have disconnected
	return nil
}

// sizeUpTo reads a size from the query; a missing or larger one is limit.
func sizeUpTo(query url.Values, name string, limit int) int {
	if n, err := strconv.Atoi(query.Get(name)); err == nil && n > 0 && n < limit {
		return n
	}
	return limit
}

package web

import (
	"encoding/json"
	"html"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"formulary/internal/fault"
	"formulary/internal/form"
)

// embedQuery marks the address of a form inside a frame.
const embedQuery = "embed=1"

// frameable lets the page's policy say which sites may show it in a frame; the
// older header knows only none, this site and all.
func frameable(v *pageRequest, o form.Availability) {
	delete(v.w.Header(), "X-Frame-Options")
	if o.Sites == "" {
		v.w.Header().Set("X-Frame-Options", "SAMEORIGIN")
	}
}

// embedScript makes a frame of the form where a site has the script.
func (web *Handler) embedScript(v *pageRequest) error {
	h := v.w.Header()
	h.Set("Cross-Origin-Resource-Policy", "cross-origin")
	err := web.static["embed.js"].serve(v)
	return err
}

// oEmbedAnswer is what sites ask for that turn a link into what it leads to.
type oEmbedAnswer struct {
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

// oEmbed describes how to show a form (oembed.com).
func (web *Handler) oEmbed(v *pageRequest) error {
	query := v.r.URL.Query()
	if format := query.Get("format"); format != "" && format != "json" {
		v.w.WriteHeader(http.StatusNotImplemented) // as oEmbed has it
		return nil
	}
	address, ok := strings.CutPrefix(query.Get("url"), web.BaseURL+"/f/")
	address, _, _ = strings.Cut(address, "?")
	if !ok || strings.Contains(address, "/") {
		return fault.New(fault.UnknownPath, "No form exists at this address.")
	}
	f, err := web.Store.PublicForm(v.ctx(), address)
	if err != nil {
		return err
	}
	if f.Version == 0 || f.Offer.Sites == "" {
		return fault.NotFound
	}
	out := oEmbedAnswer{
		Type: "rich", Version: "1.0", Title: f.Header.Title, ProviderName: "Formulary", ProviderURL: web.BaseURL,
		Width: within(query, "maxwidth", frameWidth), Height: within(query, "maxheight", frameHeight),
	}
	out.HTML = `<iframe src="` + html.EscapeString(web.BaseURL+"/f/"+url.PathEscape(address)+"?"+embedQuery) + `" title="` + html.EscapeString(f.Header.Title) +
		`" width="` + strconv.Itoa(out.Width) + `" height="` + strconv.Itoa(out.Height) + `" style="border:0"></iframe>`
	text, err := json.Marshal(out)
	if err != nil {
		return err
	}
	h := v.w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Access-Control-Allow-Origin", "*")
	v.w.Write(text) // the reader may have gone
	return nil
}

// within reads a size that may not be more than usual.
func within(query url.Values, name string, usual int) int {
	if n, err := strconv.Atoi(query.Get(name)); err == nil && n > 0 && n < usual {
		return n
	}
	return usual
}

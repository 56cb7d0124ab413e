package web

import (
	"bytes"
	"fmt"
	"image/png"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/boombuler/barcode"
	"github.com/boombuler/barcode/qr"

	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/store"
)

// sharePage is how a form reaches people.
type sharePage struct {
	formPage
	Slug        string
	OpensAt     string
	ClosesAt    string
	Limit       string
	Sites       string // one a line
	AnySite     bool
	Address     string // the last part of the link
	Inline      string // what to put on another site
	PopUp       string
	Questions   []prefilled
	HostAddress string
}

// prefilled is a question whose answer can come with the link.
type prefilled struct {
	Key     string
	Label   string
	Options []form.Option
	Type    string // of its control; empty: text
	Min     *float64
	Max     *float64
	Step    *float64
}

// prefill is a question with what the link may bring along for it.
func (web *Handler) prefill(v *pageRequest, f *form.Field) prefilled {
	p := prefilled{Key: f.Key, Label: f.Label, Options: f.Options}
	p.Type = f.Traits().Input
	switch {
	case f.IsBoolean():
		p.Options = []form.Option{{Value: "true", Label: web.translateFor(v, "Yes")}, {Value: "false", Label: web.translateFor(v, "No")}}
	case f.HasCountry(""):
		for _, c := range web.languages.countriesIn(web.viewerLanguage(v)) {
			p.Options = append(p.Options, form.Option{Value: c.Name, Label: c.Value})
		}
	case f.IsNumeric():
		p.Type = "number"
		p.Min, p.Max, p.Step = f.Min, f.Max, f.Step
	}
	return p
}

var shareNotices = map[string]string{
	"saved": "Saved. Changes are live.", "saved, and closed": "Saved. This form is closed. Reopen it to accept responses.", "published": "Published. Share this link to collect responses.", "closed": "Form closed.", "opened": "Form reopened.",
}

func (web *Handler) showShare(v *pageRequest) error { return web.sharing(v, http.StatusOK, nil) }

// sharing shows the page, with what is wrong with what was sent.
func (web *Handler) sharing(v *pageRequest, status int, list problems) error {
	f, err := web.Store.Form(v.ctx(), v.owner(), v.r.PathValue("id"))
	if err != nil {
		return err
	}
	d, err := web.currentDefinition(v, f)
	if err != nil {
		return err
	}
	p := &sharePage{formPage: web.formPageOf(v, f, "share"), Slug: f.Slug, HostAddress: web.BaseURL + "/f/"}
	p.viewer, p.zone = web.viewerLanguage(v), v.user.TimeZone
	p.OpensAt, p.ClosesAt = p.Input(f.OpensAt), p.Input(f.ClosesAt)
	if f.ResponseLimit > 0 {
		p.Limit = strconv.FormatInt(f.ResponseLimit, 10)
	}
	if p.AnySite = f.Sites == form.AnySite; !p.AnySite {
		p.Sites = strings.Join(strings.Fields(f.Sites), "\n")
	}
	p.problems = list
	if v.r.PostForm.Has("slug") { // and not a button elsewhere on the page
		p.Slug, p.OpensAt, p.ClosesAt, p.Limit, p.Sites = v.field("slug"), v.field("opens_at"), v.field("closes_at"), v.field("response_limit"), v.field("sites")
		p.AnySite = v.field("any_site") != ""
	}
	p.Address = strings.TrimPrefix(p.Link, web.BaseURL+"/f/")
	p.Inline = fmt.Sprintf(`<script src="%s/embed.js" data-form="%s" async></script>`, web.BaseURL, p.Address)
	p.PopUp = fmt.Sprintf(`<script src="%s/embed.js" data-form="%s" data-button="%s" async></script>`, web.BaseURL, p.Address, web.translateFor(v, "Open form"))
	for _, field := range d.Fields {
		if field.TakesAnswer() && field.Parts() == nil {
			p.Questions = append(p.Questions, web.prefill(v, field))
		}
	}
	p.Script = "share.js"
	p.notice = shareNotices[v.r.URL.Query().Get("done")]
	if p.notice == shareNotices["saved"] && f.At(web.Now()).Status == form.Closed {
		p.notice = shareNotices["saved, and closed"]
	}
	return web.render(v, status, "share", p)
}

// currentDefinition is what respondents are asked: what was published, or else the draft.
func (web *Handler) currentDefinition(v *pageRequest, f form.Form) (*form.Definition, error) {
	if f.Version == 0 {
		return web.Store.Draft(v.ctx(), v.owner(), f.ID)
	}
	return web.Store.Definition(v.ctx(), v.owner(), f.ID, f.Version)
}

// changeAvailability takes how the form is offered.
func (web *Handler) changeAvailability(v *pageRequest) error {
	id := v.r.PathValue("id")
	_, err := web.Store.UpdateForm(v.ctx(), v.owner(), store.FormRevision{ID: id}, func(p *form.FormInput) error {
		p.Slug = v.field("slug")
		if p.Sites = strings.Join(strings.Fields(v.field("sites")), " "); v.field("any_site") != "" {
			p.Sites = form.AnySite
		}
		p.ResponseLimit = 0
		if text := strings.TrimSpace(v.field("response_limit")); text != "" {
			n, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				return fault.InvalidField("response_limit", "enter a whole number or leave this blank")
			}
			p.ResponseLimit = n
		}
		for name, to := range map[string]*time.Time{"opens_at": &p.OpensAt, "closes_at": &p.ClosesAt} {
			*to = time.Time{}
			if text := v.field(name); text != "" {
				t, err := time.ParseInLocation("2006-01-02T15:04", text, zoneOf(v.user.TimeZone))
				if err != nil {
					return fault.InvalidField(name, "enter a date and time")
				}
				*to = t.UTC()
			}
		}
		return p.Availability.Normalize()
	}, web.Now())
	if list, other := newProblems(err); err != nil && other == nil {
		return web.sharing(v, http.StatusUnprocessableEntity, list)
	}
	if err != nil {
		return err
	}
	return web.redirect(v, "/forms/"+id+"/share?done=saved")
}

// qrCode is the form's link to be scanned: as SVG, or as PNG for printing.
func (web *Handler) qrCode(v *pageRequest) error {
	f, err := web.Store.Form(v.ctx(), v.owner(), v.r.PathValue("id"))
	if err != nil {
		return err
	}
	code, err := qr.Encode(web.formPageOf(v, f, "").Link, qr.M, qr.Auto)
	if err != nil {
		return err
	}
	h := v.w.Header()
	kind := v.r.PathValue("kind")
	if v.r.URL.Query().Get("download") != "" && (kind == "qr.svg" || kind == "qr.png") {
		h.Set("Content-Disposition", `attachment; filename="`+f.ID+strings.TrimPrefix(kind, "qr")+`"`)
	}
	switch kind {
	case "qr.svg":
		h.Set("Content-Type", "image/svg+xml")
		v.w.Write(qrSVG(code)) // the reader may have gone
		return nil
	case "qr.png":
		big, err := barcode.Scale(code, 1024, 1024)
		if err != nil {
			return err
		}
		var out bytes.Buffer
		if err := png.Encode(&out, big); err != nil {
			return err
		}
		h.Set("Content-Type", "image/png")
		v.w.Write(out.Bytes())
		return nil
	}
	return fault.New(fault.UnknownPath, "File not found.")
}

// qrSVG draws the dark modules as one path, with the quiet zone around them.
func qrSVG(code barcode.Barcode) []byte {
	const quiet = 4
	size := code.Bounds().Dx()
	var path strings.Builder
	for y := range size {
		for x := range size {
			if r, _, _, _ := code.At(x, y).RGBA(); r == 0 {
				fmt.Fprintf(&path, "M%d %dh1v1h-1z", x+quiet, y+quiet)
			}
		}
	}
	return fmt.Appendf(nil, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %[1]d %[1]d" shape-rendering="crispEdges"><rect width="%[1]d" height="%[1]d" fill="#fff"/><path d="%[2]s"/></svg>`, size+2*quiet, path.String())
}

// prefillLink is the form's link with answers to start from, for those without
// JavaScript.
func (web *Handler) prefillLink(v *pageRequest) error {
	f, err := web.Store.Form(v.ctx(), v.owner(), v.r.PathValue("id"))
	if err != nil {
		return err
	}
	answers := url.Values{}
	for name, values := range v.r.URL.Query() {
		if values[0] != "" {
			answers[name] = values
		}
	}
	return web.redirect(v, strings.TrimPrefix(web.formPageOf(v, f, "").Link, web.BaseURL)+"?"+answers.Encode())
}

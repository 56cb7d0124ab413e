package page

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"

	"formulary/internal/account"
	"formulary/internal/fault"
)

// Render translates the texts of the layout and sends the page. The page is rendered
// completely before the first byte is sent, so that a template that fails cannot leave
// half a page.
func (t Templates) Render(req *Request, status int, name string, p Page) error {
	t.prepare(req, p.base())
	out, err := t.Execute(name, p)
	if err != nil {
		return err
	}
	req.SendHTML(status, []string{Policy(p)}, out)
	return nil
}

// RenderPart sends one template of a page without the layout, for a script that puts it into
// another page.
func (t Templates) RenderPart(req *Request, name, part string, p Page) error {
	t.prepare(req, p.base())
	var out pageBuffer
	if err := t.execute(&out, name, part, p); err != nil {
		return fmt.Errorf("render %s of %s: %w", part, name, err)
	}
	req.SendHTML(http.StatusOK, []string{Policy(p)}, out.Bytes())
	return nil
}

// RenderText returns a page as Render sends it, for a handler that sends it within another
// format.
func (t Templates) RenderText(req *Request, name string, p Page) ([]byte, error) {
	t.prepare(req, p.base())
	return t.Execute(name, p)
}

// prepare translates the texts of the layout for the viewer.
func (t Templates) prepare(req *Request, l *Layout) {
	l.User = req.User
	t.site.SetLanguage(req, l)
	if req.User != nil {
		l.zone = req.User.TimeZone
		t.enterSpace(req, l)
		l.Mails = t.site.KeepsMails && req.User.Role == account.RoleAdmin
		if c, err := req.Cookie(TourCookie); err == nil {
			l.Tour = c.Value == "1"
		}
	}
	if l.NoticeKey != "" {
		l.Notice = l.T(l.NoticeKey)
	}
	if l.TitleKey != "" {
		l.Title = l.T(l.TitleKey)
	}
	if l.Problems != nil {
		l.Errors = FieldErrors{}
		for field, message := range l.Problems {
			l.Errors[field] = message.Localize(l.catalog)
		}
	}
}

// SetLanguage lets a handler use T, Date and the other methods of the layout before
// Render. Times are in UTC until then.
func (s *Site) SetLanguage(req *Request, l *Layout) {
	l.language = req.Language()
	l.catalog = s.Languages.Catalog(l.language)
}

// maxPage is the largest page in bytes. Forms that would need more are rejected when they
// are saved; this limit is for forms that were saved before that check existed.
const maxPage = 16 << 20

// pageBuffer is a buffer of up to maxPage bytes.
type pageBuffer struct{ bytes.Buffer }

var errPageTooLarge = fault.New(fault.TooLarge, "This page is too large to display.")

func (b *pageBuffer) Write(p []byte) (int, error) {
	if b.Len()+len(p) > maxPage {
		return 0, errPageTooLarge
	}
	return b.Buffer.Write(p)
}

// Execute renders a page whose layout is complete.
func (t Templates) Execute(name string, p Page) ([]byte, error) {
	var out pageBuffer
	if err := t.execute(&out, name, "layout", p); err != nil {
		return nil, fmt.Errorf("render %s: %w", name, err)
	}
	return out.Bytes(), nil
}

// Policy is the Content-Security-Policy of a page: it can load our own files and nothing
// else. Chromium applies form-action to redirects too, so the consent page names the site
// that it redirects to.
func Policy(p Page) string {
	l := p.base()
	action := "'self'"
	for _, source := range strings.Fields(l.FormAction) {
		if isSource(source) {
			action += " " + source
		}
	}
	frames := "'none'"
	if l.FrameAncestors != "" {
		frames = l.FrameAncestors
	}
	styles := "'self'"
	if l.Look.Hash != "" {
		styles += " " + l.Look.Hash
	}
	media := ""
	if l.Media {
		media = "media-src 'self'; "
	}
	return "default-src 'none'; script-src 'self'; style-src " + styles + "; img-src 'self' data:; connect-src 'self'; frame-src 'self'; " + media +
		"form-action " + action + "; base-uri 'none'; frame-ancestors " + frames
}

// isSource reports whether a text is one source of a policy and nothing more: a semicolon
// would end the directive, a comma the policy.
func isSource(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r >= 0x7f || strings.ContainsRune(";,'\"", r) })
}

package web

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"formulary/internal/account"
	"formulary/internal/compress"
	"formulary/internal/fault"
	"formulary/internal/form"
)

//go:embed templates
var templateFiles embed.FS

// pages are the templates by name, each with the layout around it.
type pages map[string]*template.Template

// layout is what every page has; page structs embed it.
type layout struct {
	Title  string // as an owner wrote it; ours are in title
	Person *account.User
	Here   string // which part of the console this is
	Narrow bool   // one short form, as for signing in
	Wide   bool   // a table that takes what room there is
	Script string // one more script
	Style  string // one more style sheet
	Notice string // good news, said once
	Errors fieldErrors

	Public   bool   // a form, for everybody: nothing of the console around it
	Language string // of a form's page; English when empty

	Embedded bool   // in a frame on another site
	OEmbed   string // path of the form that the page shows

	words  catalog // of the viewer's language
	viewer string  // that language
	zone   string  // where the viewer is
	title  string  // Title, before it is put into words
	notice string  // Notice, before it is put into words

	problems problems // Errors, before they are put into words

	formAction string // where else the page's form may end
	frames     string // sites that may show the page in a frame; * is any
}

func (l *layout) frame() *layout { return l }

// Direction is where the page's language is read from.
func (l *layout) Direction() string {
	base, _, _ := strings.Cut(l.Lang(), "-")
	switch base {
	case "ar", "fa", "he", "ur", "ps", "sd", "ug", "yi", "dv":
		return "rtl"
	}
	return "ltr"
}

// Sheet is the style sheet, with what the page has use for.
func (l *layout) Sheet() string {
	switch {
	case l.Public:
		return "public.css"
	case l.Style == "builder.css":
		return "builder-base.css"
	}
	return "formulary.css"
}

// framed is every page struct.
type framed interface{ frame() *layout }

// problems are messages by the field that they stand beside.
type problems map[string]fault.Term

// fieldErrors are problems in the language of the page.
type fieldErrors map[string]string

// newProblems takes the details out of an error about input; any other error is
// returned as it is.
func newProblems(err error) (problems, error) {
	e := fault.Wrap(err)
	if e.Code != fault.Invalid {
		return nil, err
	}
	list := problems{}
	for _, d := range e.Details {
		if list[d.Field] == nil {
			list[d.Field] = d
		}
	}
	return list, nil
}

// loadPages reads the templates; kinds has more of those in templates/kinds, or is nil.
func loadPages(static map[string]asset, base string, kinds fs.FS) (pages, error) {
	icon := func(name string) string {
		return `<svg class="icon" aria-hidden="true"><use href="/static/icons.svg?v=` + static["icons.svg"].version + `#` + name + `"/></svg>`
	}
	functions := template.FuncMap{
		"static": func(name string) (string, error) {
			a, ok := static[name]
			if !ok {
				return "", fmt.Errorf("static file %s not found", name)
			}
			return "/static/" + name + "?v=" + a.version, nil
		},
		"oembed": func(path string) string {
			return base + "/oembed?format=json&url=" + url.QueryEscape(base+path)
		},
		"icon":     func(name string) template.HTML { return template.HTML(icon(name)) },
		"tag":      tag,
		"inline":   inline,
		"browser":  browserName,
		"through":  wholeNumbers,
		"sentence": sentence,
		"problem": func(list fieldErrors, field string) template.HTML {
			if list[field] == "" {
				return ""
			}
			return template.HTML(`<p class="problem" id="problem-` + field + `" role="alert">` + icon("warn") +
				`<span>` + template.HTMLEscapeString(sentence(list[field])) + `</span></p>`)
		},
		// invalid ties an input to what is wrong with it, and brings the
		// person there.
		"invalid": func(list fieldErrors, field string) template.HTMLAttr {
			if list[field] == "" {
				return ""
			}
			return template.HTMLAttr(`aria-invalid="true" aria-describedby="problem-` + field + `" autofocus`)
		},
	}
	shared, err := template.New("").Funcs(functions).ParseFS(templateFiles, "templates/layout.html", "templates/parts.html")
	if err != nil {
		return nil, err
	}
	names, err := fs.Glob(templateFiles, "templates/*.html")
	if err != nil {
		return nil, err
	}
	list := pages{}
	for _, file := range names {
		name := strings.TrimSuffix(strings.TrimPrefix(file, "templates/"), ".html")
		if name == "layout" || name == "parts" {
			continue
		}
		t, err := shared.Clone()
		if err != nil {
			return nil, err
		}
		if list[name], err = t.ParseFS(templateFiles, file); err != nil {
			return nil, err
		}
	}
	return list, addKinds(list["public"], kinds)
}

// addKinds gives the page that asks a template for each kind of question. Other
// pages do without them, as each page has its own copy of what it shares.
func addKinds(public *template.Template, more fs.FS) error {
	for _, files := range []fs.FS{templateFiles, more} {
		if files == nil {
			continue
		}
		if _, err := public.ParseFS(files, "templates/kinds/*.html"); err != nil {
			return err
		}
	}
	for _, kind := range form.Kinds() {
		if public.Lookup("kind-"+kind.Name()) == nil && !kind.Traits().PageBreak {
			return fmt.Errorf("question type %s has no template", kind.Name())
		}
	}
	_, err := public.Parse(kindChooser(form.Kinds()))
	return err
}

// kindChooser is the source of the template "kind", which leads to that of a question's
// kind. The package escapes templates where they are called, so it needs their names
// beforehand.
func kindChooser(kinds []form.Kind) string {
	var out strings.Builder
	out.WriteString(`{{define "kind"}}`)
	lead := "if"
	for _, kind := range kinds {
		if !kind.Traits().PageBreak {
			fmt.Fprintf(&out, `{{%s eq .Kind %q}}{{template %q .}}`, lead, kind.Name(), "kind-"+kind.Name())
			lead = "else if"
		}
	}
	out.WriteString(`{{end}}{{end}}`)
	return out.String()
}

// wholeNumbers lists the whole numbers from one to another, for stars and scales.
func wholeNumbers(from, to *float64) []int {
	var list []int
	for n := int(*from); n <= int(*to); n++ {
		list = append(list, n)
	}
	return list
}

// sentence writes a message as one: the rules that make messages do not know
// where they will stand.
func sentence(message string) string {
	first, size := utf8.DecodeRuneInString(message)
	message = string(unicode.ToUpper(first)) + message[size:]
	if !strings.HasSuffix(message, ".") {
		message += "."
	}
	return message
}

// browserName is a browser as people call it. The order matters: nearly every
// one claims to be the others.
func browserName(agent string) string {
	find := func(list [][2]string) string {
		for _, known := range list {
			if strings.Contains(agent, known[0]) {
				return known[1]
			}
		}
		return ""
	}
	name := find([][2]string{
		{"Firefox/", "Firefox"}, {"Edg", "Edge"}, {"OPR/", "Opera"}, {"SamsungBrowser", "Samsung Internet"},
		{"Chrome/", "Chrome"}, {"Chromium", "Chromium"}, {"Safari/", "Safari"}, {"curl/", "curl"},
	})
	system := find([][2]string{
		{"iPhone", "iPhone"}, {"iPad", "iPad"}, {"Android", "Android"}, {"Windows", "Windows"}, {"Mac OS", "macOS"}, {"CrOS", "ChromeOS"}, {"Linux", "Linux"},
	})
	switch {
	case name == "":
		return "Unknown browser"
	case system == "":
		return name
	}
	return name + " on " + system
}

// render writes a page. It is made whole before the first byte is sent, so that
// a template that fails cannot leave half a page.
func (web *Handler) render(v *pageRequest, status int, name string, p framed) error {
	l := p.frame()
	l.Person, l.viewer = v.user, web.viewerLanguage(v)
	l.words = web.languages.of(l.viewer)
	if v.user != nil {
		l.zone = v.user.TimeZone
	}
	if l.notice != "" {
		l.Notice = l.T(l.notice)
	}
	if l.title != "" {
		l.Title = l.T(l.title)
	}
	if l.problems != nil {
		l.Errors = fieldErrors{}
		for field, message := range l.problems {
			l.Errors[field] = message.Localize(l.words.word)
		}
	}
	out, err := web.renderTemplate(name, p)
	if err != nil {
		return err
	}
	web.send(v, status, []string{policy(p.frame())}, out)
	return nil
}

// maxPage is how many bytes of HTML a page may have. Forms that would need more are
// refused when they are saved; this stops those that were saved before.
const maxPage = 16 << 20

// pageBuffer takes a page up to maxPage.
type pageBuffer struct{ bytes.Buffer }

var errPageTooLarge = fault.New(fault.TooLarge, "This page is too large to display.")

func (b *pageBuffer) Write(p []byte) (int, error) {
	if b.Len()+len(p) > maxPage {
		return 0, errPageTooLarge
	}
	return b.Buffer.Write(p)
}

func (web *Handler) renderTemplate(name string, p framed) ([]byte, error) {
	var out pageBuffer
	if err := web.pages[name].ExecuteTemplate(&out, "layout", p); err != nil {
		return nil, fmt.Errorf("render %s: %w", name, err)
	}
	return out.Bytes(), nil
}

// These headers never differ, so they are made once.
var (
	htmlType = []string{"text/html; charset=utf-8"}
	noStore  = []string{"no-store"}
)

// send writes a page in its parts.
func (web *Handler) send(v *pageRequest, status int, policy []string, parts ...[]byte) {
	size := 0
	for _, part := range parts {
		size += len(part)
	}
	h := v.w.Header()
	h["Content-Type"] = htmlType
	h["Content-Security-Policy"] = policy
	if zipped, ok := v.w.(*compress.Writer); ok && len(parts) == 1 {
		zipped.Whole(status, parts[0])
		return
	}
	h["Content-Length"] = []string{strconv.Itoa(size)}
	v.w.WriteHeader(status)
	if v.r.Method == http.MethodHead {
		return
	}
	for _, part := range parts {
		v.w.Write(part) // the reader may have gone
	}
}

// policy lets a page load what is ours and nothing else. Chromium checks
// form-action along redirects, so the consent page names where it may lead.
func policy(l *layout) string {
	action := "'self'"
	for _, source := range strings.Fields(l.formAction) {
		if isSource(source) {
			action += " " + source
		}
	}
	frames := "'none'"
	if l.frames != "" {
		frames = l.frames
	}
	return "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; frame-src 'self'; " +
		"form-action " + action + "; base-uri 'none'; frame-ancestors " + frames
}

// isSource says whether a text can stand in a policy without meaning anything else
// there: semicolons end a directive, and commas a policy.
func isSource(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r >= 0x7f || strings.ContainsRune(";,'\"", r) })
}

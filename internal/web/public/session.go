package public

import (
	"cmp"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"formulary/internal/form"
	"formulary/internal/locale"
	"formulary/internal/store"
	"formulary/internal/theme"
	"formulary/internal/web/page"
)

// fillSession is a respondent who fills in a form. The page carries the answers of all
// other pages in hidden controls, so nothing is stored before the end, and no JavaScript
// is needed.
type fillSession struct {
	form     store.PublicForm
	catalog  locale.Catalog // of the form's language
	embedded bool
	fullPage bool       // embedded in a frame that fills the window
	earlier  bool       // the form has a newer version
	preview  bool       // by the owner, of the draft: nothing is stored
	values   url.Values // of all controls, as posted
	problems page.FieldErrors
	// uploadProblems are about files of this request, by key.
	uploadProblems page.FieldErrors
	shown          map[string]bool // keys that were on the page before, if the page is shown again
	notice         string
	listCountries  bool                                // of telephone numbers, without scripts
	byScript       bool                                // the script of the page sends the answers, see send.go
	named          func(f *form.Field, answer any) any // replaces codes of countries with names

	evaluated  *form.Evaluation   // of values; nil until it is needed
	screenList []form.Page        // see screens
	query      string             // of a preview: choices that are not saved
	edit       *page.ResponseEdit // by the owner; nil: by a respondent
	stored     []storedAnswer     // what differs from an edited response
	path       string             // of a preview: its address
	styles     *theme.Cache
}

func (pages *Pages) newFillSession(req *page.Request, f store.PublicForm) *fillSession {
	frame := ""
	if req.URL.RawQuery != "" {
		frame = req.URL.Query().Get("embed")
	}
	return &fillSession{
		form: f, catalog: pages.Site.Languages.Catalog(f.Header.Language), embedded: frame != "", fullPage: frame == "full", values: url.Values{},
		uploadProblems: page.FieldErrors{}, styles: pages.styles,
		named: func(field *form.Field, answer any) any {
			return pages.Site.Languages.WithCountryNames(f.Header.Language, field, answer)
		},
	}
}

// evaluate evaluates the answers, once for each request: only defaults change the values
// later, and they reset the result.
func (s *fillSession) evaluate() form.Evaluation {
	if s.evaluated == nil {
		e := s.form.Definition.Evaluate(s.answers())
		s.evaluated = &e
	}
	return *s.evaluated
}

// answers parses the values. Numbers are in the notation of the form's language.
func (s *fillSession) answers() map[string]any {
	values := maps.Clone(s.values)
	for _, f := range s.form.Definition.Fields {
		if text := values.Get(f.Key); f.Traits().Decimal && text != "" {
			values[f.Key] = []string{form.NormalizeNumber(text, s.catalog.Translate("."))}
		}
	}
	return s.form.Definition.ParseForm(values)
}

// formatAnswer formats an answer in the form's language.
func (s *fillSession) formatAnswer(f *form.Field, answer any) string {
	return f.FormatAnswer(s.named(f, answer), func(text string) string { return s.catalog.Translate(text) })
}

// showsPlaces reports whether the page says how many more responses the form accepts.
func (s *fillSession) showsPlaces() bool {
	return s.form.Definition.Settings.ShowPlaces && s.form.Availability.ResponseLimit > 0
}

// isPersonal reports whether the first page differs between respondents, or from one
// response to the next.
func (s *fillSession) isPersonal() bool {
	return s.showsPlaces() || slices.ContainsFunc(s.form.Definition.Fields, func(f *form.Field) bool {
		return f.Shuffle || slices.ContainsFunc(f.Options, func(o form.Option) bool { return o.Cap > 0 })
	})
}

// page is the number of the page that was filled in.
func (s *fillSession) page() int {
	number, err := strconv.Atoi(s.values.Get(pageControl))
	if err != nil || number < 0 || number >= len(s.screens()) {
		return 0
	}
	return number
}

// address is the address of the form, with a suffix such as /done.
func (s *fillSession) address(suffix string) string {
	if s.edit != nil {
		return s.edit.Action
	}
	to := "/f/" + cmp.Or(s.form.Availability.Slug, s.form.ID) + suffix
	if s.preview {
		if to = s.path; s.query != "" {
			to += "?" + s.query
		}
		return to
	}
	if s.embedded {
		to += "?" + s.frameQuery()
	}
	return to
}

// uploadTo is the address that accepts files of a question.
func (s *fillSession) uploadTo(f *form.Field) string {
	if s.preview || s.edit != nil {
		return ""
	}
	return "/f/" + s.form.ID + "/files?field=" + f.Key
}

func (s *fillSession) layout() page.Layout {
	l := page.Layout{
		Title: s.form.Header.Title, Language: s.form.Header.Language, Public: true, Embedded: s.embedded && !s.fullPage, Errors: s.problems,
		FrameAncestors: frameAncestors(s.form.Availability), OEmbed: "/f/" + s.form.ID, Look: page.NewLook(s.form.Definition.Design, s.styles),
		Card: s.shareCard(),
	}
	if s.preview {
		l.FrameAncestors, l.OEmbed = "'self'", ""
	}
	if s.edit != nil {
		l.FrameAncestors, l.OEmbed, l.Card = "", "", nil
	}
	var sites []string
	for _, ending := range s.form.Definition.Endings {
		// Definitions that were stored earlier may have hosts that are rejected now.
		if site, ok := form.SiteOf(ending.Redirect); ok && !slices.Contains(sites, site) {
			sites = append(sites, site)
		}
	}
	l.FormAction = strings.Join(sites, " ")
	if s.embedded {
		l.Script = "form.js" // it reports the height of the page
		l.AddAssets([]string{"form-embed.js"})
	}
	return l
}

// interpolator inserts answers into the texts of one page.
func (s *fillSession) interpolator(e form.Evaluation) *form.Interpolator {
	return s.form.Definition.NewInterpolator(func(f *form.Field, key string) string { return s.formatAnswer(f, e.Answers[key]) })
}

// fillDefaults adds the default answers of questions without an answer.
func (s *fillSession) fillDefaults() {
	answered := map[string]bool{}
	for name := range s.values {
		key, _, _ := strings.Cut(name, ".")
		answered[key] = true
	}
	for _, f := range s.form.Definition.Fields {
		if f.Default == nil || answered[f.Key] {
			continue
		}
		for name, values := range form.FormValues(f, f.Default) {
			s.values[name] = values
			s.localizeNumber(name)
		}
		s.evaluated = nil
	}
}

// localizeNumber changes a number from the notation of JSON to that of the form's
// language.
func (s *fillSession) localizeNumber(key string) {
	f := s.form.Definition.Field(key)
	if f == nil || !f.Traits().Decimal || len(s.values[key]) != 1 {
		return
	}
	if _, err := strconv.ParseFloat(s.values[key][0], 64); err == nil {
		s.values[key] = []string{strings.Replace(s.values[key][0], ".", s.catalog.Translate("."), 1)}
	}
}

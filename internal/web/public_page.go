package web

import (
	"cmp"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"formulary/internal/form"
	"formulary/internal/store"
)

// fillSession is a form and somebody who is filling it in. Everything that was answered
// on other pages travels along in the page itself, so nothing is stored before the
// end, and no JavaScript is needed.
type fillSession struct {
	form     store.PublicForm
	words    catalog
	embedded bool
	preview  bool       // by the owner, of the draft: nothing is stored
	in       url.Values // what was sent so far
	problems fieldErrors
	seen     map[string]bool // what was on the page before, when it is shown again
	notice   string
	named    func(f *form.Field, answer any) any // with the names of countries

	evaluated *form.Evaluation // of what was sent; nil until it is needed
}

// evaluate is what was sent amounts to. It is worked out once for a request: what
// is sent does not change afterwards, but for defaults, which come before.
func (a *fillSession) evaluate() form.Evaluation {
	if a.evaluated == nil {
		e := a.form.Definition.Evaluate(a.posted())
		a.evaluated = &e
	}
	return *a.evaluated
}

func (web *Handler) newFillSession(v *pageRequest, f store.PublicForm) *fillSession {
	embedded := v.r.URL.RawQuery != "" && v.r.URL.Query().Get("embed") != ""
	return &fillSession{
		form: f, words: web.languages.of(f.Header.Language), embedded: embedded, in: url.Values{},
		named: func(field *form.Field, answer any) any { return web.languages.named(f.Header.Language, field, answer) },
	}
}

// formatAnswer is an answer as people would say it, in the form's language.
func (a *fillSession) formatAnswer(f *form.Field, answer any) string {
	return f.FormatAnswer(a.named(f, answer), func(word string) string { return a.words.translate(word) })
}

// personal says whether the first page differs from one person to the next.
func (a *fillSession) personal() bool {
	return slices.ContainsFunc(a.form.Definition.Fields, func(f *form.Field) bool {
		return f.Shuffle || slices.ContainsFunc(f.Options, func(o form.Option) bool { return o.Cap > 0 })
	})
}

// page is the number of the page that was filled in.
func (a *fillSession) page() int {
	number, err := strconv.Atoi(a.in.Get(pageControl))
	if err != nil || number < 0 || number >= len(a.form.Definition.Pages()) {
		return 0
	}
	return number
}

// address is that of the form, or of something under it.
func (a *fillSession) address(under string) string {
	to := "/f/" + cmp.Or(a.form.Offer.Slug, a.form.ID) + under
	if a.preview {
		to = "/forms/" + a.form.ID + "/preview"
	}
	if a.embedded {
		to += "?" + embedQuery
	}
	return to
}

func (a *fillSession) layout() layout {
	l := layout{
		Title: a.form.Header.Title, Language: a.form.Header.Language, Public: true, Embedded: a.embedded, Errors: a.problems,
		frames: framers(a.form.Offer), OEmbed: "/f/" + a.form.ID,
	}
	if a.preview {
		l.frames, l.OEmbed = "'self'", ""
	}
	var sites []string
	for _, ending := range a.form.Definition.Endings {
		// Definitions that were stored earlier may have hosts that are refused now.
		if site, ok := form.SiteOf(ending.Redirect); ok && !slices.Contains(sites, site) {
			sites = append(sites, site)
		}
	}
	l.formAction = strings.Join(sites, " ")
	if a.embedded {
		l.Script = "form.js" // it says how high the page is
	}
	return l
}

// framers are the sites that may show the form in a frame: those that the owner
// chose, and this one, which shows it as a sample.
func framers(o form.Availability) string {
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

// pipes writes answers into the texts of one page.
func (a *fillSession) pipes(e form.Evaluation) *form.Interpolator {
	return a.form.Definition.NewInterpolator(func(f *form.Field, key string) string { return a.formatAnswer(f, e.Answers[key]) })
}

// publicPage is one page of a form.
type publicPage struct {
	layout
	*fillSession
	Form    store.PublicForm
	Action  string
	Number  int // of this page, from 0
	Heading string
	Lead    string
	First   bool
	Last    bool
	Fields  []*question
	Kept    []hiddenInput // answers of other pages
	Seen    string
	Once    string
	Steps   int // how many pages are shown
	Step    int // which of them this is, from 1
	Alert   string
	Focus   string // the question to look at first, where that is left to the script
	Fresh   bool   // nothing was sent yet
	Logic   *logic // for conditions within the page; nil without any
}

// Translate says something in the form's language.
func (p *publicPage) Translate(text string, args ...any) string {
	return p.fillSession.words.translate(text, args...)
}

// Send is what the last button says.
func (p *publicPage) Send() string {
	return cmp.Or(p.form.Definition.Settings.SubmitLabel, p.fillSession.words.translate("Submit"))
}

type hiddenInput struct{ Name, Value string }

// logic is what JavaScript needs to show and hide questions as people answer.
type logic struct {
	Answers map[string]any `json:"answers"` // of earlier pages
	Fields  []logicField   `json:"fields"`
	Ranked  []string       `json:"ranked,omitempty"` // those whose order matters
}

type logicField struct {
	Key    string          `json:"key"`
	Shape  string          `json:"shape,omitempty"` // how the script reads its controls; empty: as a text
	ShowIf *form.Condition `json:"show_if,omitempty"`
}

// privateNoCacheHeader lets the browser's own Back show a page again, which with no-store it
// would have to send for once more.
var privateNoCacheHeader = []string{"private, no-cache"}

func (web *Handler) renderPage(v *pageRequest, status int, a *fillSession, number int) error {
	p, err := web.formPage(v, a, number)
	if err != nil {
		return err
	}
	frameable(v, a.form.Offer)
	v.w.Header()["Cache-Control"] = privateNoCacheHeader
	return web.render(v, status, "public", p)
}

// formPage prepares one page of a form: with what was answered so far, what is
// wrong with it, and what was already seen on it.
func (web *Handler) formPage(v *pageRequest, a *fillSession, number int) (*publicPage, error) {
	d := a.form.Definition
	if !a.in.Has(pageControl) {
		a.fillDefaults()
	}
	pages := d.Pages()
	e := a.evaluate()
	p := &publicPage{
		layout: a.layout(), fillSession: a, Form: a.form, Action: a.address(""), Number: number, Once: a.in.Get(keyControl), Alert: a.notice,
		Fresh: v.r.Method != http.MethodPost,
	}
	if p.Once == "" {
		p.Once = string(web.nonce(v.ctx(), a.form.ID))
	}
	_, more := after(pages, e, number)
	p.Last, p.First = !more, number == before(pages, e, number)
	for i, page := range pages {
		if page.IsVisible(e) || i == number {
			p.Steps++
			if i == number {
				p.Step = p.Steps
			}
		}
	}
	if d.Settings.HideProgress {
		p.Steps = 0
	}
	pipes := a.pipes(e)
	if first := pages[number].Break; first != nil {
		p.Heading, p.Lead = pipes.Text(first.Label, nil), pipes.Text(first.Help, nil)
	}
	// Where the database is away, what is full is found out when storing.
	full, err := web.Store.OptionsAtLimit(v.ctx(), &a.form)
	if err != nil && a.notice == "" {
		return nil, err
	}
	var keys, here []string
	for _, field := range pages[number].Fields {
		if !field.IsVisible() {
			continue
		}
		if !e.Shown[field.Key] && field.ShowIf == nil {
			continue
		}
		q, err := web.question(a, field, e, pipes, full, p.Once)
		if err != nil {
			return nil, err
		}
		if here = append(here, field.Key); !q.Away {
			keys = append(keys, field.Key)
		}
		p.Fields = append(p.Fields, q)
	}
	focused := false
	for _, q := range p.Fields {
		q.Focus = q.Focus && !focused && !q.Away
		focused = focused || q.Focus
		if q.Focus && a.embedded {
			p.Focus, q.Focus = q.Key, false // browsers refuse that in frames; the script may
		}
	}
	if len(a.problems) > 0 && p.Alert == "" && !slices.ContainsFunc(p.Fields, func(q *question) bool { return q.Error != "" }) {
		p.Alert = a.words.translate("This link is incomplete. Open the form again with the full link you were given.")
	}
	p.Seen = strings.Join(keys, ",")
	p.Kept = hiddenAnswers(d, a.in, here)
	p.Logic = logicOf(d, p.Fields, e)
	if p.Logic != nil || slices.ContainsFunc(p.Fields, func(q *question) bool { return q.Traits().Script || q.Other }) || a.embedded {
		p.Script = "form.js"
	}
	return p, nil
}

// fillDefaults starts the answers that have something to start from.
func (a *fillSession) fillDefaults() {
	answered := map[string]bool{}
	for name := range a.in {
		key, _, _ := strings.Cut(name, ".")
		answered[key] = true
	}
	for _, f := range a.form.Definition.Fields {
		if f.Default == nil || answered[f.Key] {
			continue
		}
		for name, values := range form.FormValues(f, f.Default) {
			a.in[name] = values
			a.localise(name)
		}
		a.evaluated = nil
	}
}

// localise writes a number that a program wrote as people do.
func (a *fillSession) localise(key string) {
	f := a.form.Definition.Field(key)
	if f == nil || !f.Traits().Decimal || len(a.in[key]) != 1 {
		return
	}
	if _, err := strconv.ParseFloat(a.in[key][0], 64); err == nil {
		a.in[key] = []string{strings.Replace(a.in[key][0], ".", a.words.translate("."), 1)}
	}
}

// posted are the answers that were sent, with numbers as people write them in the
// form's language.
func (a *fillSession) posted() map[string]any {
	in := maps.Clone(a.in)
	for _, f := range a.form.Definition.Fields {
		if text := in.Get(f.Key); f.Traits().Decimal && text != "" {
			in[f.Key] = []string{form.NormalizeNumber(text, a.words.translate("."))}
		}
	}
	return a.form.Definition.ParseForm(in)
}

// logicOf is what the page's own questions need to be shown and hidden at once.
func logicOf(d *form.Definition, list []*question, e form.Evaluation) *logic {
	if !slices.ContainsFunc(list, func(q *question) bool { return q.Maybe }) {
		return nil
	}
	l := &logic{Answers: map[string]any{}, Fields: []logicField{}}
	here, asked := map[string]bool{}, map[string]bool{}
	for _, q := range list {
		q.ShowIf.Fields(func(key string) { asked[key] = true })
		here[q.Key] = !q.Traits().Calculated
		if q.TakesAnswer() || q.Maybe {
			l.Fields = append(l.Fields, logicField{q.Key, controlShape(q.Field), q.ShowIf})
		}
	}
	for key, answer := range e.Answers {
		// What no question here depends on is nobody's business: it may be a score.
		if !here[key] && asked[key] {
			l.Answers[key] = answer
		}
	}
	for _, f := range d.Fields {
		if f.Traits().Ordered && asked[f.Key] {
			l.Ranked = append(l.Ranked, f.Key)
		}
	}
	return l
}

// controlShape says how the script reads the controls of a question.
func controlShape(f *form.Field) string {
	switch t := f.Traits(); {
	case !f.TakesAnswer():
		return ""
	case f.Parts() != nil:
		return "parts"
	case t.Ordered:
		return "ranking"
	case t.List:
		return "list"
	case t.Decimal:
		return "decimal"
	case f.IsNumeric():
		return "number"
	case f.IsBoolean():
		return "boolean"
	}
	return ""
}

// hiddenAnswers are those of questions that are not on the page.
func hiddenAnswers(d *form.Definition, in url.Values, here []string) []hiddenInput {
	var list []hiddenInput
	shown := map[string]bool{}
	for _, key := range here {
		shown[key] = true
	}
	for name, values := range in {
		key, _, _ := strings.Cut(name, ".")
		if f := d.Field(key); f == nil || !f.HasAnswer() || shown[key] {
			continue
		}
		for _, value := range values {
			list = append(list, hiddenInput{name, value})
		}
	}
	slices.SortFunc(list, func(a, b hiddenInput) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Value, b.Value))
	})
	return list
}

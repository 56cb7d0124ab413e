package web

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"formulary/internal/account"
	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/store"
)

// Names of the page's own controls; a field's key cannot begin so.
const (
	pageControl = "_page" // the number of the page that was filled in
	seenControl = "_seen" // the keys that were on it
	goControl   = "_go"   // next, back
	onceControl = "_once" // makes sending twice store once
)

// publicPage is a form as respondents see it, a page at a time. Everything that
// was answered on other pages travels along in the page itself, so nothing is
// stored before the end, and no JavaScript is needed.
type publicPage struct {
	layout
	Form   store.PublicForm
	Number int // of this page, from 0
	Break  *form.Field
	First  bool
	Last   bool
	Fields []*question
	Kept   []kept // answers of other pages
	Seen   string
	Once   string
	Steps  int // how many pages are shown
	Step   int // which of them this is, from 1
}

type kept struct{ Name, Value string }

// question is a field on the page, with what was answered so far.
type question struct {
	*form.Field
	Error  string
	Focus  bool
	posted url.Values
}

// Text is the answer as text.
func (q *question) Text() string { return q.posted.Get(q.Key) }

// Part is the answer to a part of it, such as a row.
func (q *question) Part(name string) string { return q.posted.Get(q.Key + "." + name) }

// Chosen says whether an option is among the answers.
func (q *question) Chosen(value string) bool { return slices.Contains(q.posted[q.Key], value) }

// ChosenIn says whether an option is among the answers of a row.
func (q *question) ChosenIn(row, value string) bool {
	return slices.Contains(q.posted[q.Key+"."+row], value)
}

// Described ties a control to its help and to what is wrong.
func (q *question) Described() string {
	var ids []string
	if q.Help != "" {
		ids = append(ids, "help-"+q.Key)
	}
	if q.Error != "" {
		ids = append(ids, "problem-"+q.Key)
	}
	return strings.Join(ids, " ")
}

// Number writes a limit as controls expect it.
func (q *question) Number(n *float64) string {
	if n == nil {
		return ""
	}
	return strconv.FormatFloat(*n, 'f', -1, 64)
}

// Place numbers the places of a ranking from 1.
func (q *question) Place(i int) string { return strconv.Itoa(i + 1) }

// Labelled says whether the question stands over one control, whose label it is;
// otherwise it is the legend of a group.
func (q *question) Labelled() bool {
	switch q.Kind {
	case "short_text", "long_text", "email", "url", "phone", "number", "slider", "dropdown", "date", "time", "datetime", "country":
		return true
	}
	return false
}

func (web *Web) publicForm(v *visit) (store.PublicForm, error) {
	f, err := web.Store.PublicForm(v.ctx(), v.r.PathValue("id"))
	if err == nil && f.Version == 0 {
		err = fault.NotFound
	}
	if err != nil {
		return f, err
	}
	if !f.Open {
		return f, fault.New(fault.FormNotOpen, "This form is closed and takes no more answers.")
	}
	return f, nil
}

// beginning is the first page of a form as most people see it, drawn once. What
// differs between two of them, the nonce, goes between the halves.
type beginning struct {
	policy     string
	head, tail []byte
}

const (
	// maxBegun is how many bytes of such pages are kept.
	maxBegun = 16 << 20
	// nonceHere stands for the nonce while the page is drawn.
	nonceHere = "NONCE-GOES-HERE"
)

// showForm begins: answers may come with the link, by their keys.
func (web *Web) showForm(v *visit) error {
	f, err := web.publicForm(v)
	if err != nil {
		return err
	}
	if v.r.URL.RawQuery == "" {
		return web.begin(v, f)
	}
	in := url.Values{}
	for name, values := range v.r.URL.Query() {
		if key, _, _ := strings.Cut(name, "."); slices.ContainsFunc(f.Definition.Fields, func(field *form.Field) bool { return field.Key == key }) {
			in[name] = values
		}
	}
	return web.renderForm(v, http.StatusOK, f, in, 0, nil, nil)
}

// begin shows the first page to somebody who brings nothing along.
func (web *Web) begin(v *visit, f store.PublicForm) error {
	b, mark, ok := web.begun.Get(f.Owner, f.ID)
	if !ok {
		p := web.formPage(f, url.Values{onceControl: {nonceHere}}, 0, nil, nil)
		page, err := web.draw("public", p)
		if err != nil {
			return err
		}
		b.policy = policy(p.frame())
		b.head, b.tail, _ = bytes.Cut(page, []byte(nonceHere))
		web.begun.Put(f.ID, mark, b, int64(len(page)))
	}
	web.send(v, http.StatusOK, b.policy, b.head, []byte(rand.Text()), b.tail)
	return nil
}

func (web *Web) answerForm(v *visit) error {
	f, err := web.publicForm(v)
	if err != nil {
		return err
	}
	in := v.r.PostForm
	pages := f.Definition.Pages()
	number, err := strconv.Atoi(in.Get(pageControl))
	if err != nil || number < 0 || number >= len(pages) {
		number = 0
	}
	e := f.Definition.Evaluate(f.Definition.Posted(in))
	if in.Get(goControl) == "back" {
		return web.renderForm(v, http.StatusOK, f, in, before(pages, e, number), nil, nil)
	}
	// An answer may have brought a question onto this very page.
	seen := strings.Split(in.Get(seenControl), ",")
	if slices.ContainsFunc(pages[number].Fields, func(field *form.Field) bool {
		return e.Shown[field.Key] && !slices.Contains(seen, field.Key)
	}) {
		return web.renderForm(v, http.StatusOK, f, in, number, nil, seen)
	}
	if at, list := firstProblem(pages[:number+1], e); list != nil {
		return web.renderForm(v, http.StatusUnprocessableEntity, f, in, at, list, nil)
	}
	if next, ok := after(pages, e, number); ok {
		return web.renderForm(v, http.StatusOK, f, in, next, nil, nil)
	}
	if err := web.keep(v, f, e, in.Get(onceControl)); err != nil {
		return err
	}
	return web.redirect(v, "/f/"+f.ID+"/done")
}

// keep stores the answers, once for each nonce.
func (web *Web) keep(v *visit, f store.PublicForm, e form.Evaluation, nonce string) error {
	text, err := json.Marshal(e.Answers)
	if err != nil {
		return err
	}
	if len(nonce) > 100 || !account.CleanLine(nonce) {
		nonce = ""
	}
	once := store.Once{App: "page/" + f.ID, Key: nonce, Hash: account.Hash(string(text))}
	_, err = web.Store.AddResponse(v.ctx(), f.Owner, f.ID, f.Version, e.Answers, once, web.Now())
	return err
}

// firstProblem finds the first page on which something is wrong, and what.
func firstProblem(pages []form.Page, e form.Evaluation) (int, problems) {
	for i, page := range pages {
		var list problems
		for _, d := range e.Problems {
			if slices.ContainsFunc(page.Fields, func(f *form.Field) bool { return f.Key == d.Field }) {
				if list == nil {
					list = problems{}
				}
				list[d.Field] = d.Message
			}
		}
		if list != nil {
			return i, list
		}
	}
	return 0, nil
}

// after is the next page that is shown; before is the one that was.
func after(pages []form.Page, e form.Evaluation, number int) (int, bool) {
	for i := number + 1; i < len(pages); i++ {
		if pages[i].Shown(e) {
			return i, true
		}
	}
	return number, false
}

func before(pages []form.Page, e form.Evaluation, number int) int {
	for i := number - 1; i >= 0; i-- {
		if pages[i].Shown(e) {
			return i
		}
	}
	return 0
}

func (web *Web) renderForm(v *visit, status int, f store.PublicForm, in url.Values, number int, list problems, seen []string) error {
	return web.render(v, status, "public", web.formPage(f, in, number, list, seen))
}

// formPage prepares one page of a form: with what was answered so far, what is
// wrong with it, and what was already seen on it.
func (web *Web) formPage(f store.PublicForm, in url.Values, number int, list problems, seen []string) *publicPage {
	pages := f.Definition.Pages()
	e := f.Definition.Evaluate(f.Definition.Posted(in))
	p := &publicPage{
		layout: layout{Title: f.Head.Title, Language: f.Head.Language, Public: true, Errors: list},
		Form:   f, Number: number, Break: pages[number].Break, Once: in.Get(onceControl),
	}
	if p.Once == "" {
		p.Once = rand.Text()
	}
	_, more := after(pages, e, number)
	p.Last, p.First = !more, number == before(pages, e, number)
	for i, page := range pages {
		if page.Shown(e) || i == number {
			p.Steps++
			if i == number {
				p.Step = p.Steps
			}
		}
	}
	var keys []string
	for _, field := range pages[number].Fields {
		if !e.Shown[field.Key] {
			continue
		}
		keys = append(keys, field.Key)
		q := &question{Field: field, Error: list[field.Key], posted: in}
		// To the first that is wrong, or else to the first that is new.
		q.Focus = q.Error != "" || seen != nil && !slices.Contains(seen, field.Key)
		p.Fields = append(p.Fields, q)
	}
	focused := false
	for _, q := range p.Fields {
		q.Focus = q.Focus && !focused
		focused = focused || q.Focus
	}
	p.Seen = strings.Join(keys, ",")
	p.Kept = keptAnswers(f.Definition, in, keys)
	return p
}

// keptAnswers are those of questions that are not on the page.
func keptAnswers(d *form.Definition, in url.Values, here []string) []kept {
	var list []kept
	for _, field := range d.Fields {
		if slices.Contains(here, field.Key) && field.Kind != "hidden" {
			continue
		}
		for name, values := range in {
			if name != field.Key && !strings.HasPrefix(name, field.Key+".") {
				continue
			}
			for _, value := range values {
				list = append(list, kept{name, value})
			}
		}
	}
	slices.SortFunc(list, func(a, b kept) int { return strings.Compare(a.Name+a.Value, b.Name+b.Value) })
	return list
}

func (web *Web) formDone(v *visit) error {
	f, err := web.Store.PublicForm(v.ctx(), v.r.PathValue("id"))
	if err != nil {
		return err
	}
	return web.render(v, http.StatusOK, "done", &publicPage{layout: layout{Title: f.Head.Title, Language: f.Head.Language, Public: true}, Form: f})
}

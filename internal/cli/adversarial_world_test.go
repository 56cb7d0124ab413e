package cli_test

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"formulary/internal/cli/clitest"
)

// everything asks with each kind of question, and with every property of one.
const everything = `{"title": "Everything", "description": "All *kinds*", "language": "en", "fields": [
	{"key": "nick", "kind": "short_text", "label": "Your nickname?", "required": true, "help": "As your friends call you", "placeholder": "Max", "min_length": 1, "max_length": 80},
	{"key": "story", "kind": "long_text", "label": "Story"}, {"key": "mail", "kind": "email", "label": "Mail"}, {"key": "site", "kind": "url", "label": "Site"}, {"key": "phone", "kind": "phone", "label": "Phone"},
	{"key": "age", "kind": "number", "label": "Age", "unit": "years", "min": 0, "max": 150, "step": 1}, {"key": "loud", "kind": "slider", "label": "Loud", "default": 5},
	{"key": "stars", "kind": "rating", "label": "Stars"}, {"key": "recommend", "kind": "scale", "label": "Recommend", "low": "Never", "high": "Surely"},
	{"key": "shirt", "kind": "yes_no", "label": "A shirt?"}, {"key": "rules", "kind": "consent", "label": "Rules", "text": "I have read them"},
	{"key": "size", "kind": "single_choice", "label": "Which size?", "options": [{"value": "s", "label": "Small", "cap": 100000}, {"value": "m", "label": "Medium"}], "other": true, "shuffle": true,
	 "show_if": {"any": [{"field": "shirt", "op": "equals", "value": true}, {"not": {"field": "age", "op": "at_least", "value": 18}}]}},
	{"key": "bring", "kind": "multiple_choice", "label": "Bring", "options": [{"value": "cake", "label": "Cake"}, {"value": "salad", "label": "Salad"}], "other": true, "min_picks": 0, "max_picks": 2},
	{"key": "town", "kind": "dropdown", "label": "Town", "options": [{"value": "bonn", "label": "Bonn"}]},
	{"key": "rank", "kind": "ranking", "label": "Rank", "options": [{"value": "dance", "label": "Dance"}, {"value": "talk", "label": "Talk"}]},
	{"key": "days", "kind": "matrix", "label": "Days", "rows": [{"value": "fri", "label": "Friday"}], "options": [{"value": "noon", "label": "Noon"}, {"value": "eve", "label": "Evening"}], "several": true},
	{"key": "day", "kind": "date", "label": "Day", "earliest": "1900-01-01", "latest": "2100-01-01"}, {"key": "hour", "kind": "time", "label": "Hour"}, {"key": "start", "kind": "datetime", "label": "Start"},
	{"key": "name", "kind": "name", "label": "Name"}, {"key": "address", "kind": "address", "label": "Address"}, {"key": "country", "kind": "country", "label": "Country"},
	{"key": "source", "kind": "hidden"}, {"key": "twice", "kind": "calculated", "label": "Twice", "expression": "age * 2", "concealed": true},
	{"key": "nearly", "kind": "statement", "label": "Nearly done, {{nick}}", "text": "One **more** page."},
	{"key": "second", "kind": "page_break", "label": "Second page", "jumps": [{"if": {"field": "age", "op": "greater", "value": 100}, "to": "third"}]},
	{"key": "last", "kind": "short_text", "label": "Anything else?"},
	{"key": "third", "kind": "page_break", "label": "Third page"}, {"key": "bye", "kind": "short_text", "label": "Bye?"}]}`

const everyAnswer = `{"answers": {"nick": "Ada", "story": "%s", "mail": "a@example.com", "site": "https://example.com", "phone": "+49 228 123456", "age": 36, "loud": 5, "stars": 4, "recommend": 9,
	"shirt": true, "rules": true, "size": "s", "bring": ["cake"], "town": "bonn", "rank": ["talk", "dance"], "days": {"fri": ["noon"]}, "day": "2026-05-01", "hour": "12:30", "start": "2026-05-01T12:30",
	"name": {"given": "Ada", "family": "Lovelace"}, "address": {"line1": "Street 1", "city": "Bonn", "postal_code": "53111", "country": "DE"}, "country": "DE", "source": "mail", "last": "No"}}`

// caller is somebody who sends requests, by a token or a session.
type caller struct {
	name   string
	header string // empty: by nothing
	value  string
	mark   string // in what belongs to them alone
}

func (c *caller) credential() (name, value string) { return c.header, c.value }

// world is what a round of requests works on: people, their forms and
// applications. It is made anew for each round, as requests wear it out.
type world struct {
	t       *testing.T
	service *clitest.Service
	doc     *clitest.Document
	line    *line
	number  int
	seeds   []*request
	nonces  []string // of open pages of the form that is asked

	nobody, ada, bea, beaPages, cleo, dora  *caller
	small                                   map[string]*caller // by the scope that they lack
	app                                     clitest.App        // lets everybody in
	asked, draft                            string             // forms of Ada: one to answer, one to change
	spares, responses                       []string           // of Ada, to delete
	cleoForm, cleoSpare, cleoResponse       string
	answered                                bool // a form, page by page
	reset, cleoSpareApp                     string
	cleoApp, refresh, disposable, code, ask string
}

const allScopes = "forms:read,forms:write,responses:read,responses:write"

func newWorld(t *testing.T, s *clitest.Service, doc *clitest.Document, number int) *world {
	t.Helper()
	w := &world{t: t, service: s, doc: doc, line: &line{address: strings.TrimPrefix(s.URL, "http://")}, number: number, nobody: &caller{name: "nobody"}, small: map[string]*caller{}}
	defer w.line.close()
	owner := w.email("owner")
	w.signUp("owner")
	w.app = s.AddApp(owner, "https://app.example.com/cb")
	var adaBrowser *clitest.Browser
	w.ada, adaBrowser = w.applicant("ada")
	for lacks, scope := range map[string]string{"forms:read": "forms:write", "forms:write": "forms:read", "responses:read": "responses:write", "responses:write": "responses:read"} {
		w.small[lacks] = w.let("ada with "+scope, adaBrowser, scope, w.ada.mark)
	}
	// What is exchanged, refreshed and revoked is apart from what Ada calls with.
	enter := func() clitest.Token {
		return s.Exchange(w.app, adaBrowser.Allow(w.app.AuthorizeURL("forms:read")).Query().Get("code"))
	}
	w.refresh, w.disposable = enter().Refresh, enter().Access
	w.code = adaBrowser.Allow(w.app.AuthorizeURL("forms:read")).Query().Get("code")
	w.ask = w.app.AuthorizeURL("forms:read,responses:read").Encode() + "&state=x&code_challenge=&code_challenge_method="
	w.asked, w.draft = w.form(w.ada, "", true), w.form(w.ada, "", true)
	w.spares = []string{w.form(w.ada, " "+w.ada.mark, false)}
	for len(w.spares) < 8 {
		w.spares = append(w.spares, s.Call("POST", "/api/v1/forms/"+w.spares[0]+"/duplicate", w.token(w.ada), "").String("id"))
	}
	for range 8 {
		w.responses = append(w.responses, w.respond(w.ada, w.asked))
	}
	w.respond(w.ada, w.draft)

	w.bea, w.beaPages = w.applicantWithPages("bea")
	w.respond(w.bea, w.form(w.bea, "", true))
	var cleoCalls *caller
	cleoCalls, w.cleo = w.applicantWithPages("cleo")
	w.cleoForm, w.cleoSpare = w.form(cleoCalls, "", true), w.form(cleoCalls, " "+w.cleo.mark, false)
	w.cleoResponse = w.respond(cleoCalls, w.cleoForm)
	w.respond(cleoCalls, w.cleoForm)
	w.cleoApp = s.AddApp(w.email("cleo"), "https://cleo.example.com/cb").ID
	w.cleoSpareApp = s.AddApp(w.email("cleo"), "https://cleo.example.com/cb").ID
	_, w.dora = w.applicantWithPages("dora")
	_, w.reset, _ = strings.Cut(strings.TrimSpace(s.Command("", "user", "reset", w.email("dora"))), "token=")

	w.operations()
	for _, r := range slices.Compact(slices.Clone(w.seeds)) {
		// What is refused as it is would be refused for the same reason when spoilt.
		if a := w.open(r); number == 0 && a.status >= 300 {
			t.Errorf("%s %s is not valid to begin with: %s", r.method, r.target(), a)
		}
	}
	w.pages()
	return w
}

func (w *world) email(name string) string { return fmt.Sprintf("%s%d@example.com", name, w.number) }

// signUp makes an account and opens a browser in which its owner is signed in.
func (w *world) signUp(name string) *clitest.Browser {
	w.t.Helper()
	b := w.service.Browser()
	p := b.PostAs(w.t, fmt.Sprintf("2001:db8:ffff:%x::1", w.number), "/signup", url.Values{"email": {w.email(name)}, "name": {name}, "password": {clitest.Password}})
	if p.StatusCode != http.StatusSeeOther {
		w.t.Fatalf("sign up %s: %d\n%s", name, p.StatusCode, p.Text)
	}
	return b
}

// applicant is a new person who lets an application do everything.
func (w *world) applicant(name string) (*caller, *clitest.Browser) {
	w.t.Helper()
	b := w.signUp(name)
	return w.let(name, b, allScopes, "mark"+rand.Text()), b
}

func (w *world) applicantWithPages(name string) (calls, pages *caller) {
	w.t.Helper()
	calls, b := w.applicant(name)
	base, err := url.Parse(w.service.URL)
	if err != nil {
		w.t.Fatal(err)
	}
	var cookies []string
	for _, c := range b.Jar.Cookies(base) {
		cookies = append(cookies, c.Name+"="+c.Value)
	}
	return calls, &caller{name: name + " in a browser", header: "Cookie", value: strings.Join(cookies, "; "), mark: calls.mark}
}

func (w *world) let(name string, b *clitest.Browser, scope, mark string) *caller {
	w.t.Helper()
	token := w.service.Exchange(w.app, b.Allow(w.app.AuthorizeURL(scope)).Query().Get("code")).Access
	return &caller{name: name, header: "Authorization", value: "Bearer " + token, mark: mark}
}

func (w *world) token(c *caller) string { return strings.TrimPrefix(c.value, "Bearer ") }

// form makes a form that asks everything.
func (w *world) form(c *caller, addition string, open bool) string {
	w.t.Helper()
	made := w.service.Call("POST", "/api/v1/forms", w.token(c), strings.Replace(everything, "Everything", "Everything"+addition, 1))
	if made.StatusCode != http.StatusCreated {
		w.t.Fatalf("make a form: %d %s", made.StatusCode, made.Text)
	}
	id := made.String("id")
	if open {
		if a := w.service.Call("POST", "/api/v1/forms/"+id+"/publish", w.token(c), ""); a.StatusCode != http.StatusCreated {
			w.t.Fatalf("publish: %d %s", a.StatusCode, a.Text)
		}
	}
	return id
}

// respond adds a response that only its owner may see.
func (w *world) respond(c *caller, form string) string {
	w.t.Helper()
	a := w.service.Call("POST", "/api/v1/forms/"+form+"/responses", w.token(c), fmt.Sprintf(everyAnswer, c.mark))
	if a.StatusCode != http.StatusCreated {
		w.t.Fatalf("respond: %d %s", a.StatusCode, a.Text)
	}
	return a.String("id")
}

// sender is who sends a request: mostly the one for whom it is valid.
func (w *world) sender(g *generator, seed *request) *caller {
	// Each cookie is made wrong, the session's and the device's.
	wrong := &caller{name: "somebody unknown", header: seed.as.header, value: strings.ReplaceAll(seed.as.value, ";", "x;") + "x"}
	others := []*caller{w.nobody, wrong, w.bea}
	switch {
	case seed.as == w.dora:
		others = []*caller{w.nobody, wrong} // nobody else's session is to end
	case seed.as.header == "Cookie":
		others = []*caller{w.nobody, wrong, w.beaPages}
	case !seed.secured:
		others = []*caller{w.nobody, w.ada, w.bea, w.dora}
	case seed.scope != "":
		others = append(others, w.small[seed.scope])
	}
	if g.Float64() < 0.7 {
		return seed.as
	}
	return pick(g, others)
}

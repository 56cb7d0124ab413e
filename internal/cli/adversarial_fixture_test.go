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

// everyKindForm is a form with each kind of question and each property.
const everyKindForm = `{"title": "Everything", "description": "All *kinds*", "language": "en", "fields": [
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
	{"key": "papers", "kind": "file", "label": "Papers", "accept": ["pdf", "image"], "max_files": 3, "max_size_mb": 2}, {"key": "sign", "kind": "signature", "label": "Sign"},
	{"key": "source", "kind": "hidden"}, {"key": "twice", "kind": "calculated", "label": "Twice", "expression": "age * 2", "concealed": true},
	{"key": "nearly", "kind": "statement", "label": "Nearly done, {{nick}}", "text": "One **more** page."},
	{"key": "second", "kind": "page_break", "label": "Second page", "jumps": [{"if": {"field": "age", "op": "greater", "value": 100}, "to": "third"}]},
	{"key": "last", "kind": "short_text", "label": "Anything else?"},
	{"key": "third", "kind": "page_break", "label": "Third page"}, {"key": "bye", "kind": "short_text", "label": "Bye?"}]}`

const everyAnswer = `{"answers": {"nick": "Ada", "story": "%s", "mail": "a@example.com", "site": "https://example.com", "phone": "+49 228 123456", "age": 36, "loud": 5, "stars": 4, "recommend": 9,
	"shirt": true, "rules": true, "size": "s", "bring": ["cake"], "town": "bonn", "rank": ["talk", "dance"], "days": {"fri": ["noon"]}, "day": "2026-05-01", "hour": "12:30", "start": "2026-05-01T12:30",
	"name": {"given": "Ada", "family": "Lovelace"}, "address": {"line1": "Street 1", "city": "Bonn", "postal_code": "53111", "country": "DE"}, "country": "DE", "source": "mail", "sign": "Ada", "last": "No"}}`

// caller sends requests with a token, a session or neither.
type caller struct {
	name   string
	header string // empty: anonymous
	value  string
	marker string // text that only this user's data contains
}

func (c *caller) credential() (name, value string) { return c.header, c.value }

// fixture is the data of a round: users, their forms and applications. Each round
// creates a new one, because requests use it up.
type fixture struct {
	t       *testing.T
	service *clitest.Service
	doc     *clitest.Document
	rawConn *rawConn
	number  int
	seeds   []*request
	nonces  []string // of open pages of the public form

	anonymous, ada, bea, beaBrowser, cleo, dora    *caller
	lackingScope                                   map[string]*caller // by the scope that the token lacks
	app                                            clitest.App        // all users authorize it
	liveForm, editForm                             string             // of Ada: one to answer, one to change
	spareForms, responses, webhooks, themes, notes []string           // of Ada, to delete
	views                                          []string           // of Ada, to delete
	cleoView, cleoSpace                            string
	cleoForm, cleoSpare, cleoResponse              string
	cleoWebhook, cleoSpareWebhook                  string
	cleoApp, cleoSpareApp                          string
	file, picture, cleoFile, cleoFileResponse      string
	cleoTheme, cleoSpareTheme                      string
	resetToken, refreshToken, revocableToken       string
	authCode, authorizeQuery                       string
	finishedForm                                   bool // a public form was filled in to its ending
}

// everyScope has the one that applications do not get by default.
const everyScope = allScopes + ",audit:read"

const allScopes = "forms:read,forms:write,responses:read,responses:write,webhooks:read,webhooks:write"

func newFixture(t *testing.T, s *clitest.Service, doc *clitest.Document, number int) *fixture {
	t.Helper()
	w := &fixture{t: t, service: s, doc: doc, rawConn: &rawConn{address: strings.TrimPrefix(s.URL, "http://")}, number: number, anonymous: &caller{name: "anonymous"}, lackingScope: map[string]*caller{}}
	defer w.rawConn.close()
	owner := w.email("owner")
	w.signUp("owner")
	w.app = s.AddApp(owner, "https://app.example.com/cb", "--scope="+everyScope)
	var adaBrowser *clitest.Browser
	w.ada, adaBrowser = w.addOwner("ada")
	for lacks, scope := range map[string]string{"forms:read": "forms:write", "forms:write": "forms:read", "responses:read": "responses:write", "responses:write": "responses:read", "webhooks:read": "webhooks:write", "webhooks:write": "webhooks:read", "audit:read": "forms:read"} {
		w.lackingScope[lacks] = w.authorize("ada with "+scope, adaBrowser, scope, w.ada.marker)
	}
	// Tokens that are exchanged, refreshed and revoked are separate from Ada's API
	// token.
	newToken := func() clitest.Token {
		return s.Exchange(w.app, adaBrowser.Allow(w.app.AuthorizeURL("forms:read")).Query().Get("code"))
	}
	w.refreshToken, w.revocableToken = newToken().Refresh, newToken().Access
	w.authCode = adaBrowser.Allow(w.app.AuthorizeURL("forms:read")).Query().Get("code")
	w.authorizeQuery = w.app.AuthorizeURL("forms:read,responses:read").Encode() + "&state=x&code_challenge=&code_challenge_method="
	w.liveForm, w.editForm = w.createForm(w.ada, "", true), w.createForm(w.ada, "", true)
	w.spareForms = []string{w.createForm(w.ada, " "+w.ada.marker, false)}
	for len(w.spareForms) < 8 {
		w.spareForms = append(w.spareForms, s.Call("POST", "/api/v1/forms/"+w.spareForms[0]+"/duplicate", w.token(w.ada), "").String("id"))
	}
	for range 8 {
		w.webhooks = append(w.webhooks, w.addWebhook(w.ada, w.liveForm))
	}
	for range 8 {
		w.themes = append(w.themes, s.Call("POST", "/api/v1/themes", w.token(w.ada), validTheme).String("id"))
	}
	for range 8 {
		w.views = append(w.views, s.Call("POST", "/api/v1/forms/"+w.liveForm+"/views", w.token(w.ada), validView).String("id"))
	}
	for range 8 {
		w.responses = append(w.responses, w.addResponse(w.ada, w.liveForm))
		w.notes = append(w.notes, s.Call("POST", "/api/v1/forms/"+w.liveForm+"/responses/"+w.responses[0]+"/notes", w.token(w.ada), `{"text": "Call back"}`).String("id"))
	}
	w.waitForDelivery(w.ada, w.liveForm)
	w.addResponse(w.ada, w.editForm)
	w.file, _ = w.addFile(w.ada, w.liveForm)
	w.picture = w.send(w.ada, "/api/v1/files", smallPNG).String("id")

	w.bea, w.beaBrowser = w.addOwnerWithBrowser("bea")
	w.addResponse(w.bea, w.createForm(w.bea, "", true))
	var cleoAPI *caller
	cleoAPI, w.cleo = w.addOwnerWithBrowser("cleo")
	w.cleoForm, w.cleoSpare = w.createForm(cleoAPI, "", true), w.createForm(cleoAPI, " "+w.cleo.marker, false)
	w.cleoWebhook, w.cleoSpareWebhook = w.addWebhook(cleoAPI, w.cleoForm), w.addWebhook(cleoAPI, w.cleoForm)
	for _, id := range []*string{&w.cleoTheme, &w.cleoSpareTheme} {
		*id = s.Call("POST", "/api/v1/themes", w.token(cleoAPI), validTheme).String("id")
	}
	w.cleoSpace = "spc_" + strings.TrimPrefix(s.Call("GET", "/api/v1/me", w.token(cleoAPI), "").String("id"), "usr_")
	w.cleoResponse = w.addResponse(cleoAPI, w.cleoForm)
	w.cleoView = s.Call("POST", "/api/v1/forms/"+w.cleoForm+"/views", w.token(cleoAPI), validView).String("id")
	w.addResponse(cleoAPI, w.cleoForm)
	w.cleoFile, w.cleoFileResponse = w.addFile(cleoAPI, w.cleoForm)
	w.cleoApp = s.AddApp(w.email("cleo"), "https://cleo.example.com/cb").ID
	w.cleoSpareApp = s.AddApp(w.email("cleo"), "https://cleo.example.com/cb").ID
	_, w.dora = w.addOwnerWithBrowser("dora")
	_, w.resetToken, _ = strings.Cut(strings.TrimSpace(s.Command("", "user", "reset", w.email("dora"))), "token=")

	w.send(w.ada, "/f/"+w.liveForm+"/files?field=papers&upload="+storedUpload, smallPDF)
	w.addOperations()
	for _, r := range slices.Compact(slices.Clone(w.seeds)) {
		// A seed that is rejected unchanged would be rejected for the same reason after
		// a mutation.
		if a := w.mustSend(r); number == 0 && a.status >= 300 {
			t.Errorf("%s %s is not valid to begin with: %s", r.method, r.target(), a)
		}
	}
	w.addPages()
	return w
}

func (w *fixture) email(name string) string { return fmt.Sprintf("%s%d@example.com", name, w.number) }

// signUp creates an account and returns a browser that is signed in to it.
func (w *fixture) signUp(name string) *clitest.Browser {
	w.t.Helper()
	b := w.service.Browser()
	p := b.PostAs(w.t, fmt.Sprintf("2001:db8:ffff:%x::1", w.number), "/signup", url.Values{"email": {w.email(name)}, "name": {name}, "password": {clitest.Password}})
	if p.StatusCode != http.StatusSeeOther {
		w.t.Fatalf("sign up %s: %d\n%s", name, p.StatusCode, p.Text)
	}
	return b
}

// addOwner creates a user and authorizes the application for all scopes.
func (w *fixture) addOwner(name string) (*caller, *clitest.Browser) {
	w.t.Helper()
	b := w.signUp(name)
	return w.authorize(name, b, everyScope, "mark"+rand.Text()), b
}

func (w *fixture) addOwnerWithBrowser(name string) (api, browser *caller) {
	w.t.Helper()
	api, b := w.addOwner(name)
	base, err := url.Parse(w.service.URL)
	if err != nil {
		w.t.Fatal(err)
	}
	var cookies []string
	for _, c := range b.Jar.Cookies(base) {
		cookies = append(cookies, c.Name+"="+c.Value)
	}
	return api, &caller{name: name + " in a browser", header: "Cookie", value: strings.Join(cookies, "; "), marker: api.marker}
}

func (w *fixture) authorize(name string, b *clitest.Browser, scope, marker string) *caller {
	w.t.Helper()
	token := w.service.Exchange(w.app, b.Allow(w.app.AuthorizeURL(scope)).Query().Get("code")).Access
	return &caller{name: name, header: "Authorization", value: "Bearer " + token, marker: marker}
}

func (w *fixture) token(c *caller) string { return strings.TrimPrefix(c.value, "Bearer ") }

// createForm creates a form with every kind of question.
func (w *fixture) createForm(c *caller, addition string, open bool) string {
	w.t.Helper()
	created := w.service.Call("POST", "/api/v1/forms", w.token(c), strings.Replace(everyKindForm, "Everything", "Everything"+addition, 1))
	if created.StatusCode != http.StatusCreated {
		w.t.Fatalf("make a form: %d %s", created.StatusCode, created.Text)
	}
	id := created.String("id")
	if open {
		if a := w.service.Call("POST", "/api/v1/forms/"+id+"/publish", w.token(c), ""); a.StatusCode != http.StatusCreated {
			w.t.Fatalf("publish: %d %s", a.StatusCode, a.Text)
		}
	}
	return id
}

// addResponse adds a response that contains the owner's marker.
func (w *fixture) addResponse(c *caller, form string) string {
	w.t.Helper()
	a := w.service.Call("POST", "/api/v1/forms/"+form+"/responses", w.token(c), fmt.Sprintf(everyAnswer, c.marker))
	if a.StatusCode != http.StatusCreated {
		w.t.Fatalf("respond: %d %s", a.StatusCode, a.Text)
	}
	return a.String("id")
}

const validTheme = `{"name": "Studio", "design": {"brand": "#b4532a", "mood": "paper", "width": "wide"}}`

// validWebhook is the body of a webhook whose receiver is down.
const validWebhook = `{"url": "http://127.0.0.1:1/hook", "events": ["response.created", "form.closed"], "active": true, "strict_order": false}`

func (w *fixture) addWebhook(c *caller, form string) string {
	w.t.Helper()
	a := w.service.Call("POST", "/api/v1/forms/"+form+"/webhooks", w.token(c), validWebhook)
	if a.StatusCode != http.StatusCreated {
		w.t.Fatalf("add webhook: %d %s", a.StatusCode, a.Text)
	}
	return a.String("id")
}

// waitForDelivery waits until the first webhook has tried to deliver the first response.
func (w *fixture) waitForDelivery(c *caller, form string) {
	w.t.Helper()
	path := "/api/v1/forms/" + form + "/webhooks/" + w.webhooks[0] + "/deliveries?per_page=200"
	id := "dlv_" + strings.TrimPrefix(w.responses[0], "rsp_")
	if !clitest.WaitFor(func() bool { return strings.Contains(w.service.Call("GET", path, w.token(c), "").Text, id) }) {
		w.t.Fatalf("%s was never tried", id)
	}
}

// chooseCaller returns who sends a request: in seven of ten cases the caller for whom
// it is valid.
func (w *fixture) chooseCaller(g *generator, seed *request) *caller {
	// Both cookies are invalid: the session's and the device's.
	invalid := &caller{name: "invalid caller", header: seed.as.header, value: strings.ReplaceAll(seed.as.value, ";", "x;") + "x"}
	others := []*caller{w.anonymous, invalid, w.bea}
	switch {
	case seed.as == w.dora:
		others = []*caller{w.anonymous, invalid} // the request would end the session of another user
	case seed.as.header == "Cookie":
		others = []*caller{w.anonymous, invalid, w.beaBrowser}
	case !seed.secured:
		others = []*caller{w.anonymous, w.ada, w.bea, w.dora}
	case seed.scope != "":
		others = append(others, w.lackingScope[seed.scope])
	}
	if g.Float64() < 0.7 {
		return seed.as
	}
	return pick(g, others)
}

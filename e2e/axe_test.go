package e2e

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"formulary/internal/cli/clitest"
	"formulary/internal/form"
	"formulary/internal/store/storetest"
)

// addForms gives a person forms, as long as pages cannot do that.
func addForms(t testing.TB, s *clitest.Service, email string, heads ...form.Header) {
	t.Helper()
	ctx := context.Background()
	db := storetest.Open(t, s.Place)
	person, err := db.UserByEmail(ctx, email)
	if err != nil {
		t.Fatal(err)
	}
	for _, head := range heads {
		if _, err := db.CreateForm(ctx, person.ID, head, nil, time.Now()); err != nil {
			t.Fatal(err)
		}
	}
}

type axeFinding struct {
	ID     string `json:"id"`
	Impact string `json:"impact"`
	Help   string `json:"help"`
	Nodes  []struct {
		HTML    string `json:"html"`
		Summary string `json:"failureSummary"`
	} `json:"nodes"`
}

// What axe looks for: all that the guidelines ask for, or only what differs
// between colour schemes and screens.
const (
	everyRule = `["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa"]`
	lookRules = `{type: "rule", values: ["color-contrast", "target-size"]}`
)

// The library that draws the API is not ours to judge.
const axeRun = `axe.run({exclude: ["#api"]}, {runOnly: %s})
	.then((r) => ({violations: r.violations, passes: r.passes.length}))`

// shownNodes is how many places are shown of what is wrong in many.
const shownNodes = 3

// barriers lists what in the page keeps people out.
func (b *tab) barriers() []string {
	b.t.Helper()
	return b.barriersBy(everyRule)
}

func (b *tab) barriersBy(rules string) []string {
	b.t.Helper()
	type result struct {
		Violations []axeFinding `json:"violations"`
		Passes     int          `json:"passes"`
	}
	if !ask(b, chromedp.Evaluate[bool](`"axe" in window`)) {
		ask(b, chromedp.Evaluate[any](axeSource+"\nnull"))
	}
	found := ask(b, chromedp.Evaluate[result](fmt.Sprintf(axeRun, rules), chromedp.EvalAwaitPromise))
	if found.Passes == 0 {
		b.t.Errorf("%s: nothing was checked", b.at().Path)
	}
	var list []string
	for _, v := range found.Violations {
		text := fmt.Sprintf("%s (%s): %s", v.ID, v.Impact, v.Help)
		for i, n := range v.Nodes {
			if i == shownNodes {
				text += fmt.Sprintf("\n  … and %d more", len(v.Nodes)-i)
				break
			}
			text += fmt.Sprintf("\n  %s\n    %s", n.HTML, strings.ReplaceAll(n.Summary, "\n", "\n    "))
		}
		list = append(list, text)
	}
	return list
}

// The checker has to find what is wrong with a page that is wrong.
func TestBarriers(t *testing.T) {
	t.Parallel()
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, `<!doctype html><html lang="en"><title>Poor</title><link rel="icon" href="data:,"><main><h1>Poor</h1>
			<p style="color: #bbb; background: #fff">Pale</p><input><img src="data:,">`)
	}))
	defer site.Close()
	b := openTab(t, site.URL)
	b.open("/")
	found := strings.Join(b.barriers(), "\n")
	for _, id := range []string{"color-contrast", "label", "image-alt"} {
		if !strings.Contains(found, id+" (") {
			t.Errorf("%s was not found in:\n%s", id, found)
		}
	}
}

// view is a page as somebody sees it.
type view struct {
	name   string
	path   string // empty: it comes after the view before it
	status int
	// then does something on the page before it is looked at.
	then func(*tab)
}

func (v view) show(b *tab) {
	b.t.Helper()
	if v.path != "" {
		b.wantStatus(b.open(v.path), v.status)
	}
	if v.then != nil {
		v.then(b)
	}
}

// strangerViews are the pages for people who are not signed in.
var strangerViews = []view{
	{name: "signin", path: "/signin", status: 200},
	{name: "wrong password", path: "/signin", status: 200, then: func(b *tab) {
		b.fill(`input[name="email"]`, ada)
		b.fill(`input[name="password"]`, "not-her-password")
		b.wantStatus(b.press(button("Sign in")), 401)
	}},
	{name: "signup", path: "/signup", status: 200},
	{name: "weak password", path: "/signup", status: 200, then: func(b *tab) {
		b.fill(`input[name="email"]`, "grace@example.com")
		b.fill(`input[name="password"]`, "password")
		b.wantStatus(b.press(button("Sign up")), 422)
	}},
	{name: "nothing there", path: "/nothing/here", status: 404},
	{name: "API", path: "/docs/api", status: 200},
	{name: "API operation", path: "/docs/api/changeForm", status: 200},
	{name: "API, a call to try", path: "/docs/api/createForm#try", status: 200},
	{name: "API callback", path: "/docs/api/callback", status: 200},
}

// memberViews are the pages of somebody with the application and forms.
func memberViews(app application) []view {
	return []view{
		{name: "forms", path: "/", status: 200},
		{name: "applications", path: "/applications", status: 200},
		{name: "new application", path: "/applications/new", status: 200},
		{name: "refused application", path: "/applications/new", status: 200, then: func(b *tab) {
			b.fill(`input[name="name"]`, "Shop")
			b.fill(`textarea[name="redirect_uris"]`, "http://shop.example/")
			b.wantStatus(b.press(button("Register")), 422)
		}},
		{name: "application", path: "/applications/" + app.ID, status: 200},
		{name: "application with a secret", path: "/applications/new", status: 200, then: func(b *tab) {
			b.fill(`input[name="name"]`, "Shop")
			b.fill(`textarea[name="redirect_uris"]`, "https://shop.example/")
			b.wantStatus(b.press(button("Register")), 200)
			b.shownSecret()
		}},
		{name: "consent", path: app.link("forms:read,forms:write,responses:read", "s"), status: 200},
		{name: "connections", path: "/connections", status: 200},
		{name: "account", path: "/account", status: 200},
		{name: "refused address", path: "/account", status: 200, then: func(b *tab) {
			b.fill(in("email", `[name="current"]`), "not-her-password")
			b.wantStatus(b.press(button("Change the address")), 422)
		}},
	}
}

// wantAllAccessible looks at each page in each colour scheme. One tab sees them
// all: pages must not depend on each other.
func wantAllAccessible(t *testing.T, b *tab, views []view) {
	t.Helper()
	for _, v := range views {
		t.Run(v.name, func(t *testing.T) {
			one := *b
			one.t = t
			v.show(&one)
			for _, scheme := range []string{"light", "dark"} {
				one.prefer(scheme)
				for _, barrier := range one.barriers() {
					t.Errorf("%s, %s: %s", one.at().Path, scheme, barrier)
				}
			}
		})
	}
}

func TestAccessibleToStrangers(t *testing.T) {
	t.Parallel()
	s := start(t, "--signup=open")
	wantAllAccessible(t, openTab(t, s.URL), strangerViews)
}

func TestAccessibleAtFirst(t *testing.T) {
	t.Parallel()
	setup := firstStart(t)
	site, path, _ := strings.Cut(setup, "/setup")
	b := openTab(t, site)
	wantAllAccessible(t, b, []view{
		{name: "no account", path: "/signin", status: 200},
		{name: "setup", path: "/setup" + path, status: 200},
	})
}

func TestAccessibleToNewcomers(t *testing.T) {
	t.Parallel()
	s := start(t)
	wantAllAccessible(t, visitor(t, s, ada), []view{
		{name: "no forms", path: "/", status: 200},
		{name: "no applications", path: "/applications", status: 200},
		{name: "no connections", path: "/connections", status: 200},
		{name: "nothing there", path: "/nothing/here", status: 404},
	})
}

func TestAccessibleToMembers(t *testing.T) {
	t.Parallel()
	b, app := member(t)
	wantAllAccessible(t, b, memberViews(app))
}

// member is somebody with forms, an application and a connection to it.
func member(t *testing.T) (*tab, application) {
	t.Helper()
	s := start(t)
	app := register(t, s)
	s.Token(ada, app.App, "forms:read,responses:read")
	addForms(t, s, ada,
		form.Header{Title: "Summer party", Description: "Are you coming?", Language: "en"},
		form.Header{Title: "Kundenumfrage", Language: "de"})
	return visitor(t, s, ada, app.origin), app
}

// On a small telephone nothing stands out to the side: a page scrolls in one
// direction.
func TestSmallScreen(t *testing.T) {
	t.Parallel()
	b, app := member(t)
	b.do(chromedp.EmulateViewport(360, 640))
	for _, v := range memberViews(app) {
		t.Run(v.name, func(t *testing.T) {
			one := *b
			one.t = t
			v.show(&one)
			if wide := ask(&one, chromedp.Evaluate[int](`document.documentElement.scrollWidth`)); wide > 360 {
				t.Errorf("%s is %d pixels wide on a screen of 360", one.at().Path, wide)
			}
		})
	}
}

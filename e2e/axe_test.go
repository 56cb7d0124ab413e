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

// addForms creates forms for a user directly in the database.
func addForms(t testing.TB, s *clitest.Service, email string, heads ...form.Header) {
	t.Helper()
	ctx := context.Background()
	db := storetest.Open(t, s.Storage)
	user, err := db.UserByEmail(ctx, email)
	if err != nil {
		t.Fatal(err)
	}
	for _, head := range heads {
		if _, err := db.CreateForm(ctx, user.ID, head, nil, time.Now()); err != nil {
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

// Rules that axe checks: all success criteria, or only those that depend on the color
// scheme and the size of the screen.
const (
	allAxeRules = `["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa"]`
	// Colors do not depend on the language, and checking them takes most of the time.
	languageAxeRules = allAxeRules + `, rules: {"color-contrast": {enabled: false}}`
	visualAxeRules   = `{type: "rule", values: ["color-contrast", "target-size"]}`
)

// axeRun leaves out the details of checks that pass and the selectors of elements, which
// take most of the time on large pages. What remains is mostly the contrast of texts, so texts
// that look the same are checked twice at most, not a hundred times. They look the same if they
// have the same path of tags and classes, and the same colors on the same backgrounds. The checker
// skips elements without a text of their own, but only after it looked at all around them. It need
// not look into frames.
const axeRun = `(async () => {
	const seen = new Map(), marked = [];
	const hasText = (e) => e.shadowRoot || e.matches("input, select, textarea") || Array.from(e.childNodes).some((n) => n.nodeType === Node.TEXT_NODE && n.data.trim() !== "");
	const mark = (parent, path) => {
		for (const e of parent.children) {
			const style = getComputedStyle(e), isDisabled = e.matches(":disabled, [aria-disabled=true], [inert]");
			const below = [path, e.localName, e.getAttribute("class"), isDisabled, style.backgroundColor, style.backgroundImage, style.opacity].join(" ");
			if (hasText(e)) {
				const look = [below, e.type, style.color, style.fontSize, style.fontWeight].join(" ");
				const times = seen.get(look) ?? 0;
				if (times < 2 && e.checkVisibility({visibilityProperty: true})) {
					seen.set(look, times + 1);
					e.setAttribute("data-check-contrast", "");
					marked.push(e);
				}
			}
			mark(e, below);
			if (e.shadowRoot) mark(e.shadowRoot, below);
		}
	};
	mark(document, "");
	axe.configure({rules: [{id: "color-contrast", selector: "[data-check-contrast]"}]});
	const r = await axe.run({runOnly: %s, resultTypes: ["violations"], selectors: false, iframes: false});
	for (const e of marked) e.removeAttribute("data-check-contrast");
	return {violations: r.violations, passes: r.passes.length};
})()`

// shownNodes limits the elements that are listed per violation.
const shownNodes = 3

// axeViolations returns the accessibility violations of the page.
func (b *tab) axeViolations() []string {
	b.t.Helper()
	return b.axeViolationsFor(allAxeRules)
}

func (b *tab) axeViolationsFor(rules string) []string {
	b.t.Helper()
	type result struct {
		Violations []axeFinding `json:"violations"`
		Passes     int          `json:"passes"`
	}
	if !run(b, chromedp.Evaluate[bool](`"axe" in window`)) {
		b.loadAxe()
	}
	checked := run(b, chromedp.Evaluate[result](fmt.Sprintf(axeRun, rules), chromedp.EvalAwaitPromise))
	if checked.Passes == 0 {
		b.t.Errorf("%s: nothing was checked", b.location().Path)
	}
	var list []string
	for _, v := range checked.Violations {
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

// loadAxe loads the checker. The first call also gives it to the pages that the tab opens later,
// so that the browser need not receive and compile it again for each page.
func (b *tab) loadAxe() {
	b.t.Helper()
	if !run(b, chromedp.Evaluate[bool](`"loadAxe" in window`)) {
		script := "window.loadAxe = () => {\n" + axeSource + "\n};"
		b.injectScript(script)
		run(b, chromedp.Evaluate[any](script+"null"))
	}
	run(b, chromedp.Evaluate[any](`loadAxe(), null`))
}

// TestAxeViolations: the checker finds the violations of a bad page, also of texts that look
// like the ones before them except for a color or that those are empty.
func TestAxeViolations(t *testing.T) {
	t.Parallel()
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, `<!doctype html><html lang="en"><title>Poor</title><link rel="icon" href="data:,"><main><h1>Poor</h1>
			<p>One<p>Two<p>Three<p style="color: #bbb">Pale<div><i>One</i> <i>Two</i></div><div style="background: #333"><i>Dim</i></div>
			<ul style="color: #bbb"><li><li><li>Faint</ul><input><img src="data:,">`)
	}))
	defer site.Close()
	b := openTab(t, site.URL)
	for _, page := range []string{"/", "/another"} { // they load the checker in different ways
		b.open(page)
		violations := strings.Join(b.axeViolations(), "\n")
		for _, want := range []string{"color-contrast (", ">Pale<", ">Dim<", ">Faint<", "label (", "image-alt ("} {
			if !strings.Contains(violations, want) {
				t.Errorf("%s: %s was not found in:\n%s", page, want, violations)
			}
		}
	}
	if source := run(b, chromedp.OuterHTML("html")); strings.Contains(source, "data-check-contrast") {
		t.Errorf("the check left marks in the page: %s", source)
	}
}

// view is a page to check, and how to reach it.
type view struct {
	name   string
	path   string // empty: continue from the previous view
	status int
	// prepare, if set, does something on the page before the check.
	prepare func(*tab)
}

func (v view) show(b *tab) {
	b.t.Helper()
	if v.path != "" {
		b.wantStatus(b.open(v.path), v.status)
	}
	if v.prepare != nil {
		v.prepare(b)
	}
}

// anonymousViews are the pages for users who are not signed in.
var anonymousViews = []view{
	{name: "signin", path: "/signin", status: 200},
	{name: "wrong password", path: "/signin", status: 200, prepare: func(b *tab) {
		b.fill(`input[name="email"]`, ada)
		b.fill(`input[name="password"]`, "not-her-password")
		b.wantStatus(b.press(button("Sign in")), 401)
	}},
	{name: "forgot", path: "/forgot", status: 200},
	{name: "link requested", path: "/forgot", status: 200, prepare: func(b *tab) {
		b.fill(`input[name="email"]`, "nobody@example.com")
		b.wantStatus(b.press(button("Request link")), 200)
	}},
	{name: "expired link", path: "/reset?token=x", status: 400},
	{name: "signup", path: "/signup", status: 200},
	{name: "weak password", path: "/signup", status: 200, prepare: func(b *tab) {
		b.fill(`input[name="email"]`, "grace@example.com")
		b.fill(`input[name="password"]`, "password")
		b.wantStatus(b.press(button("Sign up")), 422)
	}},
	{name: "not found", path: "/nothing/here", status: 404},
	{name: "API explorer", path: "/docs/api/listForms#try", status: 200},
	{name: "API callback", path: "/docs/api/callback", status: 200},
}

// createSpace creates a shared space on the page Spaces.
func createSpace(b *tab) {
	b.t.Helper()
	b.fill(`input[name="name"]`, "Team")
	b.press(button("Create space"))
}

// ownerViews are the pages of a user with forms and the application.
func ownerViews(app application) []view {
	return []view{
		{name: "forms", path: "/", status: 200},
		{name: "applications", path: "/applications", status: 200},
		{name: "new application", path: "/applications/new", status: 200},
		{name: "refused application", path: "/applications/new", status: 200, prepare: func(b *tab) {
			b.fill(`input[name="name"]`, "Shop")
			b.fill(`textarea[name="redirect_uris"]`, "http://shop.example/")
			b.wantStatus(b.press(button("Register application")), 422)
		}},
		{name: "application", path: "/applications/" + app.ID, status: 200},
		{name: "application with a secret", path: "/applications/new", status: 200, prepare: func(b *tab) {
			b.fill(`input[name="name"]`, "Shop")
			b.fill(`textarea[name="redirect_uris"]`, "https://shop.example/")
			b.wantStatus(b.press(button("Register application")), 200)
			b.shownSecret()
		}},
		{name: "consent", path: app.authorizePath("forms:read,forms:write,responses:read", "s"), status: 200},
		{name: "consent with forms to choose", path: app.authorizePath("forms:read", "s"), status: 200, prepare: func(b *tab) {
			b.do(chromedp.Click(".limits summary"))
			b.do(chromedp.Click(`[name="forms"][value="some"]`))
		}},
		{name: "personal tokens", path: "/tokens", status: 200},
		{name: "connections", path: "/connections", status: 200},
		{name: "spaces", path: "/spaces", status: 200},
		{name: "space", path: "/spaces", status: 200, prepare: func(b *tab) {
			createSpace(b)
			b.wantStatus(b.press(button("Create link")), 200)
		}},
		{name: "space that needs its owner", path: "/spaces", status: 200, prepare: func(b *tab) {
			createSpace(b)
			b.wantStatus(b.press(button("Leave space")), 422)
		}},
		{name: "audit log", path: "/spaces", status: 200, prepare: func(b *tab) {
			createSpace(b)
			b.wantStatus(b.press(link("Audit log")), 200)
		}},
		{name: "invitation", path: "/spaces", status: 200, prepare: func(b *tab) {
			createSpace(b)
			b.press(button("Create link"))
			address := run(b, chromedp.Evaluate[string](`document.documentElement.innerHTML.match(/\/invitation\?token=[\w-]+/)[0]`))
			b.wantStatus(b.open(address), 200)
		}},
		{name: "invitation that has ended", path: "/invitation?token=x", status: 400},
		{name: "grant", path: "/connections", status: 200, prepare: func(b *tab) { b.wantStatus(b.press(link("Limit access")), 200) }},
		{name: "account", path: "/account", status: 200},
		{name: "refused address", path: "/account", status: 200, prepare: func(b *tab) {
			b.fill(accountForm("email", `[name="current"]`), "not-her-password")
			b.wantStatus(b.press(button("Change email")), 422)
		}},
	}
}

// wantAllAccessible checks each page, on a desktop in light mode and on a small phone in dark
// mode, where nothing may scroll sideways. The views share one tab, so they must not depend on
// each other.
func wantAllAccessible(t *testing.T, b *tab, views []view) {
	t.Helper()
	for _, v := range views {
		t.Run(v.name, func(t *testing.T) {
			sub := *b
			sub.t = t
			sub.setColorScheme("light")
			sub.do(chromedp.EmulateViewport(1200, 900))
			v.show(&sub)
			for _, violation := range sub.axeViolations() {
				t.Errorf("%s, light: %s", sub.location().Path, violation)
			}
			sub.setColorScheme("dark")
			sub.wantFits(v.name, 360)
			for _, violation := range sub.axeViolationsFor(visualAxeRules) {
				t.Errorf("%s, dark: %s", sub.location().Path, violation)
			}
		})
	}
}

func TestAccessibleSignedOut(t *testing.T) {
	t.Parallel()
	s := start(t, "--signup=open")
	wantAllAccessible(t, openTab(t, s.URL), anonymousViews)
}

func TestAccessibleSetup(t *testing.T) {
	t.Parallel()
	setup := firstStart(t)
	site, path, _ := strings.Cut(setup, "/setup")
	b := openTab(t, site)
	wantAllAccessible(t, b, []view{
		{name: "no account", path: "/signin", status: 200},
		{name: "setup", path: "/setup" + path, status: 200},
	})
}

func TestAccessibleOwner(t *testing.T) {
	t.Parallel()
	b, app := ownerWithApp(t)
	wantAllAccessible(t, b, ownerViews(app))
}

// ownerWithApp returns a signed-in user with forms, an application and access to it.
func ownerWithApp(t *testing.T) (*tab, application) {
	t.Helper()
	s := start(t)
	app := registerApp(t, s)
	s.Token(ada, app.App, "forms:read,responses:read")
	addForms(t, s, ada,
		form.Header{Title: "Summer party", Description: "Are you coming?", Language: "en"},
		form.Header{Title: "Kundenumfrage", Language: "de"})
	return signedInTab(t, s, ada, app.origin), app
}

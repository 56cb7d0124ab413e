package e2e

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"formulary/internal/cli/clitest"
	"formulary/internal/form"
	"formulary/internal/store"
)

// maxWorkspacePageBytes is the limit for a page of the workspace with its styles and
// scripts, uncompressed.
const maxWorkspacePageBytes = 100_000

// afterClick returns a function that clicks an element and waits until another one is
// visible.
func afterClick(selector, shown string) func(*tab) {
	return func(b *tab) {
		b.t.Helper()
		b.wait(`document.querySelector("#builder .toolbar, #main:not(:has(#builder))") !== null`)
		b.do(chromedp.Click(selector), chromedp.WaitVisible(shown))
	}
}

// workspaceViews returns the pages of a new user, and those of an owner with an empty
// form and one with all kinds of questions, logic and responses.
func workspaceViews(s *clitest.Service, d ownerDB) (newUser, owner []view) {
	d.t.Helper()
	waitForBuilder := func(b *tab) { b.wait(`document.querySelector("#builder .toolbar") !== null`) }
	emptyForm := "/forms/" + d.createDraft(form.FormInput{Header: form.Header{Title: "Nothing yet", Language: "en"}})
	deleted := d.createDraft(form.FormInput{Header: form.Header{Title: "Not wanted any more", Language: "en"}})
	if err := d.db.DeleteForm(context.Background(), d.owner, deleted, 0, time.Now()); err != nil {
		d.t.Fatal(err)
	}
	everything := form.FormInput{Header: form.Header{Title: "Everything", Description: "All that can be asked", Language: "en"}, Availability: form.Availability{Sites: form.AnySite}, Definition: parseDefinition(d.t, everyKind)}
	everything.Definition.Endings = []*form.Ending{{Key: "bye", Title: "Goodbye", ShowIf: &form.Condition{Field: "shirt", Op: "equals", Value: false}}, {Key: "thanks", Title: "Thank you"}}
	everything.Definition.Fields[9].Jumps = []*form.Jump{{If: &form.Condition{Field: "shirt", Op: "equals", Value: false}, To: "bye"}}
	path := d.publish(everything)
	fullForm := strings.Replace(path, "/f/", "/forms/", 1)
	var response string
	for n := range 8 {
		response = d.addResponse(path, map[string]any{
			"nick": "Ada", "story": "A long story. " + strings.Repeat("And then it went on. ", 12), "mail": "ada@example.com", "site": "https://example.com/", "age": float64(20 + n), "loud": float64(n),
			"stars": float64(n%5 + 1), "recommend": float64(n % 11), "shirt": n%3 > 0, "size": []string{"s", "m", "an odd one"}[n%3], "bring": []string{"cake"}, "town": "bonn",
			"rank": []string{"talk", "dance"}, "days": map[string]any{"friday": "noon"}, "day": "2026-05-31", "hour": "17:30", "country": "DE", "last": "No",
		}, time.Now().Add(-time.Duration(n)*17*time.Hour))
	}
	saved, err := d.db.AddView(context.Background(), d.owner, store.View{FormID: strings.TrimPrefix(path, "/f/"), Name: "Good", Filter: store.ViewFilter{Answers: []store.Comparison{{Field: "stars", Op: "at_least", Value: "2"}}}}, store.IdempotencyKey{}, time.Now())
	if err != nil {
		d.t.Fatal(err)
	}
	app := s.AddApp(ada, "https://shop.example/callback")
	s.Call("GET", "/api/v1/forms", s.Token(ada, app, "forms:read").Access, "")
	newUser = []view{
		{name: "first steps", path: "/", status: 200},
		{name: "account", path: "/account", status: 200},
		{name: "no applications", path: "/applications", status: 200},
		{name: "no connections", path: "/connections", status: 200},
		{name: "not found", path: "/nothing/here", status: 404},
		{name: "API", path: "/docs/api", status: 200},
		{name: "API, an operation", path: "/docs/api/createForm", status: 200},
		{name: "API, a long path", path: "/docs/api/metadata", status: 200},
	}
	owner = []view{
		{name: "new form", path: "/", status: 200, prepare: afterClick(".menu.new-form summary", ".menu.new-form .template-button")},
		{name: "forms, with the menu of one", path: "/", status: 200, prepare: afterClick(".forms .menu summary", ".forms .menu .danger")},
		{name: "builder, empty", path: emptyForm + "/build", status: 200, prepare: waitForBuilder},
		{name: "builder, a question", path: fullForm + "/build", status: 200, prepare: afterClick(labelInput(12), ".card-actions")},
		{name: "builder, palette", path: fullForm + "/build", status: 200, prepare: afterClick(".outline .link-button", "dialog.palette")},
		{name: "builder, publishing", path: emptyForm + "/build", status: 200, prepare: afterClick(".toolbar .primary", "dialog form")},
		{name: "preview", path: fullForm + "/preview", status: 200},
		{name: "flow, empty", path: emptyForm + "/flow", status: 200},
		{name: "flow", path: fullForm + "/flow", status: 200},
		{name: "versions", path: fullForm + "/versions?version=1", status: 200},
		{name: "templates", path: "/templates", status: 200},
		{name: "share, draft", path: emptyForm + "/share", status: 200},
		{name: "share", path: fullForm + "/share", status: 200},
		{name: "share, a link for a person", path: fullForm + "/share", status: 200, prepare: func(b *tab) { b.wantStatus(b.press(button("Create link")), 200) }},
		{name: "share, refused", path: fullForm + "/share", status: 200, prepare: func(b *tab) {
			b.fill(`[name="slug"]`, "No good address")
			b.wantStatus(b.press(button("Save")), 422)
		}},
		{name: "responses, none", path: emptyForm + "/responses", status: 200},
		{name: "responses", path: fullForm + "/responses?where=stars&is=many", status: 200},
		{name: "responses, a filter", path: fullForm + "/responses?view=" + saved.ID + "&where=stars:at_least:2&days=7", status: 200, prepare: afterClick(".chip .menu summary", ".chip .menu form")},
		{name: "responses, columns", path: fullForm + "/responses", status: 200, prepare: afterClick(`//summary[normalize-space()="Columns"]`, `[name="column"]`)},
		{name: "response", path: fullForm + "/responses/" + response, status: 200},
		{name: "summary, empty", path: emptyForm + "/summary", status: 200},
		{name: "summary", path: fullForm + "/summary", status: 200},
		{name: "application", path: "/applications/" + app.ID, status: 200},
		{name: "try", path: "/applications/" + app.ID, status: 200, prepare: func(b *tab) { b.wantStatus(b.press(button("Try it")), 200) }},
	}
	return newUser, owner
}

// wantAccessiblePage checks the accessibility of a view on a desktop and a phone, in light
// and dark mode, and its size.
func wantAccessiblePage(t *testing.T, b *tab, v view) {
	t.Helper()
	b.do(chromedp.EmulateViewport(1280, 900))
	b.setColorScheme("light")
	v.show(b)
	wantSmallPage(t, b)
	// The second look checks what depends on the colors and the size of the screen.
	for _, look := range []struct {
		width         int64
		scheme, rules string
	}{{1280, "light", allAxeRules}, {360, "dark", visualAxeRules}} {
		b.do(chromedp.EmulateViewport(look.width, 800))
		if pageWidth := run(b, chromedp.Evaluate[int64](`document.documentElement.scrollWidth`)); pageWidth > look.width {
			t.Errorf("%d pixels wide on a screen of %d; too wide are: %s", pageWidth, look.width, run(b, chromedp.Evaluate[string](overflowing)))
		}
		b.setColorScheme(look.scheme)
		for _, violation := range b.axeViolationsFor(look.rules) {
			t.Errorf("%d pixels, %s: %s", look.width, look.scheme, violation)
		}
	}
}

// overflowing is a JavaScript expression for the innermost elements that make the page
// wider than the screen.
const overflowing = `Array.from(document.querySelectorAll("body *")).filter((e) => {
	const out = (e) => e.getBoundingClientRect().right > innerWidth + 1;
	return out(e) && !e.closest(".visually-hidden, .scroll-x, .tabs, pre") && !Array.from(e.children).some(out);
}).slice(0, 8).map((e) => e.localName + "." + (e.getAttribute("class") ?? "")).join(", ")`

// notMeasured matches images and framed pages.
var notMeasured = regexp.MustCompile(`\.(svg|png)$|/preview|/f/`)

// wantSmallPage fails the test if the page is larger than maxWorkspacePageBytes.
func wantSmallPage(t *testing.T, b *tab) {
	t.Helper()
	type part struct {
		Name string  `json:"name"`
		Size float64 `json:"decodedBodySize"`
	}
	parts := run(b, chromedp.Evaluate[[]part](`[...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")].map((e) => e.toJSON())`))
	var sum float64
	hasStyles, measured := false, map[string]bool{}
	for _, p := range parts {
		name, _, _ := strings.Cut(p.Name, "?")
		// A page with live counts may load itself again.
		if notMeasured.MatchString(name) || measured[p.Name] {
			continue
		}
		measured[p.Name] = true
		hasStyles = hasStyles || strings.HasSuffix(name, ".css") && p.Size > 0
		sum += p.Size
	}
	if !hasStyles {
		t.Errorf("no style sheet was measured among %v", parts)
	}
	if t.Logf("%.0f bytes", sum); sum > maxWorkspacePageBytes {
		t.Errorf("the page has %.0f bytes, more than %d: %v", sum, maxWorkspacePageBytes, parts)
	}
}

// TestWorkspaceAccessible checks all pages of the workspace.
func TestWorkspaceAccessible(t *testing.T) {
	t.Parallel()
	s := start(t, allowReceiver)
	emptyService := start(t)
	d := openOwnerDB(t, s)
	newUser, owner := workspaceViews(s, d)
	owner = slices.Concat(owner, connectViews(s, d), notifyViews(s, d))
	half := len(owner) / 2
	for name, group := range map[string]struct {
		s     *clitest.Service
		views []view
	}{"new user": {emptyService, newUser}, "owner, first half": {s, owner[:half]}, "owner, second half": {s, owner[half:]}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := signedInTab(t, group.s, ada)
			for _, v := range group.views {
				t.Run(v.name, func(t *testing.T) {
					sub := *b
					sub.t = t
					wantAccessiblePage(t, &sub, v)
				})
			}
		})
	}
}

package e2e

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"formulary/internal/cli/clitest"
	"formulary/internal/form"
)

// heaviestPage is what a page of the workspace may weigh in bytes, with its style and
// its scripts, as if nothing were compressed.
const heaviestPage = 100_000

// clicked is a view after something on it was opened.
func clicked(selector, shown string) func(*tab) {
	return func(b *tab) {
		b.t.Helper()
		b.wait(`document.querySelector("#builder .tools, #main:not(:has(#builder))") !== null`)
		b.do(chromedp.Click(selector), chromedp.WaitVisible(shown))
	}
}

// workspaceViews are what an owner sees: of nothing, and of a form with all kinds
// of questions, logic and answers.
func workspaceViews(s *clitest.Service, d desk) (newcomer, owner []view) {
	d.t.Helper()
	built := func(b *tab) { b.wait(`document.querySelector("#builder .tools") !== null`) }
	empty := "/forms/" + d.draft(form.FormInput{Header: form.Header{Title: "Nothing yet", Language: "en"}})
	gone := d.draft(form.FormInput{Header: form.Header{Title: "Not wanted any more", Language: "en"}})
	if err := d.db.DeleteForm(context.Background(), d.owner, gone, 0, time.Now()); err != nil {
		d.t.Fatal(err)
	}
	everything := form.FormInput{Header: form.Header{Title: "Everything", Description: "All that can be asked", Language: "en"}, Availability: form.Availability{Sites: form.AnySite}, Definition: asking(d.t, everyKind)}
	everything.Definition.Endings = []*form.Ending{{Key: "bye", Title: "Goodbye", ShowIf: &form.Condition{Field: "shirt", Op: "equals", Value: false}}, {Key: "thanks", Title: "Thank you"}}
	everything.Definition.Fields[9].Jumps = []*form.Jump{{If: &form.Condition{Field: "shirt", Op: "equals", Value: false}, To: "bye"}}
	path := d.publish(everything)
	full := strings.Replace(path, "/f/", "/forms/", 1)
	var response string
	for n := range 8 {
		response = d.answer(path, map[string]any{
			"nick": "Ada", "story": "A long story. " + strings.Repeat("And then it went on. ", 12), "mail": "ada@example.com", "site": "https://example.com/", "age": float64(20 + n), "loud": float64(n),
			"stars": float64(n%5 + 1), "recommend": float64(n % 11), "shirt": n%3 > 0, "size": []string{"s", "m", "an odd one"}[n%3], "bring": []string{"cake"}, "town": "bonn",
			"rank": []string{"talk", "dance"}, "days": map[string]any{"friday": "noon"}, "day": "2026-05-31", "hour": "17:30", "country": "DE", "last": "No",
		}, time.Now().Add(-time.Duration(n)*17*time.Hour))
	}
	app := s.AddApp(ada, "https://shop.example/callback")
	s.Call("GET", "/api/v1/forms", s.Token(ada, app, "forms:read").Access, "")
	newcomer = []view{
		{name: "first steps", path: "/", status: 200},
		{name: "account", path: "/account", status: 200},
		{name: "API", path: "/docs/api", status: 200},
		{name: "API, an operation", path: "/docs/api/createForm", status: 200},
		{name: "API, a long path", path: "/docs/api/metadata", status: 200},
	}
	owner = []view{
		{name: "forms", path: "/", status: 200},
		{name: "new form", path: "/", status: 200, then: clicked(".menu.new summary", ".menu.new .starter")},
		{name: "more about a form", path: "/", status: 200, then: clicked(".forms .menu summary", ".forms .menu .danger")},
		{name: "builder, empty", path: empty + "/build", status: 200, then: built},
		{name: "builder, a question", path: full + "/build", status: 200, then: clicked(words(12), ".handles")},
		{name: "builder, palette", path: full + "/build", status: 200, then: clicked(".more .primary", "dialog.palette")},
		{name: "builder, publishing", path: empty + "/build", status: 200, then: clicked(".tools .primary", "dialog form")},
		{name: "preview", path: full + "/preview", status: 200},
		{name: "flow, empty", path: empty + "/flow", status: 200},
		{name: "flow", path: full + "/flow", status: 200},
		{name: "share, draft", path: empty + "/share", status: 200},
		{name: "share", path: full + "/share", status: 200},
		{name: "share, refused", path: full + "/share", status: 200, then: func(b *tab) {
			b.fill(`[name="slug"]`, "No good address")
			b.wantStatus(b.press(button("Save")), 422)
		}},
		{name: "responses, none", path: empty + "/responses", status: 200},
		{name: "responses", path: full + "/responses?where=stars&is=many", status: 200},
		{name: "responses, columns", path: full + "/responses", status: 200, then: clicked(`//summary[normalize-space()="Columns"]`, `[name="column"]`)},
		{name: "response", path: full + "/responses/" + response, status: 200},
		{name: "summary, empty", path: empty + "/summary", status: 200},
		{name: "summary", path: full + "/summary", status: 200},
		{name: "application", path: "/applications/" + app.ID, status: 200},
		{name: "try", path: "/applications/" + app.ID, status: 200, then: func(b *tab) { b.wantStatus(b.press(button("Try it")), 200) }},
	}
	return newcomer, owner
}

// wantGood looks at what a view shows: at a desk and on a telephone, by day and by
// night, and at what it weighs.
func wantGood(t *testing.T, b *tab, v view) {
	t.Helper()
	b.do(chromedp.EmulateViewport(1280, 900))
	b.prefer("light")
	v.show(b)
	weigh(t, b)
	for _, width := range []int64{1280, 360} {
		b.do(chromedp.EmulateViewport(width, 800))
		if wide := ask(b, chromedp.Evaluate[int64](`document.documentElement.scrollWidth`)); wide > width {
			t.Errorf("%d pixels wide on a screen of %d; these stand out: %s", wide, width, ask(b, chromedp.Evaluate[string](standOut)))
		}
		for scheme, rules := range map[string]string{"light": everyRule, "dark": lookRules} {
			if width == 360 && scheme == "dark" {
				continue // the colours are those of the desk at night
			}
			b.prefer(scheme)
			for _, barrier := range b.barriersBy(rules) {
				t.Errorf("%d pixels, %s: %s", width, scheme, barrier)
			}
		}
	}
}

// standOut names the innermost elements that make the page wider than the screen.
const standOut = `Array.from(document.querySelectorAll("body *")).filter((e) => {
	const out = (e) => e.getBoundingClientRect().right > innerWidth + 1;
	return out(e) && !e.closest(".unseen, .wide, .tabs, pre") && !Array.from(e.children).some(out);
}).slice(0, 8).map((e) => e.localName + "." + (e.getAttribute("class") ?? "")).join(", ")`

func weigh(t *testing.T, b *tab) {
	t.Helper()
	type part struct {
		Name string  `json:"name"`
		Size float64 `json:"decodedBodySize"`
	}
	parts := ask(b, chromedp.Evaluate[[]part](`[...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")].map((e) => e.toJSON())`))
	var sum float64
	styled := false
	for _, p := range parts {
		name, _, _ := strings.Cut(p.Name, "?")
		if strings.HasSuffix(name, ".svg") || strings.HasSuffix(name, ".png") || strings.Contains(name, "/preview") || strings.Contains(name, "/f/") {
			continue
		}
		styled = styled || strings.HasSuffix(name, ".css") && p.Size > 0
		sum += p.Size
	}
	if !styled {
		t.Errorf("no style was weighed among %v", parts)
	}
	if t.Logf("%.0f bytes", sum); sum > heaviestPage {
		t.Errorf("the page weighs %.0f bytes, more than %d", sum, heaviestPage)
	}
}

// Everybody can use the workspace, whatever they see, on whatever they see it.
func TestWorkspaceForEverybody(t *testing.T) {
	t.Parallel()
	s := start(t)
	fresh := start(t)
	newcomer, owner := workspaceViews(s, openDesk(t, s))
	half := len(owner) / 2
	for name, group := range map[string]struct {
		s     *clitest.Service
		views []view
	}{"newcomer": {fresh, newcomer}, "owner": {s, owner[:half]}, "owner too": {s, owner[half:]}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := visitor(t, group.s, ada)
			for _, v := range group.views {
				t.Run(v.name, func(t *testing.T) {
					one := *b
					one.t = t
					wantGood(t, &one, v)
				})
			}
		})
	}
}

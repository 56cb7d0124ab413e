package e2e

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"

	"formulary/internal/form"
)

// blog is a page on another site, with a form in it. Its host has another name
// than the service's, so that browsers hold the two apart.
func blog(t testing.TB, service, path string) string {
	t.Helper()
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, `<!doctype html><html lang="en"><title>Blog</title><link rel="icon" href="data:,"><h1>Our blog</h1>
			<script src="%s/embed.js" data-form="%s" data-title="Guests" data-answer-name="Ada" async></script><p>Below`, service, strings.TrimPrefix(path, "/f/"))
	}))
	t.Cleanup(site.Close)
	return strings.Replace(site.URL, "127.0.0.1", "localhost", 1)
}

// frame finds the frame that shows a page of another site, once it is there.
func (b *tab) frame(site, path string) *tab {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	var id target.ID
	var seen []string
	if err := eventually(ctx, func() bool {
		list, err := chromedp.Targets(ctx)
		if err != nil {
			return false
		}
		seen = nil
		for _, info := range list {
			if info.Type == "iframe" && strings.HasPrefix(info.URL, site+path) {
				id = info.TargetID
			}
			seen = append(seen, info.Type+" "+info.URL)
		}
		return id != ""
	}); err != nil {
		b.t.Fatalf("no frame shows %s; there are %q", path, seen)
	}
	inside, leave := chromedp.NewContext(b.ctx, chromedp.WithTargetID(id), chromedp.WithDetachOnCancel())
	b.t.Cleanup(leave)
	f := &tab{t: b.t, ctx: inside, site: site, watch: startWatch(b.t, inside, []string{site})}
	f.wait(`document.readyState === "complete"`)
	return f
}

// frameHeight is how high the page makes the frame.
const frameHeight = `document.querySelector("iframe").getBoundingClientRect().height`

// waitFits waits until what is in the frame can be seen without scrolling there,
// and returns how high the frame is then.
func (b *tab) waitFits(inside *tab) (height float64) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	var needs float64
	if err := eventually(ctx, func() bool {
		height = ask(b, chromedp.Evaluate[float64](frameHeight))
		needs = ask(inside, chromedp.Evaluate[float64](`document.documentElement.scrollHeight`))
		return height >= needs && ask(inside, chromedp.Evaluate[bool](`document.documentElement.scrollHeight <= innerHeight`))
	}); err != nil {
		b.t.Fatalf("the frame is %v pixels high, what is in it %v:\n%s", height, needs, inside.describe())
	}
	return height
}

// guests asks about cake, of which there is a long list, and ends with a long story.
func guests(t testing.TB) *form.Definition {
	t.Helper()
	var cakes []string
	for i := range 12 {
		cakes = append(cakes, fmt.Sprintf(`{"label": "Cake number %d"}`, i))
	}
	return asking(t, `{"fields": [
		{"key": "name", "kind": "short_text", "label": "Name", "required": true},
		{"key": "cake", "kind": "yes_no", "label": "Cake?"},
		{"key": "which", "kind": "multiple_choice", "label": "Which?", "options": [`+strings.Join(cakes, ", ")+`], "show_if": {"field": "cake", "op": "equals", "value": true}},
		{"kind": "page_break", "label": "Second page"}, {"key": "last", "kind": "short_text", "label": "Anything else?"}],
		"endings": [{"title": "See you, {{name}}", "text": "`+strings.Repeat(`Once upon a time there was a party.\n\n`, 20)+`"}]}`)
}

// On somebody's own page a form is as high as it needs to be, and works.
func TestEmbed(t *testing.T) {
	t.Parallel()
	s := start(t)
	desk := openDesk(t, s)
	plan := form.FormInput{Header: form.Header{Title: "Guests"}, Definition: guests(t)}
	plan.Sites = "*"
	path := desk.publish(plan)
	b := openTab(t, blog(t, s.URL, path), s.URL)
	b.wantStatus(b.open("/"), 200)
	b.wait(`document.querySelector("iframe")?.title === "Guests"`)
	f := b.frame(s.URL, path)
	low := b.waitFits(f)
	if got := ask(f, chromedp.Evaluate[string](`document.querySelector('input[name="name"]').value`)); got != "Ada" {
		t.Errorf("the form begins with %q", got)
	}

	// It grows and shrinks with the questions.
	f.choose("cake", "true")
	f.waitAsked("name", "cake", "which")
	b.wait(fmt.Sprintf(frameHeight+` >= %v`, low+300))
	b.waitFits(f)
	f.choose("cake", "false")
	f.waitAsked("name", "cake")
	b.wait(fmt.Sprintf(frameHeight+` <= %v`, low+20))
	b.waitFits(f)
	f.choose("cake", "true")
	f.waitAsked("name", "cake", "which")
	b.wait(fmt.Sprintf(frameHeight+` >= %v`, low+300))
	b.waitFits(f)
	f.choose("which", "cake_number_3")

	// What is wrong can be seen, wherever on the page around it that is.
	b.do(chromedp.Evaluate[chromedp.Void](`document.querySelector("h1").style.height = "3000px"`))
	f.fill(`input[name="name"]`, " ")
	f.wantStatus(f.pressAnyhow(), 422)
	b.wait(`Math.abs(document.querySelector("iframe").getBoundingClientRect().top) < innerHeight`)
	f.wait(`document.activeElement?.name === "name"`)
	f.fill(`input[name="name"]`, "Ada")
	f.wantRefused("?embed=1", 422)
	f.wantStatus(f.press(button("Next")), 200)
	f.wantWords("Second page")
	b.waitFits(f)
	f.fill(`input[name="last"]`, "No")
	f.wantStatus(f.press(button("Submit")), 200)
	f.wantPath(path + "/done")
	f.wantWords("See you, Ada")
	b.waitFits(f)
	if at := b.at(); at.Path != "/" {
		t.Errorf("the page around it went to %s", at)
	}
	f.wantQuiet()
	desk.wantStored(path, `{"name": "Ada", "cake": true, "which": ["cake_number_3"], "last": "No"}`)
}

// Where an ending leads elsewhere, the whole page goes there, and not the frame.
func TestEmbedLeadsOn(t *testing.T) {
	t.Parallel()
	s := start(t)
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Frame-Options", "DENY")
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, `<!doctype html><html lang="en"><title>Shop</title><link rel="icon" href="data:,"><h1>Our shop greets %s`, r.URL.Query().Get("who"))
	}))
	t.Cleanup(elsewhere.Close)
	plan := form.FormInput{Header: form.Header{Title: "Guests"}, Definition: asking(t, `{"fields": [{"key": "name", "kind": "short_text", "label": "Name"}],
		"endings": [{"redirect": "`+elsewhere.URL+`/?who={{name}}"}]}`)}
	plan.Sites = "*"
	path := openDesk(t, s).publish(plan)
	b := openTab(t, blog(t, s.URL, path), s.URL, elsewhere.URL)
	b.wantStatus(b.open("/"), 200)
	b.wait(`document.querySelector("iframe")?.title === "Guests"`)
	f := b.frame(s.URL, path)
	f.do(chromedp.Evaluate[chromedp.Void](`document.querySelector("button.primary").click()`))
	b.wait(`document.body?.innerText.includes("Our shop greets Ada")`)
}

// Sites that the owner did not choose show nothing of it.
func TestEmbedRefused(t *testing.T) {
	t.Parallel()
	s := start(t)
	desk := openDesk(t, s)
	for name, sites := range map[string]string{"nobody": "", "somebody else": "https://friend.example"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan := form.FormInput{Header: form.Header{Title: "Guests"}, Definition: guests(t)}
			plan.Sites = sites
			desk := desk.in(t)
			path := desk.publish(plan)
			ctx, closeTab := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
			defer closeTab()
			host := blog(t, s.URL, path)
			b := &tab{t: t, ctx: ctx, site: host, watch: startWatch(t, ctx, []string{host, s.URL})}
			b.wantStatus(b.open("/"), 200)
			f := b.frame(s.URL, path)
			f.wait(`location.href === "chrome-error://chromewebdata/"`)
			if f.count("form") != 0 {
				t.Errorf("the frame shows a form:\n%s", f.describe())
			}
			if problems := strings.Join(b.watch.problems(), "\n"); !strings.Contains(problems, "frame-ancestors") {
				t.Errorf("the browser did not say that it refused: %q", problems)
			}
		})
	}
}

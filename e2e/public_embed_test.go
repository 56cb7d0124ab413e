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

// startBlog starts another site with a page that embeds a form. Its host name differs
// from the service's, so that browsers isolate the two.
func startBlog(t testing.TB, service, path string) string {
	t.Helper()
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, `<!doctype html><html lang="en"><title>Blog</title><link rel="icon" href="data:,"><h1>Our blog</h1>
			<script src="%s/embed.js" data-form="%s" data-title="Guests" data-answer-name="Ada" async></script><p>Below`, service, strings.TrimPrefix(path, "/f/"))
	}))
	t.Cleanup(site.Close)
	return strings.Replace(site.URL, "127.0.0.1", "localhost", 1)
}

// findFrame waits for the frame that shows a page of another site.
func (b *tab) findFrame(site, path string) *tab {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, waitTimeout)
	defer cancel()
	var id target.ID
	var frames []string
	if err := waitUntil(ctx, func() bool {
		list, err := chromedp.Targets(ctx)
		if err != nil {
			return false
		}
		frames = nil
		for _, info := range list {
			if info.Type == "iframe" && strings.HasPrefix(info.URL, site+path) {
				id = info.TargetID
			}
			frames = append(frames, info.Type+" "+info.URL)
		}
		return id != ""
	}); err != nil {
		b.t.Fatalf("no frame shows %s; there are %q", path, frames)
	}
	inside, detach := chromedp.NewContext(b.ctx, chromedp.WithTargetID(id), chromedp.WithDetachOnCancel())
	b.t.Cleanup(detach)
	f := &tab{t: b.t, ctx: inside, site: site, monitor: startMonitor(b.t, inside, []string{site})}
	f.wait(`document.readyState === "complete"`)
	return f
}

// frameHeight is a JavaScript expression for the height of the frame.
const frameHeight = `document.querySelector("iframe").getBoundingClientRect().height`

// waitForFit waits until the content of the frame fits without scrolling, and returns
// the height of the frame.
func (b *tab) waitForFit(inside *tab) (height float64) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, waitTimeout)
	defer cancel()
	var contentHeight float64
	if err := waitUntil(ctx, func() bool {
		height = run(b, chromedp.Evaluate[float64](frameHeight))
		contentHeight = run(inside, chromedp.Evaluate[float64](`document.documentElement.scrollHeight`))
		return height >= contentHeight && run(inside, chromedp.Evaluate[bool](`document.documentElement.scrollHeight <= innerHeight`))
	}); err != nil {
		b.t.Fatalf("the frame is %v pixels high, what is in it %v:\n%s", height, contentHeight, inside.describe())
	}
	return height
}

// guestsForm is a form with a long list of options that depends on an answer, and a
// long ending.
func guestsForm(t testing.TB) *form.Definition {
	t.Helper()
	var cakes []string
	for i := range 12 {
		cakes = append(cakes, fmt.Sprintf(`{"label": "Cake number %d"}`, i))
	}
	return parseDefinition(t, `{"fields": [
		{"key": "name", "kind": "short_text", "label": "Name", "required": true},
		{"key": "cake", "kind": "yes_no", "label": "Cake?"},
		{"key": "which", "kind": "multiple_choice", "label": "Which?", "options": [`+strings.Join(cakes, ", ")+`], "show_if": {"field": "cake", "op": "equals", "value": true}},
		{"kind": "page_break", "label": "Second page"}, {"key": "last", "kind": "short_text", "label": "Anything else?"}],
		"endings": [{"title": "See you, {{name}}", "text": "`+strings.Repeat(`Once upon a time there was a party.\n\n`, 20)+`"}]}`)
}

// TestEmbed: an embedded form is as high as its content, and works.
func TestEmbed(t *testing.T) {
	t.Parallel()
	s := start(t)
	ownerDB := openOwnerDB(t, s)
	in := form.FormInput{Header: form.Header{Title: "Guests"}, Definition: guestsForm(t)}
	in.Sites = "*"
	path := ownerDB.publish(in)
	b := openTab(t, startBlog(t, s.URL, path), s.URL)
	b.wantStatus(b.open("/"), 200)
	b.wait(`document.querySelector("iframe")?.title === "Guests"`)
	f := b.findFrame(s.URL, path)
	initialHeight := b.waitForFit(f)
	if got := run(f, chromedp.Evaluate[string](`document.querySelector('input[name="name"]').value`)); got != "Ada" {
		t.Errorf("the form begins with %q", got)
	}

	// The frame grows and shrinks with the questions.
	f.choose("cake", "true")
	f.waitForQuestions("name", "cake", "which")
	b.wait(fmt.Sprintf(frameHeight+` >= %v`, initialHeight+300))
	b.waitForFit(f)
	f.choose("cake", "false")
	f.waitForQuestions("name", "cake")
	b.wait(fmt.Sprintf(frameHeight+` <= %v`, initialHeight+20))
	b.waitForFit(f)
	f.choose("cake", "true")
	f.waitForQuestions("name", "cake", "which")
	b.wait(fmt.Sprintf(frameHeight+` >= %v`, initialHeight+300))
	b.waitForFit(f)
	f.choose("which", "cake_number_3")

	// The first problem is scrolled into view, even in a long page around the frame.
	b.do(chromedp.Evaluate[chromedp.Void](`document.querySelector("h1").style.height = "3000px"`))
	f.fill(`input[name="name"]`, " ")
	f.wantStatus(f.submitUnchecked(), 422)
	b.wait(`Math.abs(document.querySelector("iframe").getBoundingClientRect().top) < innerHeight`)
	f.wait(`document.activeElement?.name === "name"`)
	f.fill(`input[name="name"]`, "Ada")
	f.wantRefused("?embed=1", 422)
	f.wait(`document.getElementById("problem-name") === null`)
	b.waitForFit(f)
	f.wantStatus(f.press(button("Next")), 200)
	f.wantText("Second page")
	b.waitForFit(f)
	f.fill(`input[name="last"]`, "No")
	f.wantStatus(f.press(button("Submit")), 200)
	f.wantPath(path + "/done")
	f.wantText("See you, Ada")
	b.waitForFit(f)
	if location := b.location(); location.Path != "/" {
		t.Errorf("the page around it went to %s", location)
	}
	f.wantNoProblems()
	ownerDB.wantStored(path, `{"name": "Ada", "cake": true, "which": ["cake_number_3"], "last": "No"}`)
}

// TestEmbedRedirect: a redirect ending leaves the frame and loads in the whole page.
func TestEmbedRedirect(t *testing.T) {
	t.Parallel()
	s := start(t)
	shop := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Frame-Options", "DENY")
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, `<!doctype html><html lang="en"><title>Shop</title><link rel="icon" href="data:,"><h1>Our shop greets %s`, r.URL.Query().Get("who"))
	}))
	t.Cleanup(shop.Close)
	d := openOwnerDB(t, s)
	submit := func(query string) (*tab, *tab) {
		in := form.FormInput{Header: form.Header{Title: "Guests"}, Definition: parseDefinition(t, `{"fields": [{"key": "name", "kind": "short_text", "label": "Name"}],
			"endings": [{"redirect": "`+shop.URL+query+`"}]}`)}
		in.Sites = "*"
		path := d.publish(in)
		b := openTab(t, startBlog(t, s.URL, path), s.URL, shop.URL)
		b.wantStatus(b.open("/"), 200)
		b.wait(`document.querySelector("iframe")?.title === "Guests"`)
		b.do(chromedp.Evaluate[chromedp.Void](`window.messages = [], addEventListener("message", ({ data }) => { messages.push(JSON.stringify(data)); })`))
		f := b.findFrame(s.URL, path)
		f.do(chromedp.Evaluate[chromedp.Void](`document.querySelector("button.primary").click()`))
		return b, f
	}
	b, _ := submit("/?who=everybody")
	b.wait(`document.body?.innerText.includes("Our shop greets everybody")`)
	// Any site may embed the form, so it does not learn the answers in the address.
	b, f := submit("/?who={{name}}")
	f.wait(`document.querySelector("a[target=_top]")?.href.endsWith("?who=Ada")`)
	b.wait(`messages.filter((m) => m.includes("formularyAt")).length > 0`)
	if leaked := run(b, chromedp.Evaluate[string](`messages.filter((m) => m.includes("Ada")).join()`)); leaked != "" {
		t.Errorf("the page around the frame learned %s", leaked)
	}
	f.do(chromedp.Click("a[target=_top]"))
	b.wait(`document.body?.innerText.includes("Our shop greets Ada")`)
}

// TestEmbedRefused: sites that the owner did not allow cannot show the form.
func TestEmbedRefused(t *testing.T) {
	t.Parallel()
	s := start(t)
	ownerDB := openOwnerDB(t, s)
	for name, sites := range map[string]string{"no site": "", "another site": "https://friend.example"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := form.FormInput{Header: form.Header{Title: "Guests"}, Definition: guestsForm(t)}
			in.Sites = sites
			ownerDB := ownerDB.withT(t)
			path := ownerDB.publish(in)
			ctx, closeTab := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
			defer closeTab()
			host := startBlog(t, s.URL, path)
			b := &tab{t: t, ctx: ctx, site: host, monitor: startMonitor(t, ctx, []string{host, s.URL})}
			b.wantStatus(b.open("/"), 200)
			f := b.findFrame(s.URL, path)
			f.wait(`location.href === "chrome-error://chromewebdata/"`)
			if f.count("form") != 0 {
				t.Errorf("the frame shows a form:\n%s", f.describe())
			}
			if problems := strings.Join(b.monitor.problems(), "\n"); !strings.Contains(problems, "frame-ancestors") {
				t.Errorf("the browser did not say that it refused: %q", problems)
			}
		})
	}
}

package e2e

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"

	"formulary/internal/form"
)

// blog is a page on another site, with a form in it. Its host has another name
// than the service's, so that browsers hold the two apart.
func blog(t testing.TB, service, id string) string {
	t.Helper()
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, `<!doctype html><html lang="en"><title>Blog</title><link rel="icon" href="data:,"><h1>Our blog</h1>
			<script src="%s/embed.js" data-form="%s" data-title="Guests" data-answer-name="Ada" async></script><p>Below`, service, id)
	}))
	t.Cleanup(site.Close)
	return strings.Replace(site.URL, "127.0.0.1", "localhost", 1)
}

// frame finds the frame of another site in the page, once it is there.
func (b *tab) frame(address string) *tab {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	var found target.ID
	var seen []string
	if err := eventually(ctx, func() bool {
		list, err := chromedp.Targets(ctx)
		if err != nil {
			return false
		}
		seen = nil
		i := slices.IndexFunc(list, func(info *target.Info) bool {
			seen = append(seen, info.Type+" "+info.URL)
			return info.Type == "iframe" && strings.HasPrefix(info.URL, address)
		})
		if i >= 0 {
			found = list[i].TargetID
		}
		return i >= 0
	}); err != nil {
		b.t.Fatalf("no frame with %s; there are %q", address, seen)
	}
	inside, leave := chromedp.NewContext(b.ctx, chromedp.WithTargetID(found))
	b.t.Cleanup(leave)
	return &tab{t: b.t, ctx: inside, site: b.site, watch: startWatch(b.t, inside, []string{b.site})}
}

// frameHeight is how high the page makes the frame.
const frameHeight = `document.querySelector("iframe").getBoundingClientRect().height`

// waitFits waits until the frame is as high as what is in it, and returns that.
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
		b.t.Fatalf("the frame is %v pixels high, what is in it %v", height, needs)
	}
	return height
}

func TestEmbed(t *testing.T) {
	t.Parallel()
	s := start(t)
	desk := openDesk(t, s)
	var long []string
	for i := range 12 {
		long = append(long, fmt.Sprintf(`{"label": "Cake number %d"}`, i))
	}
	plan := form.Plan{Head: form.Head{Title: "Guests"}, Definition: asking(t, `{"fields": [
		{"key": "name", "kind": "short_text", "label": "Name", "required": true},
		{"key": "cake", "kind": "yes_no", "label": "Cake?"},
		{"key": "which", "kind": "multiple_choice", "label": "Which?", "options": [`+strings.Join(long, ", ")+`], "show_if": {"field": "cake", "op": "equals", "value": true}},
		{"kind": "page_break", "label": "Second page"}, {"key": "last", "kind": "short_text", "label": "Anything else?"}]}`)}
	plan.Sites = "*"
	path := desk.publish(plan)
	host := blog(t, s.URL, strings.TrimPrefix(path, "/f/"))
	b := openTab(t, host, s.URL)
	b.wantStatus(b.open("/"), 200)
	b.wait(`document.querySelector("iframe")?.title === "Guests"`)

	f := b.frame(s.URL + path)
	f.site = s.URL
	f.wait(`document.readyState === "complete"`)
	low := b.waitFits(f)
	if got := ask(f, chromedp.Evaluate[string](`document.querySelector('input[name="name"]').value`)); got != "Ada" {
		t.Errorf("the form begins with %q", got)
	}
	f.choose("cake", "true")
	f.waitAsked("name", "cake", "which")
	b.wait(fmt.Sprintf(frameHeight+` > %v`, low+300))
	b.waitFits(f)
	t.Log(low, ask(b, chromedp.Evaluate[float64](frameHeight)))
	f.choose("cake", "false")
	f.waitAsked("name", "cake")
	b.waitFits(f)
	t.Log(low, ask(b, chromedp.Evaluate[float64](frameHeight)))
	f.press(button("Next"))
	f.wantWords("Second page")
	b.waitFits(f)
	t.Log(low, ask(b, chromedp.Evaluate[float64](frameHeight)))
	f.press(button("Send"))
	f.wantPath(path + "/done")
	t.Log(low, ask(b, chromedp.Evaluate[float64](frameHeight)))
	f.wantQuiet()
	desk.wantStored(path, `{"name": "Ada", "cake": false}`)
}

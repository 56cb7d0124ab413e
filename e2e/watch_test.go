package e2e

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// watch notes what must not happen in any page: an error in the console (also
// what the content security policy refused), an exception that nobody caught, a
// request to another host, a dialog.
type watch struct {
	ctx context.Context

	mu        sync.Mutex
	errors    []chromedp.ConsoleMessage
	strangers []string        // requests to hosts that are not ours
	dialogs   []string        // what they said
	sent      []string        // requests for pages and whatever scripts ask for
	documents map[string]bool // addresses of whole pages
	rounds    int             // how often the console was read to its end
}

// mark is a console message of ours: everything before it has been read.
const mark = "watch: read up to here"

func startWatch(t testing.TB, ctx context.Context, hosts []string) *watch {
	t.Helper()
	w := &watch{ctx: ctx, documents: map[string]bool{}}
	console, requests := chromedp.Console(ctx), chromedp.Events(ctx, network.RequestWillBeSent)
	dialogs := chromedp.Events(ctx, page.JavascriptDialogOpening)
	go func() {
		for dialog, err := range dialogs {
			if err != nil {
				return
			}
			w.mu.Lock()
			w.dialogs = append(w.dialogs, dialog.Message)
			w.mu.Unlock()
			// A page that waits for an answer would stop the test instead of failing it.
			_, _ = chromedp.Call(ctx, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{Accept: true})
		}
	}()
	go func() {
		for request, err := range requests {
			if err != nil {
				return
			}
			w.request(request, hosts)
		}
	}()
	go func() {
		for message, err := range console {
			if err != nil {
				return
			}
			w.message(message)
		}
	}()
	return w
}

func (w *watch) request(r network.EventRequestWillBeSent, hosts []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if r.Type == network.ResourceTypeDocument {
		w.documents[r.Request.URL] = true
	}
	if !strings.Contains(r.Request.URL, "/static/") {
		w.sent = append(w.sent, r.Request.Method+" "+r.Request.URL)
	}
	u, err := url.Parse(r.Request.URL)
	if err == nil && (u.Scheme == "data" || u.Scheme == "about" || slices.Contains(hosts, u.Scheme+"://"+u.Host)) {
		return
	}
	w.strangers = append(w.strangers, r.Request.URL)
}

func (w *watch) message(m chromedp.ConsoleMessage) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case m.Text == mark:
		w.rounds++
	case m.Type == chromedp.ConsoleError, m.IsException():
		w.errors = append(w.errors, m)
	}
}

// problems reads the console to its end and says what is there.
func (w *watch) problems() []string {
	var list []string
	if err := w.readUp(); err != nil {
		list = append(list, "the console was not read to its end: "+err.Error())
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, m := range w.errors {
		// Chromium also reports the status of a whole page that is an error
		// page on purpose; that status is for the test itself to judge.
		if m.Source == "network" && w.documents[m.URL] && strings.Contains(m.Text, "responded with a status of") {
			continue
		}
		list = append(list, fmt.Sprintf("%s (%s, line %d)", m, m.URL, m.Line+1))
	}
	for _, address := range w.strangers {
		list = append(list, "a request to another host: "+address)
	}
	for _, words := range w.dialogs {
		list = append(list, "a dialog: "+words)
	}
	return list
}

// readUp waits until all that was said before now has been heard.
func (w *watch) readUp() error {
	ctx, cancel := context.WithTimeout(w.ctx, patience)
	defer cancel()
	w.mu.Lock()
	before := w.rounds
	w.mu.Unlock()
	if _, err := chromedp.Run(ctx, chromedp.Evaluate[any](fmt.Sprintf("console.debug(%q), null", mark))); err != nil {
		return err
	}
	return eventually(ctx, func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.rounds > before
	})
}

// eventually asks again until the answer is yes or the context ends.
func eventually(ctx context.Context, yes func() bool) error {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !yes() {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
	return nil
}

// A watch that sees nothing would pass every test, so here it has to see each
// kind of trouble.
func TestWatch(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, policy, page, want string }{
		{"nothing", "", "<p>Calm", ""},
		{"console", "", "<script>console.error('ouch')</script>", "ouch"},
		{"exception", "", "<script>missing()</script>", "missing is not defined"},
		{"rejection", "", "<script>Promise.reject(new Error('broken word'))</script>", "broken word"},
		{"policy", "script-src 'none'", "<script>1</script>", "Content Security Policy"},
		{"stranger", "", "<img src='http://stranger.example/dot.png' alt=''>", "http://stranger.example/dot.png"},
		{"dialog", "", "<script>alert('look here')</script>", "a dialog: look here"},
		{"lost file", "", "<img src='/lost.png' alt=''>", "404"},
	} {
		t.Run(test.name, func(t *testing.T) {
			site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/" {
					http.NotFound(w, r)
					return
				}
				w.Header().Set("Content-Security-Policy", test.policy)
				w.Header().Set("Content-Type", "text/html")
				fmt.Fprint(w, `<!doctype html><link rel="icon" href="data:,">`+test.page)
			}))
			defer site.Close()
			ctx, closeTab := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
			defer closeTab()
			w := startWatch(t, ctx, []string{site.URL})
			b := &tab{t: t, ctx: ctx, site: site.URL, watch: w}
			b.open("/")
			found := strings.Join(w.problems(), "\n")
			if test.want == "" && found != "" || !strings.Contains(found, test.want) {
				t.Errorf("the watch saw %q, want %q", found, test.want)
			}
		})
	}
}

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

// monitor records what must not happen in any page: console errors (including
// violations of the content security policy), uncaught exceptions, requests to other
// hosts, dialogs.
type monitor struct {
	ctx context.Context

	mu              sync.Mutex
	errors          []chromedp.ConsoleMessage
	foreignRequests []string        // requests to other hosts
	dialogs         []string        // their messages
	sent            []string        // requests for pages and by scripts
	documents       map[string]bool // URLs of whole pages
	endMarkers      int             // number of end markers read
	expected        []string        // parts of errors that a test causes on purpose
}

// endMarker is a console message of the monitor. When it has been read, all earlier
// messages have been read too.
const endMarker = "monitor: end marker"

func startMonitor(t testing.TB, ctx context.Context, hosts []string) *monitor {
	t.Helper()
	w := &monitor{ctx: ctx, documents: map[string]bool{}}
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
			// An open dialog would block the test instead of failing it.
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

func (w *monitor) request(r network.EventRequestWillBeSent, hosts []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if r.Type == network.ResourceTypeDocument {
		w.documents[r.Request.URL] = true
	}
	if !strings.Contains(r.Request.URL, "/static/") {
		w.sent = append(w.sent, r.Request.Method+" "+r.Request.URL)
	}
	u, err := url.Parse(r.Request.URL)
	isLocal := err == nil && (u.Scheme == "data" || u.Scheme == "about")
	isAllowed := err == nil && slices.Contains(hosts, u.Scheme+"://"+u.Host)
	if !isLocal && !isAllowed {
		w.foreignRequests = append(w.foreignRequests, r.Request.URL)
	}
}

func (w *monitor) message(m chromedp.ConsoleMessage) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case m.Text == endMarker:
		w.endMarkers++
	case m.Type == chromedp.ConsoleError, m.IsException():
		w.errors = append(w.errors, m)
	}
}

// expect allows errors that contain a text.
func (w *monitor) expect(part string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.expected = append(w.expected, part)
}

// problems reads the console to its end and returns everything that went wrong.
func (w *monitor) problems() []string {
	var list []string
	if err := w.drainConsole(); err != nil {
		list = append(list, "the console was not read to its end: "+err.Error())
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, m := range w.errors {
		// Chromium also reports the status of pages that are error pages on purpose.
		// The tests check that status themselves.
		if m.Source == "network" && w.documents[m.URL] && strings.Contains(m.Text, "responded with a status of") {
			continue
		}
		if slices.ContainsFunc(w.expected, func(part string) bool { return strings.Contains(m.Text, part) }) {
			continue
		}
		list = append(list, fmt.Sprintf("%s (%s, line %d)", m, m.URL, m.Line+1))
	}
	for _, requestURL := range w.foreignRequests {
		list = append(list, "a request to another host: "+requestURL)
	}
	for _, message := range w.dialogs {
		list = append(list, "a dialog: "+message)
	}
	return list
}

// drainConsole waits until all console messages so far have been read.
func (w *monitor) drainConsole() error {
	ctx, cancel := context.WithTimeout(w.ctx, waitTimeout)
	defer cancel()
	w.mu.Lock()
	before := w.endMarkers
	w.mu.Unlock()
	if _, err := chromedp.Run(ctx, chromedp.Evaluate[any](fmt.Sprintf("console.debug(%q), null", endMarker))); err != nil {
		return err
	}
	return waitUntil(ctx, func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.endMarkers > before
	})
}

// waitUntil polls a condition until it is true or the context ends. The pauses grow, so
// that tests that wait for long leave the processor to the others.
func waitUntil(ctx context.Context, condition func() bool) error {
	const maxPause = 50 * time.Millisecond
	for pause := 5 * time.Millisecond; !condition(); pause = min(2*pause, maxPause) {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
	return nil
}

// TestMonitor: the monitor detects each kind of problem. Otherwise it would pass every
// test.
func TestMonitor(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, policy, page, want string }{
		{"nothing", "", "<p>Text", ""},
		{"console", "", "<script>console.error('ouch')</script>", "ouch"},
		{"exception", "", "<script>missing()</script>", "missing is not defined"},
		{"rejection", "", "<script>Promise.reject(new Error('rejected promise'))</script>", "rejected promise"},
		{"policy", "script-src 'none'", "<script>1</script>", "Content Security Policy"},
		{"other host", "", "<img src='http://stranger.example/dot.png' alt=''>", "http://stranger.example/dot.png"},
		{"dialog", "", "<script>alert('look here')</script>", "a dialog: look here"},
		{"missing file", "", "<img src='/lost.png' alt=''>", "404"},
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
			w := startMonitor(t, ctx, []string{site.URL})
			b := &tab{t: t, ctx: ctx, site: site.URL, monitor: w}
			b.open("/")
			problems := strings.Join(w.problems(), "\n")
			if test.want == "" && problems != "" || !strings.Contains(problems, test.want) {
				t.Errorf("the monitor found %q, want %q", problems, test.want)
			}
		})
	}
}

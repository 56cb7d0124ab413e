// Package e2e tests the service in a real browser, through its pages only.
package e2e

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"formulary/internal/cli/clitest"
	"formulary/internal/mail/mailtest"
)

// waitTimeout is how long a page may take. It is long because the race detector slows
// down password hashing.
const waitTimeout = 30 * time.Second

// browser is the headless browser that all tests share. Each tab has its own cookies.
var browser context.Context

// windowedBrowser starts a browser with windows on first use, for tests that need drag
// and drop or the back/forward cache, which the headless shell lacks. It takes twice as
// long.
var windowedBrowser func() (context.Context, error)

var windowedTests = []string{"TestBuilderMove", "TestStoredOnce", "TestBackAfterSignOut"}

// axeSource is the source of the accessibility checker, which runs inside the page.
var axeSource string

func TestMain(m *testing.M) {
	mailtest.ServeIfAsked()
	debug.SetGCPercent(400) // memory is cheaper here than processor time
	code, err := withBrowser(m.Run)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

var errTools = errors.New("run the tests with 'make test', which fetches what they need")

func withBrowser(run func() int) (int, error) {
	axe, err := os.ReadFile(filepath.Join("..", ".cache", "axe", "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		return 1, fmt.Errorf("axe-core is missing (%w): %w", err, errTools)
	}
	axeSource = string(axe)
	var end func()
	if browser, end, err = startBrowser("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"); err != nil {
		return 1, err
	}
	defer end()
	endWindow := func() {}
	windowedBrowser = sync.OnceValues(func() (context.Context, error) {
		ctx, end, err := startBrowser("chromium", "chromium-browser", "google-chrome")
		if err == nil {
			endWindow = end
		}
		return ctx, err
	})
	defer func() { endWindow() }()
	return run(), nil
}

// startBrowser starts the first of the programs that is installed, with a new profile.
func startBrowser(names ...string) (ctx context.Context, end func(), err error) {
	program := ""
	for _, name := range names {
		if program, err = exec.LookPath(name); err == nil {
			break
		}
	}
	if program == "" {
		return nil, nil, fmt.Errorf("there is no Chromium: %w", errTools)
	}
	profile, err := os.MkdirTemp("", "formulary-e2e-")
	if err != nil {
		return nil, nil, err
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(program), chromedp.UserDataDir(profile), chromedp.WindowSize(1200, 900),
		chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("in-process-gpu", true), // one process fewer to talk to
		chromedp.Env("LANGUAGE=en"),           // determines the order in which dates are typed
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("site-per-process", true),
		// Pages live too short for spare processes and optimized machine code.
		chromedp.Flag("disable-features", "Translate,SpareRendererForSitePerProcess"),
		chromedp.Flag("js-flags", "--no-turbofan"),
		// No other host can be resolved.
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost"),
	)
	allocator, quitAll := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, quit := chromedp.NewContext(allocator)
	end = func() {
		quit()
		quitAll()
		os.RemoveAll(profile)
	}
	if err := chromedp.Do(ctx); err != nil {
		end()
		return nil, nil, fmt.Errorf("start %s: %w", program, err)
	}
	return ctx, end, nil
}

// tab is a browser tab. Errors inside its pages fail the test when it ends.
type tab struct {
	t       testing.TB
	ctx     context.Context
	site    string // base URL
	monitor *monitor
}

// openTab opens a tab without a session. Requests to hosts other than the site and
// allowedHosts fail the test.
func openTab(t testing.TB, site string, allowedHosts ...string) *tab {
	t.Helper()
	parent := browser
	if test, _, _ := strings.Cut(t.Name(), "/"); slices.Contains(windowedTests, test) {
		var err error
		if parent, err = windowedBrowser(); err != nil {
			t.Fatal(err)
		}
	}
	ctx, closeTab := chromedp.NewContext(parent, chromedp.WithNewBrowserContext())
	b := &tab{t: t, ctx: ctx, site: site}
	b.monitor = startMonitor(t, ctx, append(allowedHosts, site))
	t.Cleanup(func() {
		b.wantNoProblems()
		closeTab()
	})
	return b
}

// wantNoProblems fails the test for every problem inside the tab's pages.
func (b *tab) wantNoProblems() {
	b.t.Helper()
	for _, problem := range b.monitor.problems() {
		b.t.Errorf("in the browser: %s", problem)
	}
}

// do runs actions in the tab.
func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, waitTimeout)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.t.Fatalf("%v\nat %s", err, b.describe())
	}
}

// run runs an action in the tab and returns its result.
func run[T any](b *tab, action chromedp.Action[T]) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, waitTimeout)
	defer cancel()
	result, err := chromedp.Run(ctx, action)
	if err != nil {
		b.t.Fatalf("%v\nat %s", err, b.describe())
	}
	return result
}

// sendCommand sends a DevTools command.
func sendCommand[P, R any](b *tab, command cdp.Command[P, R], params P) {
	b.t.Helper()
	if _, err := chromedp.Call(b.ctx, command, params); err != nil {
		b.t.Fatal(err)
	}
}

// describe returns the URL and the text of the page, for failure messages.
func (b *tab) describe() string {
	ctx, cancel := context.WithTimeout(b.ctx, 2*time.Second)
	defer cancel()
	where, _ := chromedp.Run(ctx, chromedp.Location())
	shown, _ := chromedp.Run(ctx, chromedp.Evaluate[string](`document.body ? document.body.innerText : ""`))
	return where + "\n" + shown
}

// open navigates to a path of the site or to a URL, and returns the status.
func (b *tab) open(path string) int {
	b.t.Helper()
	if strings.HasPrefix(path, "/") {
		path = b.site + path
	}
	return int(run(b, chromedp.NavigateResponse(path)).Status)
}

// press clicks an element that loads another page, and returns the status of that page.
func (b *tab) press(selector string) int {
	b.t.Helper()
	return b.navigate(chromedp.Click(selector))
}

// navigate runs actions that load another page, and returns its status.
func (b *tab) navigate(steps ...chromedp.Action[chromedp.Void]) int {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, waitTimeout)
	defer cancel()
	const loadedAt = `String(performance.timeOrigin)`
	before := run(b, chromedp.Evaluate[string](loadedAt))
	response, err := chromedp.RunResponse(ctx, steps...)
	if err != nil {
		b.t.Fatalf("%v\nat %s", err, b.describe())
	}
	if response == nil { // the page changed its entry in the history before it was left
		b.wait(fmt.Sprintf(`%s !== %q && document.readyState === "complete"`, loadedAt, before))
		return run(b, chromedp.Evaluate[int](`performance.getEntriesByType("navigation")[0].responseStatus`))
	}
	return int(response.Status)
}

// fill replaces the content of an input.
func (b *tab) fill(selector, text string) {
	b.t.Helper()
	b.do(chromedp.Focus(selector))
	run(b, chromedp.Evaluate[any](`document.activeElement.select(), null`))
	sendCommand(b, input.InsertText, input.InsertTextParams{Text: text})
}

// text returns the visible text of an element.
func (b *tab) text(selector string) string {
	b.t.Helper()
	return run(b, chromedp.Text(selector))
}

// count returns the number of elements that match a CSS selector.
func (b *tab) count(selector string) int {
	b.t.Helper()
	return run(b, chromedp.Evaluate[int](fmt.Sprintf("document.querySelectorAll(%q).length", selector)))
}

// wait waits until a JavaScript expression, or what its promise resolves to, is true.
func (b *tab) wait(condition string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, waitTimeout)
	defer cancel()
	var last error
	if err := waitUntil(ctx, func() bool {
		var ok bool
		ok, last = chromedp.Run(ctx, chromedp.Evaluate[bool](condition, chromedp.EvalAwaitPromise))
		return last == nil && ok
	}); err != nil {
		b.t.Fatalf("timed out waiting for: %s (%v)\nat %s", condition, last, b.describe())
	}
}

// location returns the URL of the page.
func (b *tab) location() *url.URL {
	b.t.Helper()
	u, err := url.Parse(run(b, chromedp.Location()))
	if err != nil {
		b.t.Fatal(err)
	}
	return u
}

// wantPath fails the test unless the page has the path.
func (b *tab) wantPath(path string) {
	b.t.Helper()
	if got := b.location().Path; got != path {
		b.t.Fatalf("the browser is at %s, want %s:\n%s", got, path, b.describe())
	}
}

// wantStatus fails the test unless the status is as wanted.
func (b *tab) wantStatus(got, want int) {
	b.t.Helper()
	if got != want {
		b.t.Fatalf("status %d, want %d:\n%s", got, want, b.describe())
	}
}

// wantText fails the test unless the page shows all the texts.
func (b *tab) wantText(texts ...string) {
	b.t.Helper()
	shown := b.text("body")
	for _, text := range texts {
		if !strings.Contains(shown, text) {
			b.t.Errorf("the page at %s does not show %q:\n%s", b.location(), text, shown)
		}
	}
}

// wantNoText fails the test if the HTML of the page contains any of the texts.
func (b *tab) wantNoText(texts ...string) {
	b.t.Helper()
	source := run(b, chromedp.OuterHTML("html"))
	for _, text := range texts {
		if strings.Contains(source, text) {
			b.t.Errorf("the page at %s contains %q", b.location(), text)
		}
	}
}

// button and link return selectors for a button and a link by their text.
func button(text string) string { return fmt.Sprintf(`//button[normalize-space()=%q]`, text) }
func link(text string) string   { return fmt.Sprintf(`//a[normalize-space()=%q]`, text) }

// signIn fills in and submits the sign-in page.
func (b *tab) signIn(email string) {
	b.t.Helper()
	b.fill(`input[name="email"]`, email)
	b.fill(`input[name="password"]`, clitest.Password)
	b.wantStatus(b.press(button("Sign in")), 200)
}

// signedInTab opens a tab with a session of the user and shows the list of forms. It does not
// use the sign-in page, which has its own tests.
func signedInTab(t testing.TB, s *clitest.Service, email string, allowedHosts ...string) *tab {
	t.Helper()
	b := openTab(t, s.URL, allowedHosts...)
	visitor := s.Browser()
	visitor.SignIn(email)
	site, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	b.do() // starts the tab
	for _, cookie := range visitor.Client.Jar.Cookies(site) {
		sendCommand(b, network.SetCookie, network.SetCookieParams{Name: cookie.Name, Value: cookie.Value, URL: s.URL, HTTPOnly: new(true)})
	}
	b.wantStatus(b.open("/"), 200)
	b.wantPath("/")
	return b
}

// setColorScheme sets the preferred color scheme. It also disables transitions, so that
// colors change at once.
func (b *tab) setColorScheme(scheme string) {
	b.t.Helper()
	sendCommand(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: scheme},
			{Name: "prefers-reduced-motion", Value: "reduce"},
		},
	})
}

// focusTab makes the tab behave as if it had the keyboard focus.
func (b *tab) focusTab() {
	b.t.Helper()
	sendCommand(b, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})
}

// disableScript disables JavaScript.
func (b *tab) disableScript() {
	b.t.Helper()
	sendCommand(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
}

// injectScript runs a script at the start of each page.
func (b *tab) injectScript(script string) {
	b.t.Helper()
	sendCommand(b, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: script})
}

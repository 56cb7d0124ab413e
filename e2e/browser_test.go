// Package e2e uses the service as people do: in a real browser, through its
// pages, with nothing else known about it.
package e2e

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"formulary/internal/cli/clitest"
)

// patience is how long a page may take before a test gives up on it. It is
// long because the race detector makes hashing a password slow.
const patience = 30 * time.Second

// browser is the one process that tests share; each tab has cookies of its own.
// It draws no windows around its pages, which would be half of the time.
var browser context.Context

// window is a browser with windows, for those who need what only it does: drag, and
// keep pages for those who go back. It is started by the first of them.
var window func() (context.Context, error)

var windowed = []string{"TestBuilderMove", "TestStoredOnce", "TestBackAfterSignOut"}

// axeSource is the accessibility checker, which runs inside a page.
var axeSource string

func TestMain(m *testing.M) {
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
	window = sync.OnceValues(func() (context.Context, error) {
		ctx, end, err := startBrowser("chromium", "chromium-browser", "google-chrome")
		if err == nil {
			endWindow = end
		}
		return ctx, err
	})
	defer func() { endWindow() }()
	return run(), nil
}

// startBrowser starts the first of the programs that is there, with a profile of
// its own.
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
		chromedp.Env("LANGUAGE=en"), // the order in which a date is typed
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("site-per-process", true),
		// Whatever slips through finds no other host.
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

// tab is one tab of somebody's browser. What goes wrong inside its pages fails
// the test when it ends.
type tab struct {
	t     testing.TB
	ctx   context.Context
	site  string // where paths begin
	watch *watch
}

// openTab opens a tab of a new person, who is signed in nowhere. Requests to
// hosts other than the site and friends fail the test.
func openTab(t testing.TB, site string, friends ...string) *tab {
	t.Helper()
	in := browser
	if test, _, _ := strings.Cut(t.Name(), "/"); slices.Contains(windowed, test) {
		var err error
		if in, err = window(); err != nil {
			t.Fatal(err)
		}
	}
	ctx, closeTab := chromedp.NewContext(in, chromedp.WithNewBrowserContext())
	b := &tab{t: t, ctx: ctx, site: site}
	b.watch = startWatch(t, ctx, append(friends, site))
	t.Cleanup(func() {
		b.wantQuiet()
		closeTab()
	})
	return b
}

// wantQuiet fails the test for all that went wrong inside the tab's pages.
func (b *tab) wantQuiet() {
	b.t.Helper()
	for _, problem := range b.watch.problems() {
		b.t.Errorf("in the browser: %s", problem)
	}
}

// do runs steps in the tab.
func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.t.Fatalf("%v\nat %s", err, b.describe())
	}
}

// ask runs one action of the tab and returns what it found.
func ask[T any](b *tab, action chromedp.Action[T]) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	found, err := chromedp.Run(ctx, action)
	if err != nil {
		b.t.Fatalf("%v\nat %s", err, b.describe())
	}
	return found
}

// call sends a command to the browser's own interface.
func call[P, R any](b *tab, command cdp.Command[P, R], params P) {
	b.t.Helper()
	if _, err := chromedp.Call(b.ctx, command, params); err != nil {
		b.t.Fatal(err)
	}
}

// describe says what the tab shows, for the message of a failed test.
func (b *tab) describe() string {
	ctx, cancel := context.WithTimeout(b.ctx, 2*time.Second)
	defer cancel()
	where, _ := chromedp.Run(ctx, chromedp.Location())
	shown, _ := chromedp.Run(ctx, chromedp.Evaluate[string](`document.body ? document.body.innerText : ""`))
	return where + "\n" + shown
}

// open goes to a path of the site, or to a whole address, and returns the
// status.
func (b *tab) open(path string) int {
	b.t.Helper()
	if strings.HasPrefix(path, "/") {
		path = b.site + path
	}
	return int(ask(b, chromedp.NavigateResponse(path)).Status)
}

// press clicks what leads to another page, waits for that and returns the
// status.
func (b *tab) press(selector string) int {
	b.t.Helper()
	return b.leads(chromedp.Click(selector))
}

// leads runs steps that end on another page and returns its status.
func (b *tab) leads(steps ...chromedp.Action[chromedp.Void]) int {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	response, err := chromedp.RunResponse(ctx, steps...)
	if err != nil {
		b.t.Fatalf("%v\nat %s", err, b.describe())
	}
	return int(response.Status)
}

// fill pastes into a field in place of what was there.
func (b *tab) fill(selector, words string) {
	b.t.Helper()
	b.do(chromedp.Focus(selector))
	ask(b, chromedp.Evaluate[any](`document.activeElement.select(), null`))
	call(b, input.InsertText, input.InsertTextParams{Text: words})
}

// text is what a person reads in an element.
func (b *tab) text(selector string) string {
	b.t.Helper()
	return ask(b, chromedp.Text(selector))
}

// count is how many elements a CSS selector finds now.
func (b *tab) count(selector string) int {
	b.t.Helper()
	return ask(b, chromedp.Evaluate[int](fmt.Sprintf("document.querySelectorAll(%q).length", selector)))
}

// wait waits until a condition in the page's JavaScript is true.
func (b *tab) wait(condition string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	var last error
	if err := eventually(ctx, func() bool {
		var yes bool
		yes, last = chromedp.Run(ctx, chromedp.Evaluate[bool](condition))
		return last == nil && yes
	}); err != nil {
		b.t.Fatalf("this never came true: %s (%v)\nat %s", condition, last, b.describe())
	}
}

// at is where the tab is.
func (b *tab) at() *url.URL {
	b.t.Helper()
	u, err := url.Parse(ask(b, chromedp.Location()))
	if err != nil {
		b.t.Fatal(err)
	}
	return u
}

// wantPath fails the test unless the tab is at the path.
func (b *tab) wantPath(path string) {
	b.t.Helper()
	if got := b.at().Path; got != path {
		b.t.Fatalf("the browser is at %s, want %s:\n%s", got, path, b.describe())
	}
}

// wantStatus fails the test unless the page came with the status.
func (b *tab) wantStatus(got, want int) {
	b.t.Helper()
	if got != want {
		b.t.Fatalf("status %d, want %d:\n%s", got, want, b.describe())
	}
}

// wantWords fails the test unless a person can read all the words in the page.
func (b *tab) wantWords(words ...string) {
	b.t.Helper()
	shown := b.text("body")
	for _, w := range words {
		if !strings.Contains(shown, w) {
			b.t.Errorf("the page at %s does not say %q:\n%s", b.at(), w, shown)
		}
	}
}

// wantNoWords fails the test if any of the words is anywhere in the page, seen
// or not.
func (b *tab) wantNoWords(words ...string) {
	b.t.Helper()
	source := ask(b, chromedp.OuterHTML("html"))
	for _, w := range words {
		if strings.Contains(source, w) {
			b.t.Errorf("the page at %s holds %q", b.at(), w)
		}
	}
}

// button finds a button, and link a link, by the words on it.
func button(words string) string { return fmt.Sprintf(`//button[normalize-space()=%q]`, words) }
func link(words string) string   { return fmt.Sprintf(`//a[normalize-space()=%q]`, words) }

// signIn fills in the sign-in page that the tab shows.
func (b *tab) signIn(email string) {
	b.t.Helper()
	b.fill(`input[name="email"]`, email)
	b.fill(`input[name="password"]`, clitest.Password)
	b.wantStatus(b.press(button("Sign in")), 200)
}

// visitor opens a tab in which the person is signed in and sees their forms.
func visitor(t testing.TB, s *clitest.Service, email string, friends ...string) *tab {
	t.Helper()
	b := openTab(t, s.URL, friends...)
	b.open("/signin")
	b.signIn(email)
	b.wantPath("/")
	return b
}

// prefer makes the browser ask for a colour scheme, and for changes without
// motion, so that colours are at once what they will be.
func (b *tab) prefer(scheme string) {
	b.t.Helper()
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: scheme},
			{Name: "prefers-reduced-motion", Value: "reduce"},
		},
	})
}

// inFront makes the tab the one that has the keyboard.
func (b *tab) inFront() {
	b.t.Helper()
	call(b, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})
}

// withoutScript switches JavaScript off.
func (b *tab) withoutScript() {
	b.t.Helper()
	call(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
}

// onEveryPage runs a script before those of each page.
func (b *tab) onEveryPage(script string) {
	b.t.Helper()
	call(b, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: script})
}

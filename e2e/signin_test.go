package e2e

import (
	"bytes"
	"context"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"formulary/internal/cli"
	"formulary/internal/cli/clitest"
	"formulary/internal/store/storetest"
)

const ada = "ada@example.com"

// start runs a service on SQLite with one user.
func start(t testing.TB, flags ...string) *clitest.Service {
	t.Helper()
	s := clitest.Start(t, storetest.MigratedSQLite(t), flags...)
	s.AddUser(ada)
	return s
}

// finder is a writer that looks for a pattern in the output of a command while it runs.
type finder struct {
	pattern *regexp.Regexp
	text    bytes.Buffer
	found   chan string
}

func (f *finder) Write(p []byte) (int, error) {
	f.text.Write(p)
	if m := f.pattern.FindSubmatch(f.text.Bytes()); m != nil {
		select {
		case f.found <- string(m[1]):
		default: // found before
		}
	}
	return len(p), nil
}

// firstStart runs the service on an empty database and returns the setup link that it
// prints.
func firstStart(t *testing.T) (link string) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	out := &finder{pattern: regexp.MustCompile(`(?m)^(http://\S+/setup\?token=\S+)$`), found: make(chan string, 1)}
	done := make(chan int, 1)
	data := t.TempDir()
	go func() {
		done <- cli.DefaultTuning.Run(ctx, []string{"serve", "--addr=127.0.0.1:0", "--data=" + data}, strings.NewReader(""), out, io.Discard)
	}()
	t.Cleanup(func() {
		stop()
		if code := <-done; code != 0 {
			t.Errorf("serve ended with %d", code)
		}
	})
	select {
	case link = <-out.found:
	case <-time.After(waitTimeout):
		t.Fatal("serve printed no setup link")
	}
	return link
}

func TestSetup(t *testing.T) {
	t.Parallel()
	setup := firstStart(t)
	site, _, _ := strings.Cut(setup, "/setup")

	b := openTab(t, site)
	b.open("/signin")
	b.wantText("Formulary isn’t set up yet")

	b.wantStatus(b.open(setup), 200)
	b.wantText("Welcome to Formulary")
	b.fill(`input[name="email"]`, ada)
	b.fill(`input[name="name"]`, "Ada Lovelace")
	b.fill(`input[name="password"]`, "password")
	b.wantStatus(b.press(button("Create account")), 422)
	if n := b.count(`input[name="password"][aria-invalid]`); n != 1 {
		t.Errorf("a common password was not marked as wrong")
	}
	if got := run(b, chromedp.Value(`input[name="email"]`)); got != ada {
		t.Errorf("after a mistake the e-mail address is %q: it has to be typed again", got)
	}
	b.fill(`input[name="password"]`, clitest.Password)
	b.wantStatus(b.press(button("Create account")), 200)
	b.wantPath("/")
	b.wantText("Create your first form", "Sign out")

	stranger := openTab(t, site)
	if status := stranger.open(setup); status < 400 {
		t.Errorf("the used setup link is answered with %d", status)
	}
	stranger.wantNoText(`action="/setup"`)
	if heading := stranger.text("main h1"); heading == "" {
		t.Error("the error page has no heading")
	}
}

func TestSignin(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := openTab(t, s.URL)

	// A user who is not signed in is redirected to sign-in and then to the requested
	// page.
	b.open("/account")
	b.wantPath("/signin")
	b.fill(`input[name="email"]`, ada)
	b.fill(`input[name="password"]`, "not-her-password")
	b.wantStatus(b.press(button("Sign in")), 401)
	b.wantText("The email address or password is incorrect.")
	if got := run(b, chromedp.Value(`input[name="email"]`)); got != ada {
		t.Errorf("after a wrong password the address is %q, want it kept", got)
	}
	b.fill(`input[name="password"]`, clitest.Password)
	b.press(button("Sign in"))
	b.wantPath("/account")

	b.press(button("Sign out"))
	b.wantPath("/signin")
	b.open("/account")
	b.wantPath("/signin")
}

// TestBackAfterSignOut: after sign-out, the back button does not show the previous
// page.
func TestBackAfterSignOut(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := signedInTab(t, s, ada)
	b.press(link("Account"))
	b.press(button("Sign out"))
	signInURL := b.location().String()
	run(b, chromedp.Evaluate[any](`history.back(), null`))
	ctx, cancel := context.WithTimeout(b.ctx, waitTimeout)
	defer cancel()
	if err := waitUntil(ctx, func() bool {
		current, err := chromedp.Run(ctx, chromedp.Location())
		return err == nil && current != signInURL
	}); err != nil {
		t.Fatalf("the browser does not go back: %v", err)
	}
	b.do(chromedp.WaitVisible("h1"))
	b.wantPath("/signin")
	b.wantNoText(ada)
}

func TestSignup(t *testing.T) {
	t.Parallel()
	s := start(t, "--signup=open")
	b := openTab(t, s.URL)
	b.open("/signin?next=/applications")
	b.press(link("Sign up"))
	b.fill(`input[name="email"]`, ada)
	b.fill(`input[name="password"]`, clitest.Password)
	b.wantStatus(b.press(button("Sign up")), 422)
	b.fill(`input[name="email"]`, "grace@example.com")
	b.fill(`input[name="password"]`, clitest.Password)
	b.wantStatus(b.press(button("Sign up")), 200)
	b.wantPath("/applications")

	closed := start(t)
	c := openTab(t, closed.URL)
	c.wantStatus(c.open("/signup"), 404)
	c.open("/signin")
	c.wantNoText("/signup")
}

// TestTheme: the chosen theme overrides the preference of the system on all pages.
func TestTheme(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := openTab(t, s.URL)
	background := chromedp.Evaluate[string](`getComputedStyle(document.body).backgroundColor`)
	b.setColorScheme("dark")
	b.open("/signin")
	dark := run(b, background)
	b.do(chromedp.Click(`[data-theme-switch]`))
	light := run(b, background)
	if light == dark {
		t.Fatalf("the switch does not change the background: %s", light)
	}
	b.open("/signup")
	if got := run(b, background); got != light {
		t.Errorf("on the next page the background is %s, want %s", got, light)
	}
}

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

// start runs a service with one account on SQLite.
func start(t testing.TB, flags ...string) *clitest.Service {
	t.Helper()
	s := clitest.Start(t, storetest.SQLite(t), flags...)
	s.AddUser(ada)
	return s
}

// finder looks for a pattern in what a command prints, while it runs.
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
		default: // it was found before
		}
	}
	return len(p), nil
}

// firstStart runs the service on an empty database and returns the set-up link
// that it prints for its operator.
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
	case <-time.After(patience):
		t.Fatal("serve printed no set-up link")
	}
	return link
}

func TestSetup(t *testing.T) {
	t.Parallel()
	setup := firstStart(t)
	site, _, _ := strings.Cut(setup, "/setup")

	b := openTab(t, site)
	b.open("/signin")
	b.wantWords("Formulary isn’t set up yet")

	b.wantStatus(b.open(setup), 200)
	b.wantWords("Welcome to Formulary")
	b.fill(`input[name="email"]`, ada)
	b.fill(`input[name="name"]`, "Ada Lovelace")
	b.fill(`input[name="password"]`, "password")
	b.wantStatus(b.press(button("Create account")), 422)
	if n := b.count(`input[name="password"][aria-invalid]`); n != 1 {
		t.Errorf("a password that everybody guesses was not marked as wrong")
	}
	if got := ask(b, chromedp.Value(`input[name="email"]`)); got != ada {
		t.Errorf("after a mistake the e-mail address is %q: it has to be typed again", got)
	}
	b.fill(`input[name="password"]`, clitest.Password)
	b.wantStatus(b.press(button("Create account")), 200)
	b.wantPath("/")
	b.wantWords("Create your first form", "Sign out")

	stranger := openTab(t, site)
	if status := stranger.open(setup); status < 400 {
		t.Errorf("the used set-up link is answered with %d", status)
	}
	stranger.wantNoWords(`action="/setup"`)
	if words := stranger.text("main h1"); words == "" {
		t.Error("the refusal is no page that a person can read")
	}
}

func TestSignin(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := openTab(t, s.URL)

	// Somebody who is not signed in is asked to, and then gets what they wanted.
	b.open("/account")
	b.wantPath("/signin")
	b.fill(`input[name="email"]`, ada)
	b.fill(`input[name="password"]`, "not-her-password")
	b.wantStatus(b.press(button("Sign in")), 401)
	b.wantWords("The email address or password is incorrect.")
	if got := ask(b, chromedp.Value(`input[name="email"]`)); got != ada {
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

// At a shared computer, the way back must not show what was there.
func TestBackAfterSignOut(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := visitor(t, s, ada)
	b.press(link("Account"))
	b.press(button("Sign out"))
	here := b.at().String()
	ask(b, chromedp.Evaluate[any](`history.back(), null`))
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := eventually(ctx, func() bool {
		where, err := chromedp.Run(ctx, chromedp.Location())
		return err == nil && where != here
	}); err != nil {
		t.Fatalf("the way back leads nowhere: %v", err)
	}
	b.do(chromedp.WaitVisible("h1"))
	b.wantPath("/signin")
	b.wantNoWords(ada)
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
	c.wantNoWords("/signup")
}

// The theme that a person chooses stays, against what the system prefers.
func TestTheme(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := openTab(t, s.URL)
	paper := chromedp.Evaluate[string](`getComputedStyle(document.body).backgroundColor`)
	b.prefer("dark")
	b.open("/signin")
	dark := ask(b, paper)
	b.do(chromedp.Click(`[data-theme-switch]`))
	light := ask(b, paper)
	if light == dark {
		t.Fatalf("the switch does not change the paper: %s", light)
	}
	b.open("/signup")
	if got := ask(b, paper); got != light {
		t.Errorf("on the next page the paper is %s, want %s", got, light)
	}
}

// Package clitest runs the whole service for a test, through the command line
// that people use, and speaks to it as people, applications and operators do.
package clitest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"formulary/internal/cli"
	"formulary/internal/store/storetest"
)

// Password is good enough for every account of a test.
const Password = "quiet-otter-paints-7-doors"

// Service is a running Formulary.
type Service struct {
	t     testing.TB
	Place storetest.Place
	URL   string // as people know it
	Local string // as this machine reaches it
	Out   string // what serve said when it started

	client *http.Client // checks every answer of the API
	log    *lockedBuffer
	stop   context.CancelFunc
	done   chan int
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// Start runs "formulary serve" with more flags on a free port and waits until it
// is ready.
func Start(t testing.TB, place storetest.Place, flags ...string) *Service {
	t.Helper()
	return start(t, place, true, flags)
}

func start(t testing.TB, place storetest.Place, wait bool, flags []string) *Service {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	s := &Service{t: t, Place: place, log: &lockedBuffer{}, stop: stop, done: make(chan int, 1)}
	reader, writer := io.Pipe()
	said := make(chan string, 1)
	go func() {
		var text strings.Builder
		lines := bufio.NewScanner(reader)
		for lines.Scan() {
			text.WriteString(lines.Text() + "\n")
		}
		said <- text.String()
	}()
	address := make(chan [2]string, 1)
	out := io.MultiWriter(writer, &addressFinder{found: address})
	go func() {
		code := cli.Run(ctx, append(s.args("serve", "--addr=127.0.0.1:0"), flags...), strings.NewReader(""), out, s.log)
		writer.Close()
		s.done <- code
	}()
	select {
	case found := <-address:
		s.URL, s.Local = found[0], "http://"+found[1]
	case code := <-s.done:
		t.Fatalf("serve ended with %d before it was ready:\n%s%s", code, <-said, s.log)
	case <-time.After(30 * time.Second):
		t.Fatalf("serve did not start:\n%s", s.log)
	}
	s.client = &http.Client{Transport: &checked{t: t, base: s.URL}, Timeout: 30 * time.Second, CheckRedirect: stay}
	if wait {
		s.waitReady()
	}
	t.Cleanup(func() {
		s.Stop()
		s.Out = <-said
	})
	return s
}

// addressFinder watches for the line that says where the service is.
type addressFinder struct {
	text  bytes.Buffer
	found chan [2]string
	done  bool
}

var addressLine = regexp.MustCompile(`(?m)^Formulary is at (\S+) .*listening on ([^)]+)\)$`)

func (f *addressFinder) Write(p []byte) (int, error) {
	f.text.Write(p)
	if m := addressLine.FindSubmatch(f.text.Bytes()); m != nil && !f.done {
		f.done = true
		f.found <- [2]string{string(m[1]), string(m[2])}
	}
	return len(p), nil
}

func (s *Service) waitReady() {
	s.t.Helper()
	for range 500 {
		res, err := http.Get(s.Local + "/readyz")
		if err == nil {
			res.Body.Close()
			if res.StatusCode == http.StatusOK {
				return
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
	s.t.Fatalf("the service at %s is not ready:\n%s", s.URL, s.log)
}

// Stop ends the service as SIGTERM would and checks that it ended well.
func (s *Service) Stop() {
	s.t.Helper()
	if s.stop == nil {
		return
	}
	s.stop()
	s.stop = nil
	select {
	case code := <-s.done:
		if code != 0 {
			s.t.Errorf("serve ended with %d:\n%s", code, s.log)
		}
	case <-time.After(40 * time.Second):
		s.t.Errorf("serve did not stop:\n%s", s.log)
	}
}

// Log is what the service has written to its log so far.
func (s *Service) Log() string { return s.log.String() }

func (s *Service) args(command ...string) []string {
	return append(command, "--data="+s.Place.Data, "--database-url="+s.Place.URL)
}

// Command runs a command beside the service and returns what it printed; it must
// succeed.
func (s *Service) Command(stdin string, command ...string) string {
	s.t.Helper()
	return Command(s.t, s.Place, stdin, command...)
}

// Command runs a command on a place and returns what it printed; it must
// succeed.
func Command(t testing.TB, place storetest.Place, stdin string, command ...string) string {
	t.Helper()
	var out, errOut bytes.Buffer
	args := append(command, "--data="+place.Data, "--database-url="+place.URL)
	if code := cli.Run(context.Background(), args, strings.NewReader(stdin), &out, &errOut); code != 0 {
		t.Fatalf("formulary %s: exit %d\n%s%s", strings.Join(command, " "), code, out.String(), errOut.String())
	}
	return out.String()
}

// AddUser makes an account with Password.
func (s *Service) AddUser(email string) {
	s.t.Helper()
	s.Command(Password+"\n", "user", "add", email, "--password-stdin")
}

// App is a registered application.
type App struct {
	ID     string `json:"client_id"`
	Secret string `json:"client_secret"`
	// Redirect is the first redirect URI.
	Redirect string
}

// AddApp registers an application; more flags may name scopes or make it public.
func (s *Service) AddApp(owner, redirect string, flags ...string) App {
	s.t.Helper()
	args := append([]string{"app", "add", "Test application", "--owner=" + owner, "--redirect-uri=" + redirect, "--json"}, flags...)
	app := App{Redirect: redirect}
	if err := json.Unmarshal([]byte(s.Command("", args...)), &app); err != nil {
		s.t.Fatal(err)
	}
	return app
}

// Browser is a person's browser: it keeps cookies and does not follow
// redirects by itself.
type Browser struct {
	*http.Client
	t   testing.TB
	URL string
}

// Browser opens a new browser, in which nobody is signed in.
func (s *Service) Browser() *Browser {
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.t.Fatal(err)
	}
	return &Browser{t: s.t, URL: s.URL, Client: &http.Client{
		Jar: jar, Transport: s.client.Transport, Timeout: 30 * time.Second, CheckRedirect: stay,
	}}
}

func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// Page is an answer with its body read.
type Page struct {
	*http.Response
	Text string
}

// Get opens a page of the service.
func (b *Browser) Get(path string) Page {
	b.t.Helper()
	res, err := b.Client.Get(b.URL + path)
	return read(b.t, res, err)
}

// Post sends a form to the service.
func (b *Browser) Post(path string, fields url.Values) Page {
	b.t.Helper()
	res, err := b.Client.PostForm(b.URL+path, fields)
	return read(b.t, res, err)
}

func read(t testing.TB, res *http.Response, err error) Page {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return Page{res, string(text)}
}

// SignIn signs a person with Password in.
func (b *Browser) SignIn(email string) {
	b.t.Helper()
	if p := b.Post("/signin", url.Values{"email": {email}, "password": {Password}}); p.StatusCode != http.StatusSeeOther {
		b.t.Fatalf("sign in as %s: %d\n%s", email, p.StatusCode, p.Text)
	}
}

var ticketField = regexp.MustCompile(`name="ticket" value="([^"]+)"`)

// Ticket opens a consent page and returns its ticket.
func (b *Browser) Ticket(query url.Values) string {
	b.t.Helper()
	p := b.Get("/authorize?" + query.Encode())
	m := ticketField.FindStringSubmatch(p.Text)
	if p.StatusCode != http.StatusOK || m == nil {
		b.t.Fatalf("consent page: %d %s\n%s", p.StatusCode, p.Header.Get("Location"), p.Text)
	}
	return m[1]
}

// Allow goes through consent and returns where the browser is sent.
func (b *Browser) Allow(query url.Values) *url.URL {
	b.t.Helper()
	p := b.Post("/authorize", url.Values{"ticket": {b.Ticket(query)}, "answer": {"allow"}})
	to, err := p.Location()
	if err != nil || p.StatusCode != http.StatusSeeOther {
		b.t.Fatalf("allow: %d %v\n%s", p.StatusCode, err, p.Text)
	}
	return to
}

// Ask is an authorization request of the application.
func (a App) Ask(scope string) url.Values {
	return url.Values{"response_type": {"code"}, "client_id": {a.ID}, "redirect_uri": {a.Redirect}, "scope": {scope}}
}

// Token is the answer of the token endpoint.
type Token struct {
	Access  string `json:"access_token"`
	Refresh string `json:"refresh_token"`
	Type    string `json:"token_type"`
	Expires int64  `json:"expires_in"`
	Scope   string `json:"scope"`
	User    string `json:"user"`
}

// Token signs a person in and goes through the whole flow for the application.
func (s *Service) Token(email string, app App, scope string) Token {
	s.t.Helper()
	b := s.Browser()
	b.SignIn(email)
	return s.Exchange(app, b.Allow(app.Ask(scope)).Query().Get("code"))
}

// Form sends a form body to an OAuth endpoint.
func (s *Service) Form(path string, fields url.Values, headers ...string) Answer {
	s.t.Helper()
	r, err := http.NewRequest(http.MethodPost, s.URL+path, strings.NewReader(fields.Encode()))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ": ")
		r.Header.Set(name, value)
	}
	return s.Do(r)
}

// Redeem is the body that exchanges a code.
func (a App) Redeem(code string) url.Values {
	return a.Sign(url.Values{"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {a.Redirect}})
}

// Renew is the body that refreshes.
func (a App) Renew(refresh string) url.Values {
	return a.Sign(url.Values{"grant_type": {"refresh_token"}, "refresh_token": {refresh}})
}

// Sign adds the application's credentials to a body.
func (a App) Sign(fields url.Values) url.Values {
	fields.Set("client_id", a.ID)
	if a.Secret != "" {
		fields.Set("client_secret", a.Secret)
	}
	return fields
}

// Exchange turns a code into tokens.
func (s *Service) Exchange(app App, code string) Token {
	s.t.Helper()
	return s.MustToken(s.Form("/api/oauth2/token", app.Redeem(code)))
}

// MustToken reads the answer of the token endpoint, which must be a success.
func (s *Service) MustToken(a Answer) Token {
	s.t.Helper()
	var token Token
	if err := json.Unmarshal([]byte(a.Text), &token); err != nil || a.StatusCode != http.StatusOK {
		s.t.Fatalf("no token: %d %v\n%s", a.StatusCode, err, a.Text)
	}
	return token
}

// DataFile reads a file of the data folder.
func (s *Service) DataFile(name string) []byte {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join(s.Place.Data, name))
	if err != nil {
		s.t.Fatal(err)
	}
	return text
}

// PostFrom sends a form as a page of another site, or of our own, would.
func (b *Browser) PostFrom(t testing.TB, origin, path string, fields url.Values) Page {
	t.Helper()
	return b.postWith(t, path, fields, "Origin", origin)
}

// PostAs sends a form from another address, for services behind a proxy.
func (b *Browser) PostAs(t testing.TB, address, path string, fields url.Values) Page {
	t.Helper()
	return b.postWith(t, path, fields, "X-Forwarded-For", address)
}

func (b *Browser) postWith(t testing.TB, path string, fields url.Values, header, value string) Page {
	t.Helper()
	r, err := http.NewRequest(http.MethodPost, b.URL+path, strings.NewReader(fields.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set(header, value)
	res, err := b.Do(r)
	return read(t, res, err)
}

// StartTLS is Start for a service that speaks https itself; the test brings a
// client that knows its certificate.
func StartTLS(t testing.TB, place storetest.Place, flags ...string) *Service {
	t.Helper()
	return start(t, place, false, flags)
}

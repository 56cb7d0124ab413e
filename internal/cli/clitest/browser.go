package clitest

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"
)

// Browser keeps cookies and does not follow redirects.
type Browser struct {
	*http.Client
	t   testing.TB
	URL string
}

// Browser returns a new browser without a session.
func (s *Service) Browser() *Browser {
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.t.Fatal(err)
	}
	return &Browser{t: s.t, URL: s.URL, Client: &http.Client{
		Jar: jar, Transport: s.client.Transport, Timeout: 30 * time.Second, CheckRedirect: noRedirect,
	}}
}

func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// Page is an HTTP response with its body.
type Page struct {
	*http.Response
	Text string
}

// Get requests a page.
func (b *Browser) Get(path string) Page {
	b.t.Helper()
	res, err := b.Client.Get(b.URL + path)
	return read(b.t, res, err)
}

// Put sends JSON as the scripts of a page do.
func (b *Browser) Put(path, revision, body string) Page {
	b.t.Helper()
	r, err := http.NewRequest(http.MethodPut, b.URL+path, strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("If-Match", `"`+revision+`"`)
	res, err := b.Do(r)
	return read(b.t, res, err)
}

// Post submits an HTML form.
func (b *Browser) Post(path string, fields url.Values) Page {
	b.t.Helper()
	res, err := b.Client.PostForm(b.URL+path, fields)
	return read(b.t, res, err)
}

// PostBody posts a body of any type, such as a form with files.
func (b *Browser) PostBody(path, mediaType string, body io.Reader) Page {
	b.t.Helper()
	res, err := b.Client.Post(b.URL+path, mediaType, body)
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

// SignIn signs in the user with Password.
func (b *Browser) SignIn(email string) {
	b.t.Helper()
	if p := b.Post("/signin", url.Values{"email": {email}, "password": {Password}}); p.StatusCode != http.StatusSeeOther {
		b.t.Fatalf("sign in as %s: %d\n%s", email, p.StatusCode, p.Text)
	}
}

var requestField = regexp.MustCompile(`name="ticket" value="([^"]+)"`)

// ConsentRequest opens a consent page and returns the ID of its consent request.
func (b *Browser) ConsentRequest(query url.Values) string {
	b.t.Helper()
	p := b.Get("/authorize?" + query.Encode())
	m := requestField.FindStringSubmatch(p.Text)
	if p.StatusCode != http.StatusOK || m == nil {
		b.t.Fatalf("consent page: %d %s\n%s", p.StatusCode, p.Header.Get("Location"), p.Text)
	}
	return m[1]
}

// Allow grants access on the consent page and returns the redirect URI with the code.
func (b *Browser) Allow(query url.Values) *url.URL {
	b.t.Helper()
	p := b.Post("/authorize", url.Values{"ticket": {b.ConsentRequest(query)}, "answer": {"allow"}})
	to, err := p.Location()
	if err != nil || p.StatusCode != http.StatusSeeOther {
		b.t.Fatalf("allow: %d %v\n%s", p.StatusCode, err, p.Text)
	}
	return to
}

// AllowLimited grants access with limits on the consent page: the controls space, forms, form and
// until.
func (b *Browser) AllowLimited(query, limits url.Values) Page {
	b.t.Helper()
	fields := url.Values{"ticket": {b.ConsentRequest(query)}, "answer": {"allow"}}
	for name, values := range limits {
		fields[name] = values
	}
	return b.Post("/authorize", fields)
}

// PostFrom submits an HTML form with an Origin header.
func (b *Browser) PostFrom(t testing.TB, origin, path string, fields url.Values) Page {
	t.Helper()
	return b.postWith(t, path, fields, "Origin", origin)
}

// PostAs submits an HTML form with the client address in X-Forwarded-For.
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

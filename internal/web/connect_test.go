package web_test

import (
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"formulary/internal/cli/clitest"
)

// receiver is a real server that gets webhooks.
type receiver struct {
	URL    string
	mu     sync.Mutex
	answer int // status; 0: 204
	got    []delivered
}

type delivered struct {
	http.Header
	body string
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{}
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	r.URL = server.URL + "/hook"
	return r
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, _ := io.ReadAll(req.Body)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.got = append(r.got, delivered{req.Header, string(body)})
	if r.answer == 0 {
		w.WriteHeader(204)
		return
	}
	w.WriteHeader(r.answer)
	io.WriteString(w, "We are <b>updating</b>.")
}

func (r *receiver) answers(status int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = status
}

// last waits for the nth request and returns it.
func (r *receiver) last(t *testing.T, n int) delivered {
	t.Helper()
	var got delivered
	if !clitest.WaitFor(func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		if len(r.got) < n {
			return false
		}
		got = r.got[n-1]
		return true
	}) {
		t.Fatalf("request %d did not arrive", n)
	}
	return got
}

var (
	webhookPath  = regexp.MustCompile(`action="(/forms/frm_[a-z0-9]{26}/connect/whk_[a-z0-9]{26})"`)
	shownSecret  = regexp.MustCompile(`<code>(whsec_[A-Za-z0-9+/=]+|whsec_[^<]+)</code>`)
	resendPath   = regexp.MustCompile(`/forms/frm_[a-z0-9]+/connect/whk_[a-z0-9]+/deliveries/dlv_[a-z0-9]+/resend`)
	detailsLink  = regexp.MustCompile(`href="(/forms/[^"]*delivery=dlv_[a-z0-9]+)#`)
	allowReceive = "--webhook-allow=127.0.0.0/8"
)

// connected is a published form of Ada with a webhook that she created on its page.
type connected struct {
	*clitest.Service
	t            *testing.T
	b            *clitest.Browser
	to           *receiver
	token, form  string
	path, secret string
}

func connect(t *testing.T, s *clitest.Service, fields url.Values) *connected {
	t.Helper()
	c := &connected{Service: s, t: t, to: newReceiver(t), b: s.Browser()}
	c.token, c.form = publishAsAda(t, s, `{"title":"Order","fields":[{"key":"drink","kind":"short_text","label":"Drink"}]}`)
	c.b.SignIn(ada)
	has(t, c.b.Get("/forms/"+c.form+"/connect"), "No webhooks yet", "Verify signatures", "hmac.Equal", "timingSafeEqual", "compare_digest")
	if fields == nil {
		fields = url.Values{"events": {"response.created"}}
	}
	fields.Set("url", c.to.URL)
	made := c.b.Post("/forms/"+c.form+"/connect", fields)
	status(t, "create", made, 200)
	path, secret := webhookPath.FindStringSubmatch(made.Text), shownSecret.FindStringSubmatch(made.Text)
	if path == nil || secret == nil {
		t.Fatalf("no webhook or secret on the page\n%s", made.Text)
	}
	c.path, c.secret = path[1], strings.NewReplacer("&#43;", "+", "&#61;", "=").Replace(secret[1])
	has(t, c.b.Get(c.path), "!whsec_")
	return c
}

func (c *connected) submit() string {
	c.t.Helper()
	a := c.Call("POST", "/api/v1/forms/"+c.form+"/responses", c.token, `{"answers":{"drink":"Tea"}}`)
	if a.StatusCode != 201 {
		c.t.Fatalf("submit: %s", a.Text)
	}
	return a.String("id")
}

// waitFor loads a page until it has a text.
func (c *connected) waitFor(path, text string) clitest.Page {
	c.t.Helper()
	var p clitest.Page
	if !clitest.WaitFor(func() bool {
		p = c.b.Get(path)
		return strings.Contains(p.Text, text)
	}) {
		c.t.Fatalf("%s never has %q\n%s", path, text, p.Text)
	}
	return p
}

// A webhook that is created on the page delivers, and the log shows it.
func TestConnect(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		c := connect(t, s, nil)
		id := c.submit()
		got := c.to.last(t, 1)
		verifier, err := standardwebhooks.NewWebhook(c.secret)
		if err != nil {
			t.Fatal(err)
		}
		if err := verifier.Verify([]byte(got.body), got.Header); err != nil {
			t.Errorf("signature: %v", err)
		}
		log := c.waitFor(c.path, id)
		has(t, log, `class="code ok">204<`, "!1 attempt", "response.created", "1–1 of 1")
		has(t, c.b.Get("/forms/"+c.form+"/connect"), "Active", "Last delivery just now", `class="code ok">204<`, c.to.URL)
		has(t, c.b.Get(c.path+"?status=delivered"), id)
		has(t, c.b.Get(c.path+"?status=failed"), "No deliveries with this status.", "!"+id)
		has(t, c.b.Get(c.path+"?status=nonsense&page=x"), id)
		p := c.b.Get(c.path + "?page=7")
		if status(t, "a page after the last", p, 303); !strings.HasSuffix(p.Header.Get("Location"), c.path+"#deliveries") {
			t.Errorf("a page after the last leads to %s", p.Header.Get("Location"))
		}

		status(t, "resend", c.b.Post(resendPath.FindString(log.Text), nil), 303)
		if again := c.to.last(t, 2); again.Get("webhook-id") != got.Get("webhook-id") || again.body != got.body {
			t.Errorf("sent again: %v %s", again.Header, again.body)
		}
		test := c.b.Post(c.path+"/test", nil)
		has(t, test, "Test delivered. The receiver answered with status 204")
		if sent := c.to.last(t, 3); !strings.Contains(sent.body, `"webhook.test"`) {
			t.Errorf("test: %s", sent.body)
		}
		status(t, "replay", c.b.Post(c.path+"/replay", url.Values{"from": {"beginning"}}), 303)
		if again := c.to.last(t, 4); again.Get("webhook-id") != got.Get("webhook-id") {
			t.Errorf("replayed: %v", again.Header)
		}
	}, allowReceive)
}

// What failed shows what was sent and what came back.
func TestConnectFailures(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		c := connect(t, s, nil)
		c.to.answers(503)
		id := c.submit()
		sent := c.to.last(t, 1)
		log := c.waitFor(c.path, "1 pending")
		has(t, log, id, `class="code failed">503<`, "1 attempt, next at ", `<button>Resend<`)
		has(t, c.b.Get("/forms/"+c.form+"/connect"), "1 pending")
		link := strings.ReplaceAll(detailsLink.FindStringSubmatch(log.Text)[1], "&amp;", "&")
		has(t, c.b.Get(link), "POST /hook HTTP/1.1\nHost: 127.0.0.1:", "Webhook-Id: evt_"+id[4:], "Webhook-Signature: v1,", html.EscapeString(sent.body),
			"HTTP 503 Service Unavailable\n\nWe are &lt;b&gt;updating&lt;/b&gt;.")
		// It stays there when newer deliveries or a filter leave it out of the list.
		has(t, c.b.Get(link+"&status=delivered"), "Webhook-Id: evt_"+id[4:])
		if a := s.Call("DELETE", "/api/v1/forms/"+c.form+"/responses/"+id, c.token, ""); a.StatusCode != 204 {
			t.Fatalf("delete the response: %s", a.Text)
		}
		if p := c.b.Get(link); strings.Contains(p.Text, "HTTP 503") {
			has(t, p, "The response is deleted. Nothing is sent.")
		}
		has(t, c.b.Post(c.path+"/test", nil), "Test failed", "The receiver answered with status 503.", "We are &lt;b&gt;updating&lt;/b&gt;.")

		c.to.answers(410)
		c.submit()
		p := c.waitFor(c.path, "We disabled this webhook.")
		has(t, p, "The receiver answered with status 410 (Gone).", ">Enable<", "Disabled")
		status(t, "resend", c.b.Post(resendPath.FindString(p.Text), nil), 303)
		has(t, c.b.Get(c.path+"?done=resent-later"), "once the webhook is active")
		c.to.answers(0)
		status(t, "enable", c.b.Post(c.path+"/resume", nil), 303)
		has(t, c.waitFor(c.path, `class="code ok"`), "Active", "!We disabled")
	}, allowReceive)
}

// Settings, pauses, another secret, deletion.
func TestConnectChanges(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		c := connect(t, s, nil)
		problem(t, "a private address", c.b.Post(c.path, url.Values{"url": {"https://10.0.0.1/"}, "events": {"form.closed"}}))
		none := c.b.Post(c.path, url.Values{"url": {c.to.URL + "?typed"}})
		problem(t, "no events", none)
		has(t, none, "Name at least one event.", c.to.URL+"?typed")
		problem(t, "no such event", c.b.Post(c.path, url.Values{"url": {c.to.URL}, "events": {"response.read"}}))
		status(t, "save", c.b.Post(c.path, url.Values{"url": {c.to.URL + "?2"}, "events": {"response.created", "form.closed"}, "strict_order": {"1"}}), 303)
		has(t, c.b.Get(c.path+"?done=saved"), "Webhook saved.", c.to.URL+"?2", `value="form.closed" checked`, `name="strict_order" value="1" checked`, `value="form.opened">`)

		status(t, "pause", c.b.Post(c.path+"/pause", nil), 303)
		has(t, c.b.Get(c.path), "This webhook is paused.", ">Resume<", "Paused")
		has(t, c.b.Get(c.path+"?done=replay-later"), "once the webhook is active")
		later := c.b.Post(c.path+"/replay", url.Values{"from": {"since"}, "since": {"2026-05-31T17:30"}})
		if !strings.HasSuffix(later.Header.Get("Location"), "?done=replay-later") {
			t.Errorf("replay of a paused webhook leads to %s", later.Header.Get("Location"))
		}
		id := c.submit()
		status(t, "resume", c.b.Post(c.path+"/resume", nil), 303)
		if got := c.to.last(t, 1); got.Get("webhook-id") != "evt_"+id[4:] {
			t.Errorf("after the pause: %v", got.Header)
		}
		problem(t, "replay from no time", c.b.Post(c.path+"/replay", url.Values{"from": {"since"}, "since": {"soon"}}))

		rotated := c.b.Post(c.path+"/rotate", nil)
		status(t, "rotate", rotated, 200)
		has(t, rotated, "whsec_", "!"+c.secret, "The previous secret also signs until")
		c.submit()
		if got := c.to.last(t, 2); len(strings.Fields(got.Get("webhook-signature"))) != 2 {
			t.Errorf("signatures: %s", got.Get("webhook-signature"))
		}
		has(t, c.b.Get(c.path), "!whsec_")
		status(t, "delete", c.b.Post(c.path+"/delete", nil), 303)
		status(t, "deleted", c.b.Get(c.path), 404)
		has(t, c.b.Get("/forms/"+c.form+"/connect?done=deleted"), "Webhook deleted.", "No webhooks yet")
	}, allowReceive)
}

// A replay starts at a time in the time zone of the user.
func TestReplayTimeZone(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		c := connect(t, s, nil)
		c.submit()
		c.to.last(t, 1)
		status(t, "a zone", c.b.Post("/account/profile", url.Values{"name": {"Ada"}, "language": {"de"}, "time_zone": {"Asia/Tokyo"}}), 303)
		p := c.waitFor(c.path, "Zugestellt<")
		has(t, p, "Asia/Tokyo", "Zustellungen")
		// The same digits in UTC would be eight hours in the future, and replay nothing.
		since := time.Now().Add(-time.Hour).In(time.FixedZone("Asia/Tokyo", 9*60*60)).Format("2006-01-02T15:04")
		status(t, "an hour ago", c.b.Post(c.path+"/replay", url.Values{"from": {"since"}, "since": {since}}), 303)
		c.to.last(t, 2)
	}, allowReceive)
}

// Pages of other accounts' forms and webhooks do not exist.
func TestConnectIsPrivate(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		c := connect(t, s, nil)
		id := c.submit()
		c.to.last(t, 1)
		log := c.waitFor(c.path, id)
		resend := resendPath.FindString(log.Text)
		s.AddUser("eve@example.com")
		eve := s.Browser()
		eve.SignIn("eve@example.com")
		own := formPath.FindStringSubmatch(eve.Post("/forms", url.Values{"template": {"feedback"}}).Header.Get("Location"))[1]
		valid := url.Values{"url": {c.to.URL}, "events": {"response.created"}, "from": {"beginning"}}
		base := "/forms/" + c.form + "/connect"
		status(t, "list", eve.Get(base), 404)
		status(t, "new", eve.Get(base+"/new"), 404)
		status(t, "create", eve.Post(base, valid), 404)
		status(t, "create with bad input", eve.Post(base, nil), 404)
		for _, path := range []string{c.path, strings.Replace(c.path, c.form, own, 1)} {
			status(t, path, eve.Get(path), 404)
			for _, action := range []string{"", "/pause", "/resume", "/test", "/rotate", "/replay", "/delete"} {
				status(t, path+action, eve.Post(path+action, valid), 404)
			}
			status(t, "resend", eve.Post(path+resend[len(c.path):], nil), 404)
		}
		status(t, "from another site", c.b.PostFrom(t, "https://evil.example", c.path+"/delete", nil), 403)
		status(t, "no webhook", c.b.Get(base+"/whk_nonsense"), 404)
		status(t, "no delivery", c.b.Post(c.path+"/deliveries/dlv_nonsense/resend", nil), 404)
		status(t, "still there", c.b.Get(c.path), 200)
		if n := len(c.to.got); n != 1 {
			t.Errorf("%d requests arrived", n)
		}
	}, allowReceive)
}

// Problems of a new webhook are shown at its controls, and a second submission adds none.
func TestNewWebhook(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		c := connect(t, s, url.Values{"events": {"response.created"}, "nonce": {"first"}})
		base := "/forms/" + c.form + "/connect"
		again := c.b.Post(base, url.Values{"url": {c.to.URL}, "events": {"response.created"}, "nonce": {"first"}})
		if want := c.path + "?done=already"; again.Header.Get("Location") != want {
			t.Errorf("a repetition leads to %s, want %s", again.Header.Get("Location"), want)
		}
		has(t, c.b.Get(base+"/new"), `name="nonce"`, `value="response.created" checked`, `value="form.closed">`)
		for name, fields := range map[string]url.Values{
			"no address":      {"events": {"response.created"}},
			"http":            {"url": {"http://example.com/"}, "events": {"response.created"}},
			"a private one":   {"url": {"https://192.168.1.1/"}, "events": {"response.created"}},
			"with a password": {"url": {"https://a:b@example.com/"}, "events": {"response.created"}},
			"no events":       {"url": {c.to.URL}},
			"not text":        {"url": {"https://example.com/\xff\x00"}, "events": {"response.created"}, "nonce": {"\x00"}},
		} {
			problem(t, name, c.b.Post(base, fields))
		}
		for range 19 {
			status(t, "one more", c.b.Post(base, url.Values{"url": {c.to.URL}, "events": {"form.closed"}}), 200)
		}
		full := c.b.Post(base, url.Values{"url": {c.to.URL}, "events": {"form.closed"}})
		status(t, "too many", full, 409)
		has(t, full, "limit of 20 webhooks", `class="problem"`, c.to.URL)
		has(t, c.b.Get(base), "A form can have up to 20 webhooks.", "!/connect/new")
	}, allowReceive)
}

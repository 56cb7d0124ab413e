package e2e

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"

	"formulary/internal/cli/clitest"
	"formulary/internal/form"
)

const allowReceiver = "--webhook-allow=127.0.0.0/8"

var (
	webhookPath = regexp.MustCompile(`action="(/forms/frm_[a-z0-9]{26}/connect/whk_[a-z0-9]{26})"`)
	detailsPath = regexp.MustCompile(`href="(/forms/[^"]*delivery=dlv_[a-z0-9]+)#`)
)

// connectViews returns the pages of a form with three webhooks: one that works, one that
// fails, and one that the service has disabled.
func connectViews(s *clitest.Service, d ownerDB) []view {
	d.t.Helper()
	var failing atomic.Bool
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/gone":
			w.WriteHeader(410)
		case r.URL.Path == "/down" && failing.Load():
			w.WriteHeader(503)
			io.WriteString(w, "We are updating. Please come back.\n"+strings.Repeat("no-space-here", 30))
		default:
			w.WriteHeader(204)
		}
	}))
	d.t.Cleanup(receiver.Close)
	input := form.FormInput{Header: form.Header{Title: "Connected", Language: "en"}, Definition: parseDefinition(d.t, `{"fields": [{"key": "name", "kind": "short_text", "label": "Name"}]}`)}
	public := d.publish(input)
	base := strings.Replace(public, "/f/", "/forms/", 1)
	empty := strings.Replace(d.publish(input), "/f/", "/forms/", 1)
	b := s.Browser()
	b.SignIn(ada)
	var hooks []string
	for _, path := range []string{"/works", "/down", "/gone"} {
		p := b.Post(base+"/connect", url.Values{"url": {receiver.URL + path}, "events": {"response.created", "form.published", "form.closed"}})
		made := webhookPath.FindStringSubmatch(p.Text)
		if made == nil {
			d.t.Fatalf("no webhook: %d %s", p.StatusCode, p.Text)
		}
		hooks = append(hooks, made[1])
	}
	token := s.Token(ada, s.AddApp(ada, "https://shop.example/connect"), "responses:write").Access
	submit := func(name string) {
		d.t.Helper()
		path := strings.Replace(base, "/forms/", "/api/v1/forms/", 1) + "/responses"
		if a := s.Call("POST", path, token, `{"answers": {"name": "`+name+`"}}`); a.StatusCode != 201 {
			d.t.Fatalf("submit: %s", a.Text)
		}
	}
	wait := func(path, text string) (page string) {
		d.t.Helper()
		if !clitest.WaitFor(func() bool { page = b.Get(path).Text; return strings.Contains(page, text) }) {
			d.t.Fatalf("%s never has %q", path, text)
		}
		return page
	}
	submit("Ada")
	submit("Grace")
	wait(hooks[1], "1–2 of 2")
	failing.Store(true)
	submit("Alan")
	log := wait(hooks[1], "1 pending")
	wait(hooks[2], "We disabled this webhook.")
	details := strings.ReplaceAll(detailsPath.FindStringSubmatch(log)[1], "&amp;", "&")
	return []view{
		{name: "connect, empty", path: empty + "/connect", status: 200},
		{name: "connect", path: base + "/connect", status: 200, prepare: afterClick(`//summary[normalize-space()="Python"]`, `details[open] pre`)},
		{name: "new webhook", path: base + "/connect/new", status: 200},
		{name: "new webhook, refused", path: base + "/connect/new", status: 200, prepare: func(b *tab) {
			b.fill(`[name="url"]`, "https://10.0.0.1/")
			b.wantStatus(b.press(button("Create webhook")), 422)
		}},
		{name: "webhook, delivery", path: details, status: 200},
		{name: "webhook, test", path: hooks[1], status: 200, prepare: func(b *tab) { b.wantStatus(b.press(button("Send test")), 200) }},
		{name: "webhook, secret", path: hooks[0], status: 200, prepare: func(b *tab) { b.wantStatus(b.press(button("Rotate secret")), 200) }},
		{name: "webhook, disabled", path: hooks[2], status: 200},
	}
}

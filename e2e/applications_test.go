package e2e

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"formulary/internal/cli/clitest"
)

// clientError returns the error of the token endpoint for an invalid code.
// invalid_grant means that the client credentials were accepted.
func clientError(t testing.TB, s *clitest.Service, id, secret string) string {
	t.Helper()
	p := s.Browser().Post("/api/oauth2/token", url.Values{
		"grant_type": {"authorization_code"}, "code": {"made-up"}, "redirect_uri": {"https://shop.example/callback"},
		"client_id": {id}, "client_secret": {secret},
	})
	var answer struct {
		Error string `json:"error"`
	}
	if err := json.Unmarshal([]byte(p.Text), &answer); err != nil {
		t.Fatalf("%v: %s", err, p.Text)
	}
	return answer.Error
}

// shownSecret returns the client secret that the page shows once.
func (b *tab) shownSecret() string {
	b.t.Helper()
	secret := b.text(".new-secret code")
	if !strings.HasPrefix(secret, "fms_") {
		b.t.Fatalf("the page shows %q as the secret", secret)
	}
	return secret
}

// newApplication opens and fills in the registration page.
func (b *tab) newApplication(name, uris string) {
	b.t.Helper()
	b.open("/applications")
	b.press(link("New application"))
	b.fill(`input[name="name"]`, name)
	b.fill(`textarea[name="redirect_uris"]`, uris)
}

func TestApplicationWithSecret(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := signedInTab(t, s, ada)
	b.press(link("Applications"))
	b.wantText("No applications yet")

	b.newApplication("Shop", "javascript:alert(1)")
	b.wantStatus(b.press(button("Register application")), 422)
	if got := run(b, chromedp.Value(`textarea[name="redirect_uris"]`)); got != "javascript:alert(1)" {
		t.Errorf("after a mistake the redirect URI is %q, want it kept", got)
	}
	b.fill(`textarea[name="redirect_uris"]`, "https://shop.example/callback")
	b.wantStatus(b.press(button("Register application")), 200)
	b.wantText("Shop", "You won’t be able to see it again")
	first := b.shownSecret()
	id := b.text("dl dd code")

	b.open("/applications")
	b.press(link("Shop"))
	page := b.location().Path
	if page != "/applications/"+id {
		t.Fatalf("the application %s is at %s", id, page)
	}
	b.wantNoText(first, "fms_")

	b.fill(`input[name="name"]`, "Shop of horrors")
	b.fill(`textarea[name="redirect_uris"]`, "https://shop.example/callback\nhttps://shop.example/second")
	b.do(chromedp.Click(`input[value="webhooks:read"]`))
	b.wantStatus(b.press(button("Save")), 200)
	b.wantText("Changes saved.", "Shop of horrors")
	b.open(page)
	if got := run(b, chromedp.Value(`textarea[name="redirect_uris"]`)); got != "https://shop.example/callback\nhttps://shop.example/second" {
		t.Errorf("the redirect URIs are %q", got)
	}
	if b.count(`input[value="webhooks:read"]:checked`) != 1 || b.count(`input[value="forms:read"]:checked`) != 1 {
		t.Error("the scopes are not the chosen ones")
	}

	// Both secrets work until the old one is deleted.
	old := b.text(".divided-list .muted")
	b.wantStatus(b.press(button("Add secret")), 200)
	second := b.shownSecret()
	wantClient := func(secret, want string) {
		t.Helper()
		if got := clientError(t, s, id, secret); got != want {
			t.Errorf("the token endpoint says %s, want %s", got, want)
		}
	}
	wantClient(first, "invalid_grant")
	wantClient(second, "invalid_grant")
	b.open(page)
	b.wantNoText(second)
	b.press(`form[action$="/secrets/` + old + `/drop"] button`)
	b.wantText("Secret deleted.")
	wantClient(first, "invalid_client")
	wantClient(second, "invalid_grant")
	if n := b.count(`form[action$="/drop"]`); n != 0 {
		t.Error("the last secret can be dropped")
	}

	b.press(button("Disable"))
	b.wantText("Application disabled")
	if n := b.count(`h1 .tag.closed`); n != 1 {
		t.Error("it is not shown as off")
	}
	wantClient(second, "invalid_grant")
	b.press(button("Enable"))
	b.wantText("Application enabled.")
	wantClient(second, "invalid_grant")

	if n := b.count(`details[open]`); n != 0 {
		t.Error("deleting needs no confirmation")
	}
	b.do(chromedp.Click(`details.confirm summary`))
	b.wantStatus(b.press(button("Delete application")), 200)
	b.wantPath("/applications")
	b.wantText("Application deleted.", "No applications yet")
	b.wantStatus(b.open(page), 404)
	wantClient(second, "invalid_client")
}

func TestPublicApplication(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := signedInTab(t, s, ada)
	b.newApplication("Pocket", "com.example.pocket:/callback")
	b.do(chromedp.Click(`input[name="kind"][value="public"]`))
	b.wantStatus(b.press(button("Register application")), 200)
	b.wantText("Pocket", "Application registered.")
	b.wantNoText("fms_", "Add secret")
	b.open("/applications")
	b.wantText("Public")
}

// TestRegisterTwice: if the response to Register is lost, pressing it again does not
// create a second application.
func TestRegisterTwice(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := signedInTab(t, s, ada)
	b.newApplication("Shop", "https://shop.example/callback")
	const send = `(async () => {
		const form = document.querySelector('form[action="/applications"]');
		const answer = await fetch(form.action, {method: "POST", body: new URLSearchParams(new FormData(form))});
		return answer.status;
	})()`
	if status := run(b, chromedp.Evaluate[int](send, chromedp.EvalAwaitPromise)); status != 200 {
		t.Fatalf("the first time the form is answered with %d", status)
	}
	b.wantStatus(b.press(button("Register application")), 200)
	b.wantText("Shop", "Add secret")
	b.open("/applications")
	if n := b.count(".cards > li"); n != 1 {
		t.Errorf("%d applications are registered, want 1", n)
	}
}

// TestCopy: the copy button copies exactly the secret.
func TestCopy(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := signedInTab(t, s, ada)
	// The clipboard is shared by the whole machine, so the page gets a fake one.
	b.injectScript(`navigator.clipboard.writeText = async (text) => { window.copied = text; };`)
	b.newApplication("Shop", "https://shop.example/callback")
	b.press(button("Register application"))
	secret := b.shownSecret()
	b.do(chromedp.Click(`.new-secret button`), chromedp.WaitReady(`//button[normalize-space()="Copied"]`))
	if got := run(b, chromedp.Evaluate[string](`window.copied`)); got != secret {
		t.Errorf("copied %q, want the secret", got)
	}
}

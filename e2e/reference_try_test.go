package e2e

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"formulary/internal/form"
)

// tried presses Send and returns what came of the call.
func (b *tab) tried() string {
	b.t.Helper()
	b.do(chromedp.Click(button("Send request")))
	b.wait(`/^\d{3} /.test(document.querySelector(".try .result p").textContent)`)
	return b.text(".try .result")
}

// allowed presses Allow Access, which leads back to the page by way of another.
func (b *tab) allowed(path string) {
	b.t.Helper()
	b.press(button("Allow Access"))
	b.wait(`location.pathname === "` + path + `" && document.readyState === "complete"`)
}

// A person who has registered nothing tries the API on the page that explains it,
// through the whole OAuth flow.
func TestTryAPI(t *testing.T) {
	t.Parallel()
	s := start(t)
	addForms(t, s, ada, form.Header{Title: "Summer party", Language: "en"})
	b := openTab(t, s.URL)
	b.wantStatus(b.open("/docs/api"), 200)
	b.do(chromedp.Click(".try summary"))
	b.press(button("Allow access"))
	b.signIn(ada)
	b.wantPath("/authorize")
	b.wantWords("API reference", ada, "View your forms")
	b.allowed("/docs/api")
	if said := b.tried(); !strings.HasPrefix(said, "200 ") || !strings.Contains(said, ada) {
		t.Errorf("GET /api/v1/me shows %s", said)
	}

	// It goes on with the next call, of which it knows the limits.
	b.press(`.index a[href$="/listForms"]`)
	b.do(chromedp.SendKeys(`.try [name="per_page"]`, "1"))
	if said := b.tried(); !strings.HasPrefix(said, "200 ") || !strings.Contains(said, "Summer party") {
		t.Errorf("GET /api/v1/forms shows %s", said)
	}
	b.do(chromedp.SendKeys(`.try [name="per_page"]`, "000"))
	if said := b.tried(); !strings.HasPrefix(said, "400 ") || !strings.Contains(said, "400001") {
		t.Errorf("1000 on a page: %s", said)
	}
	b.wantRefused("/api/v1/forms?per_page=1000", 400)

	// What needs another scope says so, until that is allowed too.
	b.press(`.index a[href$="/createForm"]`)
	if said := b.tried(); !strings.HasPrefix(said, "403 ") || !strings.Contains(said, "forms:write") {
		t.Errorf("without the scope: %s", said)
	}
	b.wantRefused("/api/v1/forms", 403)
	b.do(chromedp.Click(button("Revoke access")))
	b.press(button("Allow access"))
	b.wantWords("Create, edit, publish and delete your forms")
	b.allowed("/docs/api/createForm")
	if said := b.tried(); !strings.HasPrefix(said, "201 ") || !strings.Contains(said, "Order") {
		t.Errorf("POST /api/v1/forms shows %s", said)
	}
	b.do(chromedp.Click(button("Revoke access")))
	if said := b.tried(); !strings.HasPrefix(said, "401 ") || !strings.Contains(said, "401003") {
		t.Errorf("without a token: %s", said)
	}
	b.wantRefused("/api/v1/forms", 401)
}

// Cancel brings the person back to the page, which says so.
func TestTryAPICancel(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := visitor(t, s, ada)
	b.press(link("API"))
	b.press(`.index a[href$="/listForms"]`)
	b.do(chromedp.Click(".try summary"))
	b.press(button("Allow access"))
	b.press(button("Cancel"))
	b.wait(`location.pathname === "/docs/api/listForms" && document.readyState === "complete"`)
	b.wait(`document.querySelector(".try .result p").textContent.startsWith("access_denied")`)
}

// Opened by hand, the page to which the answer comes explains itself.
func TestTryAPICallback(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := openTab(t, s.URL)
	b.wantStatus(b.open("/docs/api/callback?code=x&state=y"), 200)
	b.wantWords("This authorization has expired.")
}

// Where a browser keeps nothing, the reference is there without the trying.
func TestReferenceWithoutStorage(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := openTab(t, s.URL)
	b.onEveryPage(`Object.defineProperty(window, "sessionStorage", { get() { throw new DOMException("not here", "SecurityError"); } });`)
	b.wantStatus(b.open("/docs/api/listForms"), 200)
	b.wait(`document.readyState === "complete"`)
	b.wantWords("per_page")
	if b.count(".try[hidden]") != 1 {
		t.Error("trying is offered where it cannot work")
	}
}

package e2e

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"formulary/internal/form"
)

// sendExplorerRequest presses Send and returns the response that the page shows.
func (b *tab) sendExplorerRequest() string {
	b.t.Helper()
	b.do(chromedp.Click(button("Send request")))
	b.wait(`/^\d{3} /.test(document.querySelector(".explorer .result p").textContent)`)
	return b.text(".explorer .result")
}

// allowAccess presses Allow Access and waits for the redirects back to the page.
func (b *tab) allowAccess(path string) {
	b.t.Helper()
	b.press(button("Allow Access"))
	b.wait(`location.pathname === "` + path + `" && document.readyState === "complete"`)
}

// TestExplorer: a user without an application tries the API on its reference page,
// through the whole OAuth flow.
func TestExplorer(t *testing.T) {
	t.Parallel()
	s := start(t)
	addForms(t, s, ada, form.Header{Title: "Summer party", Language: "en"})
	b := openTab(t, s.URL)
	b.wantStatus(b.open("/docs/api"), 200)
	b.do(chromedp.Click(".explorer summary"))
	b.press(button("Allow access"))
	b.signIn(ada)
	b.wantPath("/authorize")
	b.wantText("API reference", ada, "View your forms")
	b.allowAccess("/docs/api")
	if result := b.sendExplorerRequest(); !strings.HasPrefix(result, "200 ") || !strings.Contains(result, ada) {
		t.Errorf("GET /api/v1/me shows %s", result)
	}

	// The next request uses the same token, and shows validation errors.
	b.press(`.index a[href$="/listForms"]`)
	b.do(chromedp.SendKeys(`.explorer [name="per_page"]`, "1"))
	if result := b.sendExplorerRequest(); !strings.HasPrefix(result, "200 ") || !strings.Contains(result, "Summer party") {
		t.Errorf("GET /api/v1/forms shows %s", result)
	}
	b.do(chromedp.SendKeys(`.explorer [name="per_page"]`, "000"))
	if result := b.sendExplorerRequest(); !strings.HasPrefix(result, "400 ") || !strings.Contains(result, "400001") {
		t.Errorf("1000 on a page: %s", result)
	}
	b.wantRefused("/api/v1/forms?per_page=1000", 400)

	// Requests that need another scope fail until it is allowed.
	b.press(`.index a[href$="/createForm"]`)
	if result := b.sendExplorerRequest(); !strings.HasPrefix(result, "403 ") || !strings.Contains(result, "forms:write") {
		t.Errorf("without the scope: %s", result)
	}
	b.wantRefused("/api/v1/forms", 403)
	b.do(chromedp.Click(button("Revoke access")))
	b.press(button("Allow access"))
	b.wantText("Create, edit, publish and delete your forms")
	b.allowAccess("/docs/api/createForm")
	if result := b.sendExplorerRequest(); !strings.HasPrefix(result, "201 ") || !strings.Contains(result, "Order") {
		t.Errorf("POST /api/v1/forms shows %s", result)
	}
	b.do(chromedp.Click(button("Revoke access")))
	if result := b.sendExplorerRequest(); !strings.HasPrefix(result, "401 ") || !strings.Contains(result, "401003") {
		t.Errorf("without a token: %s", result)
	}
	b.wantRefused("/api/v1/forms", 401)
}

// TestExplorerCancel: Cancel returns to the page, which shows the error.
func TestExplorerCancel(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := signedInTab(t, s, ada)
	b.press(link("API"))
	b.press(`.index a[href$="/listForms"]`)
	b.do(chromedp.Click(".explorer summary"))
	b.press(button("Allow access"))
	b.press(button("Cancel"))
	b.wait(`location.pathname === "/docs/api/listForms" && document.readyState === "complete"`)
	b.wait(`document.querySelector(".explorer .result p").textContent.startsWith("access_denied")`)
}

// TestExplorerCallback: the callback page explains itself when it is opened directly.
func TestExplorerCallback(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := openTab(t, s.URL)
	b.wantStatus(b.open("/docs/api/callback?code=x&state=y"), 200)
	b.wantText("This authorization has expired.")
}

// TestReferenceWithoutStorage: without session storage, the reference works and the API
// explorer is hidden.
func TestReferenceWithoutStorage(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := openTab(t, s.URL)
	b.injectScript(`Object.defineProperty(window, "sessionStorage", { get() { throw new DOMException("not here", "SecurityError"); } });`)
	b.wantStatus(b.open("/docs/api/listForms"), 200)
	b.wait(`document.readyState === "complete"`)
	b.wantText("per_page")
	if b.count(".explorer[hidden]") != 1 {
		t.Error("the API explorer is shown although it cannot work")
	}
}

package e2e

import (
	"archive/zip"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"

	"formulary/internal/form"
)

// TestTryApplication: the application page runs the whole OAuth flow and lists its
// requests.
func TestTryApplication(t *testing.T) {
	t.Parallel()
	s := start(t)
	d := openOwnerDB(t, s)
	d.createDraft(form.FormInput{Header: form.Header{Title: "Fruit", Language: "en"}})
	for name, flags := range map[string][]string{"secret": nil, "public": {"--public"}} {
		t.Run(name, func(t *testing.T) {
			app := s.AddApp(ada, "https://shop.example/callback", flags...)
			b := signedInTab(t, s, ada)
			page := "/applications/" + app.ID
			b.wantStatus(b.open(page), 200)
			b.wantText("No requests yet.")
			b.wantStatus(b.press(button("Try it")), 200)
			b.wantText("The OAuth flow works")
			steps := run(b, chromedp.Evaluate[[]string](`Array.from(document.querySelectorAll(".test-steps h2"), (e) => (e.querySelector("use").href.baseVal.endsWith("#check") ? "" : "failed: ") + e.innerText.trim())`))
			want := "Redirect the user to the authorization page, Exchange the code for tokens, Get the current user, List forms, Refresh the access token, Revoke the tokens"
			if got := strings.Join(steps, ", "); got != want {
				t.Errorf("the steps are %q, want %q", got, want)
			}
			b.wantText("Fruit", "grant_type=authorization_code", ada)
			b.wantNoText("client_secret=fms_")
			b.wantStatus(b.press(button("Try again")), 200)
			b.wantText("The OAuth flow works")
			b.wantStatus(b.press(link("Back")), 200)
			b.wantPath(page)
			// The test flow leaves no connected app behind.
			b.open("/connections")
			b.wantNoText("Disconnect")
		})
	}
}

func TestRecentRequests(t *testing.T) {
	t.Parallel()
	s := start(t)
	app := s.AddApp(ada, "https://shop.example/callback")
	token := s.Token(ada, app, "forms:read").Access
	s.Call("GET", "/api/v1/forms?per_page=3", token, "")
	notFound := s.Call("GET", "/api/v1/forms/frm_00000000000000000000000000", token, "")
	b := signedInTab(t, s, ada)
	ctx, cancel := context.WithTimeout(b.ctx, waitTimeout)
	defer cancel()
	// Requests are logged with a short delay.
	if err := waitUntil(ctx, func() bool {
		b.wantStatus(b.open("/applications/"+app.ID), 200)
		return b.count(".request-log tbody tr") == 2
	}); err != nil {
		t.Fatalf("the requests are not listed:\n%s", b.describe())
	}
	rows := run(b, chromedp.Evaluate[[]string](`Array.from(document.querySelectorAll(".request-log tbody tr"), (row) => Array.from(row.children, (e) => e.textContent).slice(1, 3).join(" "))`))
	want := []string{
		fmt.Sprintf("GET /api/v1/forms/frm_00000000000000000000000000 %d", notFound.StatusCode),
		"GET /api/v1/forms 200",
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	b.wantText(notFound.Header.Get("X-Request-Id"))
}

// TestTimeZone: times are shown in the user's time zone.
func TestTimeZone(t *testing.T) {
	t.Parallel()
	s := start(t)
	d := openOwnerDB(t, s)
	path := d.publish(form.FormInput{Header: form.Header{Title: "Poll", Language: "en"}, Definition: parseDefinition(t, pollForm)})
	d.addResponse(path, map[string]any{"who": "Grace"}, time.Date(2026, 7, 1, 23, 15, 0, 0, time.UTC))
	b := signedInTab(t, s, ada)
	responses := strings.Replace(path, "/f/", "/forms/", 1) + "/responses"
	b.wantStatus(b.open(responses), 200)
	b.wantText("23:15")
	b.open("/account")
	b.fill(`[name="time_zone"]`, "Nowhere/Atlantis")
	b.wantStatus(b.press(accountForm("profile", "button:not([type])")), 422)
	if b.count(`[name="time_zone"][aria-invalid]`) != 1 {
		t.Error("an unknown time zone is not marked as invalid")
	}
	b.fill(`[name="time_zone"]`, "Asia/Tokyo")
	b.wantStatus(b.press(accountForm("profile", "button:not([type])")), 200)
	if got := run(b, chromedp.Value(`[name="time_zone"]`)); got != "Asia/Tokyo" {
		t.Errorf("the time zone is %q", got)
	}
	b.wantStatus(b.open(responses), 200)
	b.wantText("08:15", "2 July 2026")
	b.wantStatus(b.open(strings.Replace(path, "/f/", "/forms/", 1)+"/share"), 200)
	b.wantText("Asia/Tokyo")
}

// TestDownload: all data of a user can be downloaded as one archive.
func TestDownload(t *testing.T) {
	t.Parallel()
	s := start(t)
	id, _ := createPoll(openOwnerDB(t, s))
	s.AddApp(ada, "https://shop.example/callback")
	b := signedInTab(t, s, ada)
	b.open("/account")
	type file struct {
		Type, Disposition, Text string
	}
	got := run(b, chromedp.Evaluate[file](`fetch(Array.from(document.querySelectorAll("a")).find((a) => a.textContent === "Download").href).then(async (r) => ({
		Type: r.headers.get("Content-Type"), Disposition: r.headers.get("Content-Disposition"),
		Text: Array.from(new Uint8Array(await r.arrayBuffer()), (n) => String.fromCharCode(n)).join("") }))`, chromedp.EvalAwaitPromise))
	if got.Type != "application/zip" || !strings.HasPrefix(got.Disposition, "attachment") {
		t.Errorf("it comes as %s, %s", got.Type, got.Disposition)
	}
	content := make([]byte, 0, len(got.Text))
	for _, r := range got.Text {
		content = append(content, byte(r))
	}
	archive, err := zip.NewReader(strings.NewReader(string(content)), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, f := range archive.File {
		in, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		all[f.Name] = string(text)
	}
	everything := fmt.Sprint(all)
	for _, want := range []string{"account.json", "applications.json", ada, id, "Person 59", "Which colour?", "https://shop.example/callback"} {
		if !strings.Contains(everything, want) {
			t.Errorf("%q is not in the file", want)
		}
	}
	for _, secret := range []string{"argon2", "fms_"} {
		if strings.Contains(everything, secret) {
			t.Errorf("%s is in the file", secret)
		}
	}
}

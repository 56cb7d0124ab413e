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

	"formulary/internal/form"
)

// The whole flow of an application runs on its page, and what it asks of the API
// is listed.
func TestTryApplication(t *testing.T) {
	t.Parallel()
	s := start(t)
	d := openDesk(t, s)
	d.draft(form.FormInput{Header: form.Header{Title: "Fruit", Language: "en"}})
	for name, flags := range map[string][]string{"secret": nil, "public": {"--public"}} {
		t.Run(name, func(t *testing.T) {
			app := s.AddApp(ada, "https://shop.example/callback", flags...)
			b := visitor(t, s, ada)
			page := "/applications/" + app.ID
			b.wantStatus(b.open(page), 200)
			b.wantWords("No requests yet.")
			b.wantStatus(b.press(button("Try it")), 200)
			b.wantWords("The OAuth flow works")
			steps := ask(b, chromedp.Evaluate[[]string](`Array.from(document.querySelectorAll(".steps-tried h2"), (e) => (e.querySelector("use").href.baseVal.endsWith("#check") ? "" : "failed: ") + e.innerText.trim())`))
			want := "Redirect the user to the authorization page, Exchange the code for tokens, Get the current user, List forms, Refresh the access token, Revoke the tokens"
			if got := strings.Join(steps, ", "); got != want {
				t.Errorf("the steps are %q, want %q", got, want)
			}
			b.wantWords("Fruit", "grant_type=authorization_code", ada)
			b.wantNoWords("client_secret=fms_")
			b.wantStatus(b.press(button("Try again")), 200)
			b.wantWords("The OAuth flow works")
			b.wantStatus(b.press(link("Back")), 200)
			b.wantPath(page)
			// Nothing of it is left.
			b.open("/connections")
			b.wantNoWords("Disconnect")
		})
	}
}

func TestLastCalls(t *testing.T) {
	t.Parallel()
	s := start(t)
	app := s.AddApp(ada, "https://shop.example/callback")
	token := s.Token(ada, app, "forms:read").Access
	s.Call("GET", "/api/v1/forms?per_page=3", token, "")
	lost := s.Call("GET", "/api/v1/forms/frm_00000000000000000000000000", token, "")
	b := visitor(t, s, ada)
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	// Calls are written down after a moment.
	if err := eventually(ctx, func() bool {
		b.wantStatus(b.open("/applications/"+app.ID), 200)
		return b.count(".calls tbody tr") == 2
	}); err != nil {
		t.Fatalf("the calls are not listed:\n%s", b.describe())
	}
	rows := ask(b, chromedp.Evaluate[[]string](`Array.from(document.querySelectorAll(".calls tbody tr"), (row) => Array.from(row.children, (e) => e.textContent).slice(1, 3).join(" "))`))
	if len(rows) != 2 || rows[0] != fmt.Sprintf("GET /api/v1/forms/frm_00000000000000000000000000 %d", lost.StatusCode) || !strings.HasPrefix(rows[1], "GET /api/v1/forms") || !strings.HasSuffix(rows[1], " 200") {
		t.Errorf("the last calls are %q", rows)
	}
	b.wantWords(lost.Header.Get("X-Request-Id"))
}

// Times are those of where the person lives.
func TestTimeZone(t *testing.T) {
	t.Parallel()
	s := start(t)
	d := openDesk(t, s)
	path := d.publish(form.FormInput{Header: form.Header{Title: "Poll", Language: "en"}, Definition: asking(t, poll)})
	d.answer(path, map[string]any{"who": "Grace"}, time.Date(2026, 7, 1, 23, 15, 0, 0, time.UTC))
	b := visitor(t, s, ada)
	responses := strings.Replace(path, "/f/", "/forms/", 1) + "/responses"
	b.wantStatus(b.open(responses), 200)
	b.wantWords("23:15")
	b.open("/account")
	b.fill(`[name="time_zone"]`, "Nowhere/Atlantis")
	b.wantStatus(b.press(in("profile", "button")), 422)
	if b.count(`[name="time_zone"][aria-invalid]`) != 1 {
		t.Error("a place that does not exist is not marked")
	}
	b.fill(`[name="time_zone"]`, "Asia/Tokyo")
	b.wantStatus(b.press(in("profile", "button")), 200)
	if got := ask(b, chromedp.Value(`[name="time_zone"]`)); got != "Asia/Tokyo" {
		t.Errorf("the time zone is %q", got)
	}
	b.wantStatus(b.open(responses), 200)
	b.wantWords("08:15", "2 July 2026")
	b.wantStatus(b.open(strings.Replace(path, "/f/", "/forms/", 1)+"/share"), 200)
	b.wantWords("Asia/Tokyo")
}

// Everything that a person has here comes as one file.
func TestDownload(t *testing.T) {
	t.Parallel()
	s := start(t)
	id, _ := polled(openDesk(t, s))
	s.AddApp(ada, "https://shop.example/callback")
	b := visitor(t, s, ada)
	b.open("/account")
	type file struct {
		Type, Kept, Text string
	}
	got := ask(b, chromedp.Evaluate[file](`fetch(Array.from(document.querySelectorAll("a")).find((a) => a.textContent === "Download").href).then(async (r) => ({
		Type: r.headers.get("Content-Type"), Kept: r.headers.get("Content-Disposition"),
		Text: Array.from(new Uint8Array(await r.arrayBuffer()), (n) => String.fromCharCode(n)).join("") }))`, chromedp.EvalAwaitPromise))
	if got.Type != "application/zip" || !strings.HasPrefix(got.Kept, "attachment") {
		t.Errorf("it comes as %s, %s", got.Type, got.Kept)
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

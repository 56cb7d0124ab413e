package web_test

import (
	"archive/zip"
	"fmt"
	"image/png"
	"io"
	"net/url"
	"strings"
	"testing"

	"formulary/internal/cli/clitest"
)

// journey is a user who works with one form. Its steps build on each other.
type journey struct {
	t    *testing.T
	s    *clitest.Service
	b    *clitest.Browser
	id   string   // of the form
	base string   // path of its pages
	sent []string // IDs of responses, oldest first
}

// From an empty account to a published form with responses, through the pages alone.
func TestWorkspace(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		s.AddUser(ada)
		j := &journey{t: t, s: s, b: s.Browser()}
		j.b.SignIn(ada)
		j.createAndPublish()
		j.changeAvailability()
		j.oddRequests()
		j.qrCodes()
		j.submitResponses()
		j.readResponses()
		j.deleteAndRestoreResponses()
		j.closeAndReopen()
		j.deleteAndRestoreForm()
		j.downloadAccount()
		j.otherUsersSeeNothing()
	})
}

func (j *journey) createAndPublish() {
	t, b := j.t, j.b
	has(t, b.Get("/"), "Create your first form", "Customer feedback", "Bug report")
	made := b.Post("/forms", url.Values{"template": {"feedback"}})
	found := formPath.FindStringSubmatch(made.Header.Get("Location"))
	if made.StatusCode != 303 || found == nil {
		t.Fatalf("%d %v", made.StatusCode, made.Header)
	}
	j.id, j.base = found[1], "/forms/"+found[1]
	has(t, b.Get(j.base+"/build"), `id="data"`, "<noscript>")
	has(t, b.Get(j.base+"/flow"), "<svg", "Logic summary", " if ")
	has(t, b.Get(j.base+"/share"), "Not published yet")
	has(t, b.Get(j.base+"/responses"), "No responses yet")
	has(t, b.Get(j.base+"/summary"), "No responses yet")
	preview := b.Get(j.base + "/preview")
	if has(t, preview, `action="`+j.base+`/preview"`); preview.Header.Get("X-Frame-Options") != "" || !strings.Contains(preview.Header.Get("Content-Security-Policy"), "frame-ancestors 'self'") {
		t.Errorf("the builder cannot show the preview in a frame: %v", preview.Header)
	}
	if p := b.Post(j.base+"/publish", nil); p.Header.Get("Location") != j.base+"/share" {
		t.Fatalf("publish: %d %s", p.StatusCode, p.Text)
	}
	has(t, b.Get(j.base+"/share"), j.s.URL+"/f/"+j.id, "qr.svg", "embed.js", "Prefilled link")
}

func (j *journey) changeAvailability() {
	t, b := j.t, j.b
	status(t, "availability", b.Post(j.base+"/share", url.Values{"slug": {"How-Was-It"}, "response_limit": {"100"}, "closes_at": {"2099-05-31T17:30"}, "sites": {"https://a.example\nhttps://b.example"}}), 303)
	has(t, b.Get(j.base+"/share"), j.s.URL+"/f/how-was-it", `value="100"`, `value="2099-05-31T17:30"`, "https://a.example\nhttps://b.example")
	wrong := b.Post(j.base+"/share", url.Values{"slug": {"no spaces"}, "response_limit": {"many"}})
	status(t, "invalid availability", wrong, 422)
	has(t, wrong, `value="no spaces"`)
}

func (j *journey) oddRequests() {
	t, b := j.t, j.b
	if head, err := b.Head(b.URL + j.base + "/preview"); err != nil || head.StatusCode != 200 {
		t.Errorf("HEAD of the preview: %v (%v)", head, err)
	}
	for _, path := range []string{"/?search=%00a%ff&status=%ff&sort=%00", j.base + "/responses?search=%00%ff", j.base + "/responses?where=%ff&is=%00a", j.base + "/responses/export?format=csv&search=a%00"} {
		status(t, "invalid text in "+path, b.Get(path), 200)
	}
}

func (j *journey) qrCodes() {
	t, b := j.t, j.b
	for _, file := range []string{"x", "qr", "qr.gif"} {
		status(t, "QR code as "+file, b.Get(j.base+"/code/"+file+"?download=1"), 404)
	}
	for _, format := range []string{"svg", "png"} {
		code := b.Get(j.base + "/code/qr." + format)
		if code.StatusCode != 200 || !strings.HasPrefix(code.Header.Get("Content-Type"), "image/") {
			t.Errorf("QR code as %s: %d %v", format, code.StatusCode, code.Header)
		}
		if format == "png" {
			if picture, err := png.Decode(strings.NewReader(code.Text)); err != nil || picture.Bounds().Dx() != 1024 {
				t.Errorf("PNG: %v", err)
			}
		}
	}
}

func (j *journey) submitResponses() {
	for i := range 30 {
		a := j.s.Call("POST", "/f/how-was-it", "", fmt.Sprintf(`{"answers": {"score": %d}}`, i%11))
		if a.StatusCode != 201 {
			j.t.Fatalf("%s", a.Text)
		}
		j.sent = append(j.sent, a.String("id"))
	}
}

func (j *journey) readResponses() {
	t, b, sent := j.t, j.b, j.sent
	has(t, b.Get("/"), "<strong>30</strong>", "just now", "chart-sparkline")
	has(t, b.Get(j.base+"/summary"), "Responses: 30", "30 answers", "NPS", "<svg", "Show as table")
	has(t, b.Get(j.base+"/responses/"+sent[5]), sent[4], sent[6], ">5<")
	for query, texts := range map[string][]string{
		"":                    {"1–25 of 30", sent[29], "!" + sent[0]},
		"?page=2":             {"26–30 of 30", sent[0]},
		"?order=oldest":       {sent[0], "!" + sent[29]},
		"?by=score":           {sent[0], "!" + sent[10]},
		"?by=-score":          {sent[10], "!" + sent[0]},
		"?where=score&is=10":  {"1–2 of 2", sent[10], sent[21], "!" + sent[11]},
		"?where=score&is=ten": {"match any answer"},
		"?search=nobody":      {"No results"},
		"?since=2099-01-01":   {"No results"},
	} {
		has(t, b.Get(j.base+"/responses"+query), texts...)
	}
	status(t, "the table", b.Post(j.base+"/responses/layout", url.Values{"layout": {"table"}}), 303)
	has(t, b.Get(j.base+"/responses?by=score"), `aria-sort="ascending"`, "by=-score")
	has(t, b.Get(j.base+"/responses?by=-score"), `aria-sort="descending"`)
	file := b.Get(j.base + "/responses/export?format=csv&where=score&is=10")
	if lines := strings.Count(file.Text, "\r\n"); lines != 3 || !strings.Contains(file.Header.Get("Content-Disposition"), `filename="Customer feedback.csv"`) {
		t.Errorf("%d lines\n%s", lines, file.Text)
	}
	file = b.Get(j.base + "/responses/export?format=csv&column=score")
	if head, _, _ := strings.Cut(file.Text, "\r\n"); strings.Count(head, ",") != 3 {
		t.Errorf("one column is %s", head)
	}
	status(t, "unknown format", b.Get(j.base+"/responses/export?format=pdf"), 400)
}

func (j *journey) deleteAndRestoreResponses() {
	t, b, sent := j.t, j.b, j.sent
	gone := b.Post(j.base+"/responses/delete", url.Values{"response": {sent[29], sent[28]}})
	has(t, b.Get(gone.Header.Get("Location")), "2 responses deleted", "1–25 of 28", "Undo")
	// Also after the user has looked at another page.
	has(t, b.Get(j.base+"/responses"), "You can still restore 2 responses deleted in the last hour", `name="response" value="`+sent[28]+`"`, "Restore")
	b.Post(j.base+"/responses/restore", url.Values{"response": {sent[29], sent[28]}})
	has(t, b.Get(j.base+"/responses"), "1–25 of 30", "!in the last hour")
	has(t, b.Get(j.base+"/summary"), "Responses: 30", "30 answers")
}

func (j *journey) closeAndReopen() {
	t, b := j.t, j.b
	// The notice about other changes says that the form is closed.
	status(t, "close", b.Post(j.base+"/close", nil), 303)
	b.Post(j.base+"/share", url.Values{"slug": {"how-was-it"}, "closes_at": {"2099-06-30T17:30"}})
	has(t, b.Get(j.base+"/share?done=saved"), "This form is closed. Reopen it")
	status(t, "reopen", b.Post(j.base+"/open", nil), 303)
	has(t, b.Get(j.base+"/share?done=saved"), "Changes are live")

	has(t, b.Get(b.Post(j.base+"/close", nil).Header.Get("Location")), "Form closed.", "Reopen form")
	has(t, b.Get(b.Post(j.base+"/open", nil).Header.Get("Location")), "Form reopened.")
	// A form that cannot be opened keeps its settings.
	b.Post(j.base+"/share", url.Values{"slug": {"how-was-it"}, "response_limit": {"30"}, "sites": {"https://shop.example"}})
	has(t, b.Post(j.base+"/open", nil), `value="how-was-it"`, `value="30"`, "https://shop.example")
	b.Post(j.base+"/share", url.Values{"slug": {"how-was-it"}, "any_site": {"yes"}})
	has(t, b.Get(b.Post(j.base+"/open", nil).Header.Get("Location")), "Form reopened.")
}

func (j *journey) deleteAndRestoreForm() {
	t, b := j.t, j.b
	copied := b.Post(j.base+"/duplicate", nil).Header.Get("Location")
	has(t, b.Get(copied), "Customer feedback (copy)")
	home := b.Get(b.Post(j.base+"/delete", nil).Header.Get("Location"))
	has(t, home, "Recently deleted", j.base+"/restore")
	has(t, b.Get("/?search=nothing"), j.base+"/restore") // on every page of the list
	status(t, "the deleted form", b.Get("/f/how-was-it"), 404)
	has(t, b.Get(b.Post(j.base+"/restore", nil).Header.Get("Location")), "Form restored.")
	status(t, "the restored form", b.Get("/f/how-was-it"), 200)
	has(t, b.Get("/?search=feedback&status=open&sort=title"), j.id, "!(copy)")
	has(t, b.Get("/?search=nothing"), "No results")
}

func (j *journey) downloadAccount() {
	t := j.t
	archive := j.b.Get("/account/download").Text
	files, err := zip.NewReader(strings.NewReader(archive), int64(len(archive)))
	if err != nil {
		t.Fatal(err)
	}
	contents := map[string]string{}
	for _, f := range files.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		contents[f.Name] = string(content)
	}
	for name, text := range map[string]string{"account.json": ada, "forms/" + j.id + ".json": "score"} {
		if !strings.Contains(contents[name], text) {
			t.Errorf("%s lacks %q: %v", name, text, contents[name])
		}
	}
	if lines := strings.Count(contents["responses/"+j.id+".jsonl"], "\n"); lines != 30 {
		t.Errorf("%d responses in the file", lines)
	}
}

func (j *journey) otherUsersSeeNothing() {
	t := j.t
	j.s.AddUser("bob@example.org")
	other := j.s.Browser()
	other.SignIn("bob@example.org")
	for _, path := range []string{"/build", "/flow", "/design", "/share", "/connect", "/connect/new", "/responses", "/responses/" + j.sent[0], "/responses/export?format=csv", "/summary", "/preview", "/code/qr.svg", "/prefill"} {
		status(t, "another user at "+path, other.Get(j.base+path), 404)
	}
	for _, path := range []string{"/publish", "/design", "/share", "/duplicate", "/delete", "/restore", "/close", "/open", "/responses/delete", "/responses/restore", "/preview"} {
		status(t, "another user posts to "+path, other.Post(j.base+path, url.Values{"response": {j.sent[0]}}), 404)
	}
	has(t, other.Get("/"), "Create your first form")
}

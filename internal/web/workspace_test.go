package web_test

import (
	"archive/zip"
	"encoding/json"
	"fmt"
	"html"
	"image/png"
	"io"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"formulary/internal/cli/clitest"
)

// words says what a page must have, or with ! in front must not.
func has(t *testing.T, p clitest.Page, words ...string) {
	t.Helper()
	for _, w := range words {
		if not, ok := strings.CutPrefix(w, "!"); ok == strings.Contains(p.Text, strings.TrimPrefix(w, "!")) {
			t.Errorf("the page has or lacks %q (%v)\n%s", not, ok, p.Text)
		}
	}
}

var formPath = regexp.MustCompile(`^/forms/(frm_[a-z0-9]{26})/build$`)

// From nothing to a published form with its first response, by the pages alone.
func TestWorkspace(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		s.AddUser(ada)
		b := s.Browser()
		b.SignIn(ada)
		has(t, b.Get("/"), "Create your first form", "Customer feedback", "Bug report")
		made := b.Post("/forms", url.Values{"template": {"feedback"}})
		found := formPath.FindStringSubmatch(made.Header.Get("Location"))
		if made.StatusCode != 303 || found == nil {
			t.Fatalf("%d %v", made.StatusCode, made.Header)
		}
		id := found[1]
		base := "/forms/" + id
		has(t, b.Get(base+"/build"), `id="data"`, "NPS", "<noscript>")
		has(t, b.Get(base+"/flow"), "<svg", "Logic summary", " if ")
		has(t, b.Get(base+"/share"), "Not published yet")
		has(t, b.Get(base+"/responses"), "No responses yet")
		has(t, b.Get(base+"/summary"), "No responses yet")
		preview := b.Get(base + "/preview")
		if has(t, preview, `action="`+base+`/preview"`); preview.Header.Get("X-Frame-Options") != "" || !strings.Contains(preview.Header.Get("Content-Security-Policy"), "frame-ancestors 'self'") {
			t.Errorf("the preview cannot be framed by ourselves: %v", preview.Header)
		}
		if p := b.Post(base+"/publish", nil); p.Header.Get("Location") != base+"/share" {
			t.Fatalf("publish: %d %s", p.StatusCode, p.Text)
		}
		has(t, b.Get(base+"/share"), s.URL+"/f/"+id, "qr.svg", "embed.js", "Prefilled link")

		// How it is offered.
		status(t, "offer", b.Post(base+"/share", url.Values{"slug": {"How-Was-It"}, "response_limit": {"100"}, "closes_at": {"2099-05-31T17:30"}, "sites": {"https://a.example\nhttps://b.example"}}), 303)
		has(t, b.Get(base+"/share"), s.URL+"/f/how-was-it", `value="100"`, `value="2099-05-31T17:30"`, "https://a.example\nhttps://b.example")
		wrong := b.Post(base+"/share", url.Values{"slug": {"no spaces"}, "response_limit": {"many"}})
		if has(t, wrong, `value="no spaces"`); wrong.StatusCode != 422 {
			t.Errorf("a wrong offer: %d", wrong.StatusCode)
		}
		if head, err := b.Head(b.URL + base + "/preview"); err != nil || head.StatusCode != 200 {
			t.Errorf("HEAD of the preview: %v (%v)", head, err)
		}
		for _, path := range []string{"/?search=%00a%ff&status=%ff&sort=%00", base + "/responses?search=%00%ff", base + "/responses?where=%ff&is=%00a", base + "/responses/export?format=csv&search=a%00"} {
			status(t, "text that is none in "+path, b.Get(path), 200)
		}
		for _, kind := range []string{"x", "qr", "qr.gif"} {
			status(t, "QR as "+kind, b.Get(base+"/code/"+kind+"?download=1"), 404)
		}
		for _, kind := range []string{"svg", "png"} {
			code := b.Get(base + "/code/qr." + kind)
			if code.StatusCode != 200 || !strings.HasPrefix(code.Header.Get("Content-Type"), "image/") {
				t.Errorf("QR as %s: %d %v", kind, code.StatusCode, code.Header)
			}
			if kind == "png" {
				if picture, err := png.Decode(strings.NewReader(code.Text)); err != nil || picture.Bounds().Dx() != 1024 {
					t.Errorf("PNG: %v", err)
				}
			}
		}

		var sent []string
		for i := range 30 {
			a := s.Call("POST", "/f/how-was-it", "", fmt.Sprintf(`{"answers": {"score": %d}}`, i%11))
			if a.StatusCode != 201 {
				t.Fatalf("%s", a.Text)
			}
			sent = append(sent, a.String("id"))
		}
		has(t, b.Get("/"), "<strong>30</strong>", "just now", "chart-sparkline")
		first := b.Get(base + "/responses")
		has(t, first, "1–25 of 30", sent[29], "!"+sent[0])
		has(t, b.Get(base+"/responses?page=2"), "26–30 of 30", sent[0])
		has(t, b.Get(base+"/responses?order=oldest"), sent[0], "!"+sent[29])
		// Sorted by an answer, as numbers, both ways; a column says how.
		up, down := b.Get(base+"/responses?by=score"), b.Get(base+"/responses?by=-score")
		has(t, up, `aria-sort="ascending"`, "by=-score", sent[0], "!"+sent[10])
		has(t, down, `aria-sort="descending"`, sent[10], "!"+sent[0])
		has(t, b.Get(base+"/responses?where=score&is=10"), "1–2 of 2", sent[10], sent[21], "!"+sent[11])
		has(t, b.Get(base+"/responses?where=score&is=ten"), "match any answer")
		has(t, b.Get(base+"/responses?search=nobody"), "No results")
		has(t, b.Get(base+"/responses?since=2099-01-01"), "No results")
		has(t, b.Get(base+"/responses/"+sent[5]), sent[4], sent[6], ">5<")
		file := b.Get(base + "/responses/export?format=csv&where=score&is=10")
		if lines := strings.Count(file.Text, "\r\n"); lines != 3 || !strings.Contains(file.Header.Get("Content-Disposition"), `filename="Customer feedback.csv"`) {
			t.Errorf("%d lines\n%s", lines, file.Text)
		}
		status(t, "no such file", b.Get(base+"/responses/export?format=pdf"), 400)

		// Deleted, and back.
		gone := b.Post(base+"/responses/delete", url.Values{"response": {sent[29], sent[28]}})
		page := b.Get(gone.Header.Get("Location"))
		has(t, page, "2 responses deleted", "1–25 of 28", "Undo")
		// Also for who has looked elsewhere meanwhile.
		has(t, b.Get(base+"/responses"), "You can still restore 2 responses deleted in the last hour", `name="response" value="`+sent[28]+`"`, "Restore")
		b.Post(base+"/responses/restore", url.Values{"response": {sent[29], sent[28]}})
		has(t, b.Get(base+"/responses"), "1–25 of 30", "!in the last hour")
		file = b.Get(base + "/responses/export?format=csv&column=score")
		if head, _, _ := strings.Cut(file.Text, "\r\n"); strings.Count(head, ",") != 3 {
			t.Errorf("one column is %s", head)
		}

		// A form that is closed says so when something else of it is changed.
		status(t, "close", b.Post(base+"/close", nil), 303)
		b.Post(base+"/share", url.Values{"slug": {"how-was-it"}, "closes_at": {"2099-06-30T17:30"}})
		has(t, b.Get(base+"/share?done=saved"), "This form is closed. Reopen it")
		status(t, "open again", b.Post(base+"/open", nil), 303)
		has(t, b.Get(base+"/share?done=saved"), "Changes are live")
		sum := b.Get(base + "/summary")
		has(t, sum, "Responses: 30", "30 answers", "NPS", "<svg", "Show as table")

		// Copied, closed, opened, deleted, and back.
		copied := b.Post(base+"/duplicate", nil).Header.Get("Location")
		has(t, b.Get(copied), "Customer feedback (copy)")
		has(t, b.Get(b.Post(base+"/close", nil).Header.Get("Location")), "Form closed.", "Reopen form")
		has(t, b.Get(b.Post(base+"/open", nil).Header.Get("Location")), "Form reopened.")
		// What refuses to open keeps how it is offered.
		b.Post(base+"/share", url.Values{"slug": {"how-was-it"}, "response_limit": {"30"}, "sites": {"https://shop.example"}})
		refused := b.Post(base+"/open", nil)
		has(t, refused, `value="how-was-it"`, `value="30"`, "https://shop.example")
		b.Post(base+"/share", url.Values{"slug": {"how-was-it"}, "any_site": {"yes"}})
		has(t, b.Get(b.Post(base+"/open", nil).Header.Get("Location")), "Form reopened.")
		home := b.Get(b.Post(base+"/delete", nil).Header.Get("Location"))
		has(t, home, "Recently deleted", base+"/restore")
		has(t, b.Get("/?search=nothing"), base+"/restore") // wherever one goes meanwhile
		status(t, "its page", b.Get("/f/how-was-it"), 404)
		has(t, b.Get(b.Post(base+"/restore", nil).Header.Get("Location")), "Form restored.")
		status(t, "its page", b.Get("/f/how-was-it"), 200)
		has(t, b.Get("/?search=feedback&status=open&sort=title"), id, "!(copy)")
		has(t, b.Get("/?search=nothing"), "No results")

		// Everything as one file.
		archive := b.Get("/account/download").Text
		files, err := zip.NewReader(strings.NewReader(archive), int64(len(archive)))
		if err != nil {
			t.Fatal(err)
		}
		names := map[string]string{}
		for _, f := range files.File {
			r, err := f.Open()
			if err != nil {
				t.Fatal(err)
			}
			content, _ := io.ReadAll(r)
			names[f.Name] = string(content)
		}
		if !strings.Contains(names["account.json"], ada) || strings.Count(names["responses/"+id+".jsonl"], "\n") != 30 || !strings.Contains(names["forms/"+id+".json"], "score") {
			t.Errorf("%v", names)
		}

		// Somebody else sees none of it.
		s.AddUser("bob@example.org")
		bob := s.Browser()
		bob.SignIn("bob@example.org")
		for _, path := range []string{"/build", "/flow", "/share", "/responses", "/responses/" + sent[0], "/responses/export?format=csv", "/summary", "/preview", "/code/qr.svg", "/prefill"} {
			status(t, "Bob at "+path, bob.Get(base+path), 404)
		}
		for _, path := range []string{"/publish", "/share", "/duplicate", "/delete", "/restore", "/close", "/open", "/responses/delete", "/responses/restore", "/preview"} {
			if p := bob.Post(base+path, url.Values{"response": {sent[0]}}); p.StatusCode != 404 {
				t.Errorf("Bob does %s: %d", path, p.StatusCode)
			}
		}
		has(t, bob.Get("/"), "Create your first form")
	})
}

// The builder saves what it has, learns what is wrong, and is told when somebody
// else was faster.
func TestDraft(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		s.AddUser(ada)
		b := s.Browser()
		b.SignIn(ada)
		id := formPath.FindStringSubmatch(b.Post("/forms", url.Values{"title": {"Mine"}}).Header.Get("Location"))[1]
		save := func(revision, body string) (int, map[string]any) {
			t.Helper()
			p := b.Put("/forms/"+id+"/draft", revision, body)
			var out map[string]any
			if err := json.Unmarshal([]byte(p.Text), &out); err != nil {
				t.Fatalf("%d %s", p.StatusCode, p.Text)
			}
			return p.StatusCode, out
		}
		code, saved := save("1", `{"title": "Mine", "language": "en", "fields": [{"kind": "short_text", "label": "Who?"}], "endings": [], "settings": {}}`)
		field := saved["fields"].([]any)[0].(map[string]any)
		if code != 200 || saved["revision"] != 2.0 || field["key"] != "who" || field["id"] == "" || len(saved["changes"].([]any)) != 0 {
			t.Errorf("%d %v", code, saved)
		}
		code, wrong := save("2", `{"title": "", "language": "en", "fields": [{"kind": "nonsense"}]}`)
		if code != 422 || wrong["details"].([]any)[0].(map[string]any)["field"] != "title" {
			t.Errorf("%d %v", code, wrong)
		}
		code, late := save("1", `{"title": "Late", "language": "en", "fields": []}`)
		if code != 409 || late["stored_draft"].(map[string]any)["title"] != "Mine" {
			t.Errorf("%d %v", code, late)
		}
		if code, out := save("2", `{"nonsense": 1}`); code != 400 {
			t.Errorf("%d %v", code, out)
		}
		status(t, "publish", b.Post("/forms/"+id+"/publish", nil), 303)
		_, changed := save("3", `{"title": "Mine", "language": "en", "fields": [{"kind": "email", "label": "Mail"}]}`)
		if changes := fmt.Sprint(changed["changes"]); changes != "[map[action:added key:mail subject:field] map[action:removed key:who subject:field]]" {
			t.Errorf("changes since the version: %v", changed)
		}
		// The page of respondents stays as it was published; the preview is ahead.
		has(t, b.Get("/f/"+id), "Who?", "!Mail")
		has(t, b.Get("/forms/"+id+"/preview"), "Mail", "!Who?")
		end := b.Post("/forms/"+id+"/preview", url.Values{"mail": {"a@b.c"}, "_shown": {"mail"}, "_action": {"next"}})
		if has(t, end, "Thank you"); end.StatusCode != 200 {
			t.Errorf("the end of the preview: %d", end.StatusCode)
		}
		has(t, b.Get("/forms/"+id+"/responses"), "No responses yet")
	})
}

func TestTryApplication(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		s.AddUser(ada)
		app := s.AddApp(ada, "https://x.example/cb")
		b := s.Browser()
		b.SignIn(ada)
		tried := b.Post("/applications/"+app.ID+"/try", nil)
		has(t, tried, "The OAuth flow works", "303 https://x.example/cb?code=fmc_", "&#34;user&#34;: &#34;"+ada, "Revoke the tokens", "!"+app.Secret)
		if full := regexp.MustCompile(`fm[acr]_[A-Za-z0-9_-]{20,}`).FindString(tried.Text); full != "" {
			t.Errorf("a whole secret is shown: %s", full)
		}
		has(t, b.Get("/connections"), "!"+app.ID)
		// What it asks of the API is listed.
		token := s.Token(ada, app, "forms:read").Access
		me := s.Call("GET", "/api/v1/me", token, "")
		s.Call("POST", "/api/v1/forms", token, `{"title": "x"}`)
		has(t, b.Get("/applications/"+app.ID), "GET /api/v1/me", me.Header.Get("X-Request-Id"), "POST /api/v1/forms", ">403<")
	})
}

// Numbers are summed up, and a question that asks the same of several things has a
// chart for each of them, also of those that are not asked about any more.
func TestSummaryParts(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		s.AddUser(ada)
		token := s.Token(ada, s.AddApp(ada, "https://x.example/"), "forms:read,forms:write").Access
		definition := func(rows string) string {
			return `{"title": "Trip", "fields": [{"id": "f1", "key": "grid", "kind": "matrix", "label": "How was it?", "rows": [` + rows + `],
				"options": [{"value": "good", "label": "Good"}, {"value": "bad", "label": "Bad"}]}]}`
		}
		sums := publish(t, s, token, `{"title": "Sale", "fields": [{"key": "n", "kind": "number", "label": "How many?", "unit": "pieces"}]}`)
		for _, n := range []string{"2", "3.5"} {
			s.Call("POST", "/f/"+sums, "", `{"answers": {"n": `+n+`}}`)
		}
		id := publish(t, s, token, definition(`{"value": "food", "label": "The food"}, {"value": "bus", "label": "The bus"}`))
		if a := s.Call("POST", "/f/"+id, "", `{"answers": {"grid": {"food": "good", "bus": "bad"}}}`); a.StatusCode != 201 {
			t.Fatal(a.Text)
		}
		b := s.Browser()
		b.SignIn(ada)
		has(t, b.Get("/forms/"+sums+"/summary"), "average <strong>2.75</strong> · total <strong>5.5</strong> pieces")
		has(t, b.Get("/forms/"+id+"/summary"), "<h3>The food</h3>", "<h3>The bus</h3>", "The bus: Bad")
		s.Call("PATCH", "/api/v1/forms/"+id, token, definition(`{"value": "food", "label": "The food"}`))
		s.Call("POST", "/api/v1/forms/"+id+"/publish", token, "")
		has(t, b.Get("/forms/"+id+"/summary"), "<h3>The food</h3>", "<h3>bus</h3>", "bus: Bad")
	})
}

// What a link can bring along is chosen from what the questions take.
func TestPrefill(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		s.AddUser(ada)
		token := s.Token(ada, s.AddApp(ada, "https://x.example/"), "forms:read,forms:write").Access
		id := publish(t, s, token, `{"title": "Trip", "fields": [{"key": "land", "kind": "country", "label": "Where to?"},
			{"key": "loud", "kind": "slider", "label": "How loud?"}, {"key": "km", "kind": "number", "label": "How far?", "step": 5}, {"key": "at", "kind": "datetime", "label": "When?"}]}`)
		b := s.Browser()
		b.SignIn(ada)
		has(t, b.Get("/forms/"+id+"/share"), `<select name="land"><option value=""></option>`, `<option value="FR">France</option>`,
			`<input name="loud" type="number" min="0" max="100" step="1">`, `<input name="km" type="number" step="any">`, `<input name="at" type="datetime-local">`)
	})
}

// Times are those of the viewer's zone.
func TestTimeZone(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		s.AddUser(ada)
		b := s.Browser()
		b.SignIn(ada)
		status(t, "a zone", b.Post("/account/profile", url.Values{"name": {"Ada"}, "language": {"en"}, "time_zone": {"Asia/Tokyo"}}), 303)
		has(t, b.Get("/account"), `value="Asia/Tokyo"`)
		status(t, "no zone", b.Post("/account/profile", url.Values{"name": {"Ada"}, "language": {"en"}, "time_zone": {"Nowhere/Here"}}), 422)
		id := formPath.FindStringSubmatch(b.Post("/forms", url.Values{"template": {"feedback"}}).Header.Get("Location"))[1]
		b.Post("/forms/"+id+"/publish", nil)
		b.Post("/forms/"+id+"/share", url.Values{"opens_at": {"2050-01-02T09:00"}, "any_site": {"1"}})
		token := s.Token(ada, s.AddApp(ada, "https://x.example/"), "forms:read").Access
		if a := s.Call("GET", "/api/v1/forms/"+id, token, ""); a.String("opens_at") != "2050-01-02T00:00:00.000Z" {
			t.Errorf("nine in Tokyo is %s", a.Text)
		}
		has(t, b.Get("/"), `<span class="tag">Opens 2 January 2050, 09:00</span>`)
		has(t, b.Get("/f/"+id), "This form opens on 2 January 2050, 09:00 JST.")
	})
}

// What the tables show can be looked for, and reads as people write it.
func TestShownAnswers(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		s.AddUser(ada)
		token := s.Token(ada, s.AddApp(ada, "https://x.example/"), "forms:read,forms:write,responses:read,responses:write").Access
		id := publish(t, s, token, `{"title": "Trip", "fields": [
			{"key": "drink", "kind": "single_choice", "label": "Drink", "options": [{"value": "t", "label": "Green Tea"}, {"value": "c", "label": "Coffee"}],
			 "jumps": [{"if": {"field": "drink", "op": "equals", "value": "c"}, "to": "bye"}]},
			{"key": "next", "kind": "page_break"},
			{"key": "coming", "kind": "yes_no", "label": "Coming"}, {"key": "from", "kind": "country", "label": "From"}, {"key": "loud", "kind": "slider", "label": "Loud", "min": 0, "max": 10}],
			"endings": [{"key": "thanks", "title": "Thanks"}, {"key": "bye", "title": "See you then"}]}`)
		for _, answers := range []string{`{"drink": "t", "coming": true, "from": "DE", "loud": 10}`, `{"drink": "t", "coming": false, "from": "MK", "loud": 9}`} {
			if a := s.Call("POST", "/f/"+id, "", `{"answers": `+answers+`}`); a.StatusCode != 201 {
				t.Fatal(a.Text)
			}
		}
		b := s.Browser()
		b.SignIn(ada)
		base := "/forms/" + id
		has(t, b.Get(base+"/responses"), "Green Tea", "Germany", "North Macedonia", "1–2 of 2")
		for query, of := range map[string]string{
			"where=drink&is=green+tea": "1–2 of 2", "where=drink&is=t": "1–2 of 2", "where=coming&is=Yes": "1–1 of 1", "where=coming&is=false": "1–1 of 1",
			"where=from&is=Germany": "1–1 of 1", "where=from&is=DE": "1–1 of 1", "where=from&is=France": "No results",
			"search=green+tea": "1–2 of 2", "search=MACEDONIA": "1–1 of 1", "search=coffee": "No results",
		} {
			has(t, b.Get(base+"/responses?"+query), of)
		}
		if moved := b.Get(base + "/responses?page=7&where=drink&is=t"); moved.Header.Get("Location") != base+"/responses?is=t&page=1&where=drink" {
			t.Errorf("past the end: %d %v", moved.StatusCode, moved.Header)
		}
		if a := s.Call("GET", "/api/v1/forms/"+id+"/responses?search=Green", token, ""); a.Body["total_items"] != 2.0 {
			t.Errorf("the API finds %s", a.Text)
		}
		has(t, b.Get(base+"/summary"), "Germany", "!>DE<")
		if page := b.Get(base + "/summary").Text; strings.Index(page, ">9<") > strings.Index(page, ">10<") {
			t.Error("10 comes before 9")
		}
		has(t, b.Get(base+"/flow"), "See you then")
	})
}

// What cannot be counted is read, and what is counted leads to those who said it.
func TestSummaryLeadsOn(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		s.AddUser(ada)
		token := s.Token(ada, s.AddApp(ada, "https://x.example/"), "forms:read,forms:write").Access
		id := publish(t, s, token, `{"title": "Trip", "fields": [{"key": "who", "kind": "name", "label": "Who?"},
			{"key": "drink", "kind": "multiple_choice", "label": "Drinks", "other": true, "options": [{"value": "t", "label": "Tea"}, {"value": "c", "label": "Coffee"}]},
			{"key": "on", "kind": "date", "label": "When?"},
			{"key": "how", "kind": "matrix", "label": "How was", "rows": [{"value": "bus", "label": "The bus"}], "options": [{"value": "good", "label": "Good"}, {"value": "bad", "label": "Bad"}]}]}`)
		for n := range 7 {
			answers := fmt.Sprintf(`{"who": {"given": "Person", "family": "No%d"}, "drink": ["t", "Juice %d"], "on": "2026-11-0%d", "how": {"bus": %q}}`, n, n, n+1, []string{"good", "bad"}[n%2])
			if a := s.Call("POST", "/f/"+id, "", `{"answers": `+answers+`}`); a.StatusCode != 201 {
				t.Fatal(a.Text)
			}
		}
		b := s.Browser()
		b.SignIn(ada)
		base := "/forms/" + id
		summary := b.Get(base + "/summary")
		has(t, summary, ">Person No6</a>", ">Person No2</a>", "!Person No1", ">Juice 6</a>", "!Juice 1", "!>Tea, Juice", ">7 November 2026</a>")
		for label, of := range map[string]string{"Tea": "1–7 of 7", "The bus: Bad": "1–3 of 3"} {
			link := regexp.MustCompile(`<a href="([^"]+)">` + label + `</a>`).FindStringSubmatch(summary.Text)
			if link == nil {
				t.Fatalf("%s leads nowhere", label)
			}
			_, answer, ok := strings.Cut(label, ": ")
			if !ok {
				answer = label
			}
			has(t, b.Get(html.UnescapeString(link[1])), of, `name="is" value="`+answer+`"`)
		}
		has(t, b.Get(base+"/responses?where=who.family&is=nO3"), "1–1 of 1 · Who?: Last name: nO3", `<option value="who.family" selected>Who?: `)
		has(t, b.Get(base+"/responses?where=who.family&is=o%25"), "No results")
		has(t, b.Get(base+"/responses?where=on&is=2026-11-03"), "1–1 of 1", "3 November 2026", `data-type="date" selected>When?`)
		unticked := b.Post(base+"/responses/delete", url.Values{"kept": {"where=who.family&is=No3"}})
		has(t, b.Get(unticked.Header.Get("Location")), "Select at least one response.", "1–1 of 1")
	})
}

// People are found by their names, in order.
func TestSortByPart(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		_, id := asker(t, s, `{"title": "T", "fields": [{"key": "who", "label": "Who?", "kind": "name"}]}`)
		b := s.Browser()
		b.SignIn(ada)
		for _, family := range []string{"Baker", "adams", "Cook"} {
			if p := s.Call("POST", "/f/"+id, "", `{"answers": {"who": {"given": "Ann", "family": "`+family+`"}}}`); p.StatusCode != 201 {
				t.Fatal(p.Text)
			}
		}
		for by, want := range map[string]string{"who.family": "adams Baker Cook", "-who.family": "Cook Baker adams"} {
			page := b.Get("/forms/" + id + "/responses?by=" + by)
			has(t, page, "Who?: Last name", "aria-sort")
			var got []string
			for _, found := range regexp.MustCompile(`<td>(adams|Baker|Cook)</td>`).FindAllStringSubmatch(page.Text, -1) {
				got = append(got, found[1])
			}
			if order := strings.Join(got, " "); order != want {
				t.Errorf("by %s: %s", by, order)
			}
		}
	})
}

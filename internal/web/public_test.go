package web_test

import (
	"net/url"
	"strings"
	"testing"

	"formulary/internal/cli/clitest"
)

// survey has two pages. The second has a condition, and on it a question that depends on
// another one.
const survey = `{"title": "Survey <b>", "description": "Two pages", "language": "he", "fields": [
	{"key": "name", "kind": "short_text", "label": "Your name?", "required": true},
	{"key": "more", "kind": "yes_no", "label": "More questions?"},
	{"key": "source", "kind": "hidden"},
	{"key": "p2", "kind": "page_break", "label": "The second page", "show_if": {"field": "more", "op": "equals", "value": true}},
	{"key": "shirt", "kind": "yes_no", "label": "A shirt?"},
	{"key": "size", "kind": "single_choice", "label": "Which size?", "options": [{"value": "s", "label": "Small"}, {"value": "m", "label": "Medium"}], "required": true,
	 "show_if": {"field": "shirt", "op": "equals", "value": true}}]}`

func TestPublicForm(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		s.AddUser(ada)
		token := s.Token(ada, s.AddApp(ada, "https://x.example/"), "forms:read,forms:write,responses:read,responses:write").Access
		id := publish(t, s, token, survey)
		api, path := "/api/v1/forms/"+id, "/f/"+id
		stored := func() []any { return s.Call("GET", api+"/responses?after=", token, "").Body["data"].([]any) }

		r := &respondent{t: t, b: s.Browser(), path: path}
		r.page = r.b.Get(path + "?source=mail&name=Ada&unknown=x&_page=9")
		r.sees(200, "Survey &lt;b&gt;", `dir="rtl"`, `lang="he"`, `value="Ada"`, "!unknown", "!Which size", "!_other")
		r.send("next", "name", "")
		r.sees(422, "Answer this question.", `aria-invalid="true"`, "autofocus")
		r.send("next", "name", "Ada", "more", "true")
		r.sees(200, "The second page", "Page 2 of 2", `id="q-size" hidden disabled`)
		// The back button keeps the answers.
		r.send("back")
		r.sees(200, `value="Ada"`, `value="true" checked`)
		r.send("next", "name", "Ada", "more", "true")
		// An answer makes another question on the same page appear.
		r.send("next", "shirt", "true")
		r.sees(200, "Which size", "!problem-size", `id="q-size">`)
		r.send("next", "shirt", "true")
		r.sees(422, "problem-size")
		if n := len(stored()); n != 0 {
			t.Errorf("%d responses before the end", n)
		}
		last := r.page
		r.send("next", "shirt", "true", "size", "m")
		r.sees(303)
		if done := r.b.Get(r.page.Header.Get("Location")); !strings.Contains(done.Text, "Thank you") {
			t.Errorf("after sending: %s", done.Text)
		}
		// Submitting again, as a double click or a reload does, stores nothing more.
		r.page = last
		r.send("next", "shirt", "true", "size", "m")
		r.sees(303)
		list := stored()
		if len(list) != 1 {
			t.Fatalf("%d responses", len(list))
		}
		answers := list[0].(map[string]any)["answers"].(map[string]any)
		equal(t, "the response", answers, map[string]any{"name": "Ada", "more": true, "size": "m", "source": "mail", "shirt": true})
		if len(answers) != 5 {
			t.Errorf("stored %v", answers)
		}
		// Without more questions the first page is the last.
		r.page = r.b.Get(path)
		r.send("next", "name", "Bob", "more", "false", "shirt", "true", "size", "m")
		r.sees(303)
		if answers := stored()[1].(map[string]any)["answers"].(map[string]any); len(answers) != 2 {
			t.Errorf("stored %v", answers)
		}
		// Anyone can submit JSON.
		if a := s.Call("POST", path, "", `{"answers": {"name": "Eve"}}`); a.StatusCode != 201 || !strings.HasPrefix(a.String("id"), "rsp_") {
			t.Errorf("public JSON: %s", a.Text)
		}
		if a := s.Call("POST", path, "", `{"answers": {"nam": "Eve"}}`); a.Code() != 422001 {
			t.Errorf("public JSON: %s", a.Text)
		}
		// Invalid requests get a page, never a server error.
		for _, fields := range []url.Values{
			{}, {"_page": {"99"}}, {"_page": {"-1"}}, {"_page": {"x"}, "_shown": {strings.Repeat("x,", 5000)}}, {"name": {"\x00"}, "_action": {"next"}},
			{"name": {"\xff"}, "_key": {"\x00"}}, {"name": {"a", "b"}, "_key": {strings.Repeat("o", 500)}, "_shown": {"name,more"}},
		} {
			if p := r.b.Post(path, fields); p.StatusCode >= 500 {
				t.Errorf("%v: %d", fields, p.StatusCode)
			}
		}
		status(t, "no such form", r.b.Get("/f/frm_01k9z8m7q3e4r5t6y7v8w9x0a1"), 404)
		status(t, "nonsense", r.b.Get("/f/%00"), 404)
		draft := s.Call("POST", "/api/v1/forms", token, survey)
		status(t, "a draft", r.b.Get("/f/"+draft.String("id")), 404)
		if a := s.Call("POST", "/f/"+draft.String("id"), "", `{"answers": {}}`); a.Code() != 409003 {
			t.Errorf("public JSON to a draft: %s", a.Text)
		}
		s.Call("POST", api+"/close", token, "")
		status(t, "closed", r.b.Get(path), 409)
	})
}

// Dates and numbers are formatted for the form's language on pages, and as in the API in
// redirects.
func TestDatesInWords(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		s.AddUser(ada)
		token := s.Token(ada, s.AddApp(ada, "https://x.example/"), "forms:read,forms:write").Access
		id := publish(t, s, token, `{"title": "Termin", "language": "de", "fields": [
			{"key": "day", "kind": "date", "label": "Tag", "earliest": "2026-12-01"}, {"key": "n", "kind": "number", "label": "Stunden", "step": 0.5},
			{"key": "land", "kind": "country", "label": "Land"}, {"key": "home", "kind": "address", "label": "Adresse"},
			{"key": "p2", "kind": "page_break"}, {"key": "ok", "kind": "yes_no", "label": "Am {{day}}, {{n}} Stunden, aus {{land}}: {{home}}?"}],
			"endings": [{"title": "Gut", "redirect": "https://x.example/?day={{day}}&n={{n}}&land={{land}}"}]}`)
		r := &respondent{t: t, b: s.Browser(), path: "/f/" + id}
		r.page = r.b.Get(r.path)
		r.sees(200, `data-decimal=","`, `!type="number"`) // or browsers would drop the comma
		r.send("next", "day", "2026-11-30", "n", "1,2")
		r.sees(422, "Geben Sie 01.12.2026 oder später ein.", "zum Beispiel 1 oder 1,5.")
		r.send("next", "day", "2026-12-05", "n", "1,5", "land", "AT", "home.city", "Bonn", "home.country", "DE")
		r.sees(200, "Am 05.12.2026, 1,5 Stunden, aus Österreich: Bonn, Deutschland?")
		r.send("next", "ok", "true")
		r.sees(303)
		if to := r.page.Header.Get("Location"); to != "https://x.example/?day=2026-12-05&n=1.5&land=AT" {
			t.Errorf("leads to %s", to)
		}

		// Numbers from the link and defaults are shown in the notation of the form's language.
		kilo := publish(t, s, token, `{"title": "Kilo", "language": "de", "fields": [{"key": "kg", "kind": "number"}, {"key": "p", "kind": "page_break"}, {"key": "eur", "kind": "number", "default": 0.125}, {"key": "at", "kind": "url"}]}`)
		r = &respondent{t: t, b: s.Browser(), path: "/f/" + kilo}
		r.page = r.b.Get(r.path + "?kg=1.234")
		r.sees(200, `value="1,234"`)
		r.send("next", "kg", "1,234")
		r.sees(200, `value="0,125"`, `name="kg" value="1,234"`)
		r.send("next", "eur", "1.234,50", "at", "www.example.com/x")
		r.sees(303)
		full := s.Token(ada, s.AddApp(ada, "https://y.example/"), "responses:read").Access
		list := s.Call("GET", "/api/v1/forms/"+kilo+"/responses", full, "").Body["data"].([]any)
		if got := list[0].(map[string]any)["answers"].(map[string]any); got["kg"] != 1.234 || got["eur"] != 1234.5 || got["at"] != "https://www.example.com/x" {
			t.Errorf("stored %v", got)
		}
		r.page = r.b.Get("/f/nowhere-at-all")
		r.sees(404, "We can’t find this form")
	})
}

// Submitting the last response of a form twice leads to its ending twice; other
// respondents see that the form is closed.
func TestLastResponseTwice(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		s.AddUser(ada)
		token := s.Token(ada, s.AddApp(ada, "https://x.example/"), "forms:read,forms:write").Access
		id := publish(t, s, token, `{"title": "One", "response_limit": 1, "fields": [{"key": "who", "kind": "short_text", "label": "Who?"}],
			"endings": [{"key": "a", "title": "See you, {{who}}"}]}`)
		r := &respondent{t: t, b: s.Browser(), path: "/f/" + id}
		r.page = r.b.Get(r.path)
		late := &respondent{t: t, b: s.Browser(), path: r.path, page: s.Browser().Get(r.path)}
		first := r.page
		for range 2 {
			r.page = first
			r.send("next", "who", "Ada")
			r.sees(303)
			has(t, r.b.Get(r.page.Header.Get("Location")), "See you, Ada")
		}
		late.send("next", "who", "Bob")
		late.sees(409, "!See you")
		late.page = late.b.Post(r.path, url.Values{"_key": {"\x00"}, "_action": {"next"}})
		late.sees(409)
		r.page = first
		r.send("next", "who", "Somebody else")
		r.sees(303)
	})
}

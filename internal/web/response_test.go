package web_test

import (
	"net/url"
	"strings"
	"testing"

	"formulary/internal/cli/clitest"
)

const workshop = `{"title": "Workshop", "fields": [
	{"key": "who", "kind": "name", "label": "Your name"},
	{"key": "mail", "kind": "email", "label": "Mail", "required": true},
	{"key": "makes", "kind": "multiple_choice", "label": "What to make?", "options": [{"value": "m", "label": "Mugs"}, {"value": "l", "label": "A lamp"}]},
	{"key": "next", "kind": "page_break"},
	{"key": "tell", "kind": "scale", "label": "Tell a friend?", "min": 0, "max": 10},
	{"key": "price", "kind": "number", "label": "Price"},
	{"key": "why", "kind": "long_text", "label": "Why?", "show_if": {"field": "tell", "op": "less", "value": 5}, "required": true},
	{"key": "twice", "kind": "calculated", "label": "Twice", "expression": "price * 2"}]}`

// A person works with a response: reads it, marks it, writes notes and corrects answers.
func TestWorkWithResponse(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		token, id := publishAsAda(t, s, workshop)
		var ids []string
		for _, answers := range []string{
			`{"who": {"given": "Mara", "family": "Lindqvist"}, "mail": "mara@example.com", "makes": ["m", "l"], "tell": 8, "price": 2.5}`, `{"mail": "zoe@example.com"}`,
		} {
			ids = append(ids, s.Call("POST", "/f/"+id, "", `{"answers": `+answers+`}`).String("id"))
		}
		b := s.Browser()
		b.SignIn(ada)
		list, page := "/forms/"+id+"/responses", "/forms/"+id+"/responses/"+ids[0]
		status := func() string { return s.Call("GET", "/api/v1"+page, token, "").String("status") }
		post := func(path string, fields ...string) clitest.Page {
			values := url.Values{}
			for i := 0; i < len(fields); i += 2 {
				values.Add(fields[i], fields[i+1])
			}
			return b.Post(path, values)
		}
		has(t, b.Get(page), ">Mara Lindqvist<", `data-new`, `value="new" aria-pressed="true"`, "<li>A lamp</li>", "Print or save as PDF", "mailto:mara@example.com", `class="meter"`)
		has(t, b.Get(page+"/detail"), `data-response="`+ids[0]+`"`, "!<html", "!topbar")
		if got := status(); got != "new" {
			t.Errorf("a page that was only fetched marks the response as %s", got)
		}
		for _, step := range []struct {
			fields []string
			want   string
		}{
			{[]string{"opened", "1"}, "read"}, {[]string{"status", "done"}, "done"}, {[]string{"opened", "1"}, "done"},
		} {
			if p := post(list+"/mark", append(step.fields, "response", ids[0])...); p.StatusCode != 303 || p.Header.Get("Location") != page || status() != step.want {
				t.Errorf("%v: %d %s, then %s", step.fields, p.StatusCode, p.Header.Get("Location"), status())
			}
		}
		post(list+"/mark", "response", ids[0], "star", "1", "tag", "Deposit, <b>gift</b>")
		has(t, b.Get(page), `value="done" aria-pressed="true"`, `name="star" value="0" aria-pressed="true"`, "<bdi>Deposit</bdi>", "&lt;b&gt;gift", "!<b>gift")
		has(t, post(list+"/mark", "response", ids[0], "tag", strings.Repeat("x", 50)), "Use no more than 40 characters in a tag.")
		// Several at once, and back to the list with its filter.
		if p := post(list+"/mark", "response", ids[0], "response", ids[1], "status", "read", "kept", "search=a"); p.Header.Get("Location") != list+"?search=a" || status() != "read" {
			t.Errorf("several: %v, then %s", p.Header, status())
		}

		post(page+"/notes", "text", "Left-handed,\ngive her wheel <4>.")
		shown := b.Get(page)
		has(t, shown, "wheel &lt;4&gt;.")
		_, rest, _ := strings.Cut(shown.Text, `name="note" value="`)
		note, _, _ := strings.Cut(rest, `"`)
		has(t, post(page+"/notes", "text", " "), "Enter a note.")
		post(page+"/notes", "note", note, "text", "Wheel 5")
		has(t, b.Get(page), "Wheel 5", "!Left-handed")
		post(page+"/notes", "note", note, "delete", "1")
		has(t, b.Get(page), "!Wheel 5")

		// Answers are corrected in the controls of the form, on one page and without defaults.
		has(t, b.Get(page+"/edit"), "You are editing a response.", `value="Mara"`, `value="2.5"`, "Save changes", `name="tell"`, "!_page\" value=\"1\"")
		edited := []string{"_page", "0", "_shown", "who,mail,makes,tell,price,twice", "_action", "next", "who.given", "Maria", "mail", "maria@example.com", "makes", "m", "tell", "3", "price", "4"}
		if p := post(page+"/edit", edited...); p.StatusCode != 200 {
			t.Errorf("an answer that reveals a question: %d", p.StatusCode)
		}
		edited = append(edited, "_shown", "")
		edited[3] = "who,mail,makes,tell,price,twice,why"
		has(t, post(page+"/edit", edited...), "Answer this question.")
		p := post(page+"/edit", append(edited, "why", "Too cold")...)
		if p.Header.Get("Location") != page+"?done=edited" {
			t.Errorf("edited: %d %v", p.StatusCode, p.Header)
		}
		r := s.Call("GET", "/api/v1"+page, token, "")
		for _, part := range []string{`"given":"Maria"`, `"why":"Too cold"`, `"price":4`, `"twice":8`, `"edited_at"`, `"status":"read"`} {
			if !strings.Contains(strings.ReplaceAll(r.Text, ": ", ":"), part) {
				t.Errorf("the edited response has no %s: %s", part, r.Text)
			}
		}

		// Another account sees and changes nothing; another site neither.
		s.AddUser("bob@example.com")
		other := s.Browser()
		other.SignIn("bob@example.com")
		for _, path := range []string{page, page + "/detail", page + "/edit"} {
			if p := other.Get(path); p.StatusCode != 404 {
				t.Errorf("%s for another account: %d", path, p.StatusCode)
			}
		}
		for path, fields := range map[string]url.Values{
			list + "/mark": {"response": {ids[0]}, "status": {"done"}}, page + "/notes": {"text": {"x"}}, page + "/edit": {"mail": {"x@example.com"}}, "/forms/" + id + "/retention": {"days": {"1"}},
		} {
			if p := other.Post(path, fields); p.StatusCode != 404 {
				t.Errorf("%s by another account: %d", path, p.StatusCode)
			}
			if p := b.PostFrom(t, "https://evil.example", path, fields); p.StatusCode != 403 {
				t.Errorf("%s from another site: %d", path, p.StatusCode)
			}
		}
		if status() != "read" {
			t.Errorf("someone else changed the status to %s", status())
		}
		if frame := b.Get(page + "/edit").Header; !strings.Contains(frame.Get("Content-Security-Policy"), "frame-ancestors 'none'") || frame.Get("Cache-Control") != "no-store" {
			t.Errorf("headers of the edit page: %v", frame)
		}

		has(t, post("/forms/"+id+"/retention", "days", "soon"), "Enter a whole number")
		post("/forms/"+id+"/retention", "days", "30")
		has(t, b.Get("/forms/"+id+"/share"), `value="30"`, "Nothing is deleted before")
		has(t, b.Get(page), "This form deletes responses after 30 days.")
		post("/forms/"+id+"/retention", "days", "")
		has(t, b.Get(page), "!This form deletes")
	})
}

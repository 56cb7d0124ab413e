package web_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"formulary/internal/cli/clitest"
)

// surfer sends what browsers send.
type surfer struct {
	next   http.RoundTripper
	header http.Header
}

func (s surfer) RoundTrip(r *http.Request) (*http.Response, error) {
	for name, values := range s.header {
		r.Header[name] = values
	}
	return s.next.RoundTrip(r)
}

const firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"

// visitor opens a form with a browser that sends the headers.
func visitor(t *testing.T, s *clitest.Service, path string, headers ...string) *respondent {
	t.Helper()
	b := s.Browser()
	header := http.Header{"User-Agent": {firefox}}
	for i := 0; i < len(headers); i += 2 {
		header.Set(headers[i], headers[i+1])
	}
	b.Transport = surfer{b.Transport, header}
	return &respondent{t: t, b: b, path: path, page: b.Get(path)}
}

const threePages = `{"title": "Trip", "fields": [
	{"id": "a", "key": "a", "kind": "yes_no", "label": "Skip?", "jumps": [{"if": {"field": "a", "op": "equals", "value": true}, "to": "p3"}]},
	{"id": "p2", "key": "p2", "kind": "page_break", "label": "Details"}, {"id": "b", "key": "b", "kind": "short_text", "required": true},
	{"id": "p3", "key": "p3", "kind": "page_break"}, {"id": "c", "key": "c", "kind": "short_text"}]}`

// dropOff describes what the API says: finished/opened, then who reached each page and who left
// there.
func dropOff(t *testing.T, s *clitest.Service, token, id, query string) string {
	t.Helper()
	a := s.Call("GET", "/api/v1/forms/"+id+"/drop-off"+query, token, "")
	if a.StatusCode != 200 {
		t.Fatal(a.Text)
	}
	text := fmt.Sprintf("%v/%v", a.Body["finished"], a.Body["opened"])
	for _, page := range a.Body["pages"].([]any) {
		p := page.(map[string]any)
		text += fmt.Sprintf(" %v-%v", p["reached"], p["left"])
	}
	return text
}

// becomes waits until the counts are stored.
func becomes(t *testing.T, name, want string, get func() string) {
	t.Helper()
	if !clitest.WaitFor(func() bool { return get() == want }) {
		t.Errorf("%s: %s, want %s", name, get(), want)
	}
}

// Each visit counts once on each page, whatever the respondent does there.
func TestVisits(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		token, id := publishAsAda(t, s, threePages)
		path := "/f/" + id
		count := func() string { return dropOff(t, s, token, id, "") }
		if got := count(); got != "0/0 0-0 0-0 0-0" {
			t.Errorf("before: %s", got)
		}
		visitor(t, s, path) // leaves at once
		r := visitor(t, s, path)
		r.send("next", "a", "no")
		r.sees(200, "Details")
		r.send("next", "b", "") // a problem
		r.sees(422)
		r.send("back", "b", "x")
		r.sees(200, "Skip?", `name="_reached" value="1"`)
		r.send("next", "a", "no")
		r.send("next", "b", "x")
		last := r.page
		r.send("next", "c", "y")
		r.sees(303)
		r.page = last // the connection broke
		r.send("next", "c", "y")
		r.sees(303)
		r = visitor(t, s, path)
		r.send("next", "a", "yes")
		r.sees(200, `name="_page" value="2"`) // leaves on the third page, without the second
		becomes(t, "three visits", "1/3 3-1 1-0 2-1", count)

		// Not counted: crawlers, pages loaded in advance, scripts, forged pages, earlier versions.
		visitor(t, s, path, "User-Agent", "Mozilla/5.0 (compatible; Examplebot/2.1; +http://www.example.com/bot.html)")
		visitor(t, s, path, "User-Agent", "curl/8.5.0").send("next", "a", "no")
		visitor(t, s, path, "Sec-Purpose", "prefetch")
		forged := visitor(t, s, path)
		forged.page.Text = strings.Replace(forged.page.Text, `name="_key" value="`, `name="_key" value="x`, 1)
		forged.send("next", "a", "no")
		old := visitor(t, s, path)
		s.Call("PATCH", "/api/v1/forms/"+id, token, strings.Replace(threePages, "Skip?", "Jump?", 1))
		s.Call("POST", "/api/v1/forms/"+id+"/publish", token, "")
		old.send("next", "a", "no")
		old.sees(200, "Details")
		becomes(t, "others", "1/5 5-3 1-0 2-1", count)

		b := s.Browser()
		b.SignIn(ada)
		has(t, b.Get("/forms/"+id+"/summary"), "Completion rate", "20 %", "Median time", "Drop-off", "5 visits", "Details", "<td class=\"number\">3</td>")
		has(t, b.Get("/forms/"+id+"/summary?where=c:contains:y"), "!Drop-off", "!Completion rate")
		if got := dropOff(t, s, token, id, "?until=2020-01-01T00:00:00Z"); got != "0/0 0-0 0-0 0-0" {
			t.Errorf("earlier: %s", got)
		}
		if a := s.Call("GET", "/api/v1/forms/"+id+"/drop-off?since=soon", token, ""); a.Code() != 400001 {
			t.Errorf("a wrong date: %s", a.Text)
		}

		// Owners can turn it off; the counts stay. A copy starts without any.
		status(t, "off", b.Post("/forms/"+id+"/design", url.Values{"settings": {"1"}, "keep_answers": {"1"}}), 303)
		s.Call("POST", "/api/v1/forms/"+id+"/publish", token, "")
		visitor(t, s, path).send("next", "a", "no")
		status(t, "on", b.Post("/forms/"+id+"/design", url.Values{"settings": {"1"}, "keep_answers": {"1"}, "count_visits": {"1"}}), 303)
		has(t, b.Get("/forms/"+id+"/summary"), "no longer counted", "5 visits")
		s.Call("POST", "/api/v1/forms/"+id+"/publish", token, "")
		visitor(t, s, path)
		becomes(t, "on again", "1/6 6-4 1-0 2-1", count)
		other := s.Call("POST", "/api/v1/forms/"+id+"/duplicate", token, "").String("id")
		s.Call("POST", "/api/v1/forms/"+other+"/publish", token, "")
		if got := dropOff(t, s, token, other, ""); got != "0/0 0-0 0-0 0-0" {
			t.Errorf("a copy: %s", got)
		}
		has(t, b.Get("/forms/"+other+"/summary"), "No responses yet", "Once people open the form")
	})
}

// With one question at a time, each question is a page, and a description one before them.
func TestVisitsOfSteps(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		token, id := publishAsAda(t, s, `{"title": "Trip", "description": "Welcome", "design": {"layout": "one_at_a_time"}, "fields": [
			{"key": "a", "kind": "short_text", "label": "First"}, {"key": "h", "kind": "hidden"}, {"key": "b", "kind": "short_text", "label": "Second"}]}`)
		path := "/f/" + id
		r := visitor(t, s, path)
		for range 2 {
			r.send("continue", "a", "x")
			r.sees(200)
		}
		r.send("next", "b", "y")
		r.sees(303)
		visitor(t, s, path).send("continue")
		visitor(t, s, path)
		becomes(t, "steps", "1/3 3-1 2-1 1-0", func() string { return dropOff(t, s, token, id, "") })
	})
}

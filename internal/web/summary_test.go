package web_test

import (
	"fmt"
	"html"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"formulary/internal/cli/clitest"
)

// Numbers have a total. A matrix has a chart for each row, also for rows of earlier
// versions.
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

// The summary lists the latest free-text answers, and links counts to their responses.
func TestSummaryLinks(t *testing.T) {
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
				t.Fatalf("%s has no link", label)
			}
			_, answer, ok := strings.Cut(label, ": ")
			if !ok {
				answer = label
			}
			has(t, b.Get(html.UnescapeString(link[1])), of, " is <b>"+answer+"</b>")
		}
		has(t, b.Get(base+"/responses?where=who.family&is=nO3"), "1–1 of 1", "Who?: Last name contains <b>nO3</b>")
		has(t, b.Get(base+"/responses?where=who.family&is=o%25"), "No results")
		has(t, b.Get(base+"/responses?where=on&is=2026-11-03"), "1–1 of 1", "3 November 2026", `data-type="date"`)
		unticked := b.Post(base+"/responses/delete", url.Values{"kept": {"where=who.family:equals:No3"}})
		has(t, b.Get(unticked.Header.Get("Location")), "Select at least one response.", "1–1 of 1")
	})
}

// The summary has the filters of the list, compares two periods, searches in texts and
// crosses two questions.
func TestSummaryFilters(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		s.AddUser(ada)
		token := s.Token(ada, s.AddApp(ada, "https://x.example/"), "forms:read,forms:write").Access
		id := publish(t, s, token, `{"title": "Trip", "fields": [{"key": "who", "kind": "name", "label": "Who?"},
			{"key": "drink", "kind": "single_choice", "label": "Drink", "options": [{"value": "t", "label": "Tea"}, {"value": "c", "label": "Coffee"}]},
			{"key": "food", "kind": "multiple_choice", "label": "Food", "options": [{"value": "r", "label": "Rice"}, {"value": "s", "label": "Soup"}]},
			{"key": "nps", "kind": "scale", "label": "Tell a friend?", "min": 0, "max": 10}, {"key": "note", "kind": "long_text", "label": "Notes"}]}`)
		for n := range 7 {
			answers := fmt.Sprintf(`{"who": {"given": "Person", "family": "No%d"}, "drink": %q, "food": ["r", "s"], "nps": %d, "note": "Left-Handed <b> %d"}`, n, []string{"t", "c"}[n%2], n+4, n)
			if a := s.Call("POST", "/f/"+id, "", `{"answers": `+answers+`}`); a.StatusCode != 201 {
				t.Fatal(a.Text)
			}
		}
		b := s.Browser()
		b.SignIn(ada)
		base := "/forms/" + id
		summary := base + "/summary"
		// Two of seven are promoters, three are detractors.
		has(t, b.Get(summary), "<strong>-14</strong>", ">−14<", "Compare with the 30 days before", "!compared with")
		tea := b.Get(summary + "?field=drink&value=Tea&in=note&find=LEFT-h")
		has(t, tea, "Responses: 4", "Drink is <b>Tea</b>", "4 answers", `<mark>Left-H</mark>anded &lt;b&gt; 6`, "Person No6, ", "!Handed &lt;b&gt; 5", "Clear filters", `where=drink%3Aequals%3At`)
		has(t, b.Get(summary+"?in=note&find=nowhere"), "No answers with “nowhere”")
		has(t, b.Get(summary+"?days=7&compare=1"), "compared with <b>the 7 days before", "0 before", "<b>7</b>", "<b>1</b>", "chart-before", "(0 before)", "<b>-14</b>")
		has(t, b.Get(summary+"?field=nps&op=at_least&value=abc"), "No responses match these filters", "This value doesn’t match")
		crossed := b.Get(summary + "?rows=drink&columns=food&days=7&where=nps:at_least:5")
		has(t, crossed, "Drink by Food", "6 responses answer both questions.", `data-heat="10"`)
		link := regexp.MustCompile(`<td data-heat="10"[^>]*><a href="([^"]+)">3</a>`).FindStringSubmatch(crossed.Text)
		if link == nil {
			t.Fatal("the table has no link")
		}
		has(t, b.Get(html.UnescapeString(link[1])), "1–3 of 3", "Drink is <b>Tea</b>", "Food is <b>Rice</b>", "Tell a friend? is at least <b>5</b>")
		for _, odd := range []string{"?rows=drink&columns=drink", "?rows=note&columns=drink", "?since=0001-01-01&compare=1", "?since=9999-01-01&compare=1", "?until=2020-01-01&compare=1", "?days=3660&compare=1", "?in=nothing&find=x"} {
			if a := b.Get(summary + odd); a.StatusCode != 200 {
				t.Errorf("%s: status %d", odd, a.StatusCode)
			}
		}
		// With very many responses the script asks for events: how far it is, then the page.
		events := b.Get(summary + "?days=7&where=drink:equals:t&whole=1&progress=1")
		if kind := events.Header.Get("Content-Type"); kind != "text/event-stream" {
			t.Errorf("events have the type %q", kind)
		}
		has(t, events, "event: page\ndata: \"", `\u003cb\u003e4\u003c/b\u003e`)
	})
}

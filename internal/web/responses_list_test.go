package web_test

import (
	"html"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"formulary/internal/cli/clitest"
)

const listForm = `{"title": "Trip", "fields": [
	{"key": "who", "kind": "name", "label": "Who?"},
	{"key": "drink", "kind": "single_choice", "label": "Drink", "options": [{"value": "t", "label": "Green Tea"}, {"value": "c", "label": "Coffee"}]},
	{"key": "days", "kind": "multiple_choice", "label": "Days", "options": [{"value": "fr", "label": "Friday"}, {"value": "sa", "label": "Saturday"}]},
	{"key": "on", "kind": "date", "label": "On"}, {"key": "from", "kind": "country", "label": "From"}, {"key": "cost", "kind": "number", "label": "Cost"},
	{"key": "note", "kind": "long_text", "label": "Note"}]}`

var listAnswers = []string{
	`{"who": {"given": "Ann", "family": "Ek"}, "drink": "t", "days": ["fr", "sa"], "on": "2026-03-01", "from": "DE", "cost": 12.5, "note": "Needs a lamp <b>near</b> the bed"}`,
	`{"who": {"given": "Bob"}, "drink": "c", "days": ["sa"], "on": "2026-03-05", "from": "FR", "cost": 150}`,
	`{"who": {"given": "Cyd"}, "drink": "t"}`,
}

var listedName = regexp.MustCompile(`<span class="who"><b>(.*?)</b>`)

// listed returns the names in the list.
func listed(p clitest.Page) string {
	var names []string
	for _, found := range listedName.FindAllStringSubmatch(p.Text, -1) {
		name := strings.NewReplacer("<mark>", "", "</mark>", "").Replace(found[1])
		names = append(names, strings.Fields(html.UnescapeString(name))[0])
	}
	return strings.Join(names, " ")
}

// Filters are sentences, work together, and mark what they found.
func TestResponseFilterChips(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		_, id := publishAsAda(t, s, listForm)
		for _, answers := range listAnswers {
			if a := s.Call("POST", "/f/"+id, "", `{"answers": `+answers+`}`); a.StatusCode != 201 {
				t.Fatal(a.Text)
			}
		}
		b := s.Browser()
		b.SignIn(ada)
		base := "/forms/" + id + "/responses"
		for query, want := range map[string][]string{
			"":                                        {"Cyd Bob Ann"},
			"sort=cost":                               {"Ann Bob Cyd"},
			"sort=-cost":                              {"Bob Ann Cyd"},
			"sort=oldest":                             {"Ann Bob Cyd"},
			"where=drink:equals:t":                    {"Cyd Ann", "Drink is <b>Green Tea</b>"},
			"where=drink:not_equals:t":                {"Bob", "Drink is not <b>Green Tea</b>"},
			"where=days:contains:fr":                  {"Ann", "Days includes <b>Friday</b>"},
			"where=on:greater:2026-03-01":             {"Bob", "On is after <b>1 March 2026</b>"},
			"where=on:at_most:2026-03-01":             {"Ann", "On is on or before"},
			"where=from:equals:DE":                    {"Ann", "From is <b>Germany</b>"},
			"where=cost:at_least:12.5":                {"Bob Ann", "Cost is at least <b>12.5</b>"},
			"where=cost:not_answered:":                {"Cyd", "Cost  <b>is not answered</b>"},
			"where=note:contains:LAMP":                {"Ann", "Note: Needs a <mark>lamp</mark> &lt;b&gt;near"},
			"field=days&op=equals&value=Saturday":     {"Bob Ann", "Days includes <b>Saturday</b>", `name="where" value="days:contains:sa"`},
			"field=drink&op=&value=coffee":            {"Bob", "Drink is <b>Coffee</b>"},
			"field=cost&op=answered":                  {"Bob Ann"},
			"search=lamp&where=drink:equals:t&days=7": {"Ann", "Submitted  <b>last 7 days</b>", "1–1 of 1"},
			"status=new&starred=1":                    {"", "Status is <b>New</b>", "<b>Starred</b>", "No results"},
			"tag=Nothing":                             {"", "Tag is <b>Nothing</b>"},
			"where=cost:at_least:many":                {"", "This value doesn’t match any answer to that question."},
			"where=nothing:equals:1":                  {"", "This value doesn’t match any answer to that question."},
			"where=cost:like:1":                       {"Cyd Bob Ann"},
		} {
			page := b.Get(base + "?" + query)
			if got := listed(page); page.StatusCode != 200 || got != want[0] {
				t.Errorf("%s: %d %q, want %q", query, page.StatusCode, got, want[0])
			}
			for _, text := range want[1:] {
				if !strings.Contains(page.Text, text) {
					t.Errorf("%s lacks %q", query, text)
				}
			}
		}
		// A chip removes its condition and keeps the others.
		two := b.Get(base + "?where=drink:equals:t&where=cost:at_least:1")
		for _, rest := range []string{"where=drink%3Aequals%3At", "where=cost%3Aat_least%3A1"} {
			if !strings.Contains(two.Text, `<a href="`+base+"?"+rest+`" aria-label="Remove filter`) {
				t.Errorf("no chip leads to %s", rest)
			}
		}
		// The export has the same responses, or those that are selected.
		if csv := b.Get(base + "/export?format=csv&where=drink:equals:t").Text; strings.Count(csv, "\n") != 3 || strings.Contains(csv, "Bob") {
			t.Errorf("the export has %s", csv)
		}
		ids := regexp.MustCompile(`name="response" value="(rsp_\w+)"><span`).FindAllStringSubmatch(b.Get(base).Text, -1)
		if csv := b.Get(base + "/export?format=csv&response=" + ids[1][1] + "&response=rsp_x").Text; strings.Count(csv, "\n") != 2 || !strings.Contains(csv, "Bob") {
			t.Errorf("the export of a selection has %s", csv)
		}
	})
}

// Views keep filter, order and columns; columns are remembered in their order.
func TestResponseViews(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		_, id := publishAsAda(t, s, listForm)
		for _, answers := range listAnswers {
			s.Call("POST", "/f/"+id, "", `{"answers": `+answers+`}`)
		}
		b := s.Browser()
		b.SignIn(ada)
		base := "/forms/" + id + "/responses"
		saved := b.Post(base+"/views", url.Values{"name": {"Tea <3"}, "kept": {"where=drink:equals:t&order=oldest&column=cost&column=drink&evil=1"}})
		address := saved.Header.Get("Location")
		page := b.Get(address)
		has(t, page, "View saved.", "Tea &lt;3", `aria-current="page">Tea`)
		if listed(page) != "Ann Cyd" || strings.Contains(address, "evil") {
			t.Fatalf("the view at %s shows %q", address, listed(page))
		}
		viewID := regexp.MustCompile(`view=(viw_\w+)`).FindStringSubmatch(address)[1]
		has(t, page, "!Save changes")
		changed := b.Get(base + "?view=" + viewID + "&where=drink:equals:c&order=oldest&column=cost&column=drink")
		has(t, changed, "Save changes")
		b.Post(base+"/views", url.Values{"view": {viewID}, "kept": {"view=" + viewID + "&where=drink:equals:c"}})
		b.Post(base+"/views", url.Values{"view": {viewID}, "name": {"Coffee"}})
		has(t, b.Get(base), ">Coffee <b>1</b></a>", "view="+viewID+"&amp;where=drink%3Aequals%3Ac", "!Tea &lt;3")
		has(t, b.Get(b.Post(base+"/views", url.Values{"name": {" "}, "kept": {"search=x"}}).Header.Get("Location")), "Enter a name for the view")

		// Another account sees and changes nothing of it.
		s.AddUser("bob@example.com")
		other := s.Browser()
		other.SignIn("bob@example.com")
		for _, path := range []string{"/views", "/views/" + viewID + "/delete", "/layout"} {
			if p := other.Post(base+path, url.Values{"view": {viewID}, "name": {"Mine"}, "column": {"cost"}}); p.StatusCode != 404 {
				t.Errorf("another account: %s answers %d", path, p.StatusCode)
			}
		}
		// Also if there is nothing to do, or if that is wrong.
		for path, sent := range map[string]url.Values{"/views": {"name": {" "}}, "/restore": {"response": {"next"}}} {
			if p := other.Post(base+path, sent); p.StatusCode != 404 {
				t.Errorf("another account: %s with %v answers %d", path, sent, p.StatusCode)
			}
		}
		has(t, b.Get(b.Post(base+"/views/"+viewID+"/delete", url.Values{}).Header.Get("Location")), "View deleted.", "!>Coffee ")

		head := func() string {
			var labels []string
			for _, found := range regexp.MustCompile(`title="Sort by this column">(.*?)</a>`).FindAllStringSubmatch(b.Get(base).Text, -1) {
				labels = append(labels, found[1])
			}
			return strings.Join(labels, " ")
		}
		b.Post(base+"/layout", url.Values{"layout": {"table"}})
		b.Post(base+"/layout", url.Values{"column": {"cost", "nothing", "drink", "cost", "on"}})
		if got := head(); got != "Cost Drink On" {
			t.Errorf("columns are %s", got)
		}
		b.Post(base+"/layout", url.Values{"column": {"cost", "drink", "on"}, "move": {"up:on"}})
		if got := head(); got != "Cost On Drink" {
			t.Errorf("after moving, columns are %s", got)
		}
		b.Post(base+"/layout", url.Values{"layout": {"list"}})
		has(t, b.Get(base), `class="response-list"`, "!response-table")
	})
}

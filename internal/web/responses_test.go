package web_test

import (
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"

	"formulary/internal/cli/clitest"
)

// Answers can be found by the texts that the table shows.
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
		if moved := b.Get(base + "/responses?page=7&order=oldest"); moved.Header.Get("Location") != base+"/responses?order=oldest&page=1" {
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

// The table can be sorted by a part of an answer.
func TestSortByPart(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		_, id := publishAsAda(t, s, `{"title": "T", "fields": [{"key": "who", "label": "Who?", "kind": "name"}]}`)
		b := s.Browser()
		b.SignIn(ada)
		for _, family := range []string{"Baker", "adams", "Cook"} {
			if p := s.Call("POST", "/f/"+id, "", `{"answers": {"who": {"given": "Ann", "family": "`+family+`"}}}`); p.StatusCode != 201 {
				t.Fatal(p.Text)
			}
		}
		b.Post("/forms/"+id+"/responses/layout", url.Values{"layout": {"table"}})
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

// Responses can be read while new versions are published and answered.
func TestLookingWhilePublishing(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		token, id := publishAsAda(t, s, `{"title": "T", "fields": [{"key": "a", "kind": "short_text"}]}`)
		b := s.Browser()
		b.SignIn(ada)
		var owner sync.WaitGroup
		owner.Go(func() {
			for range 60 {
				s.Call("POST", "/api/v1/forms/"+id+"/publish", token, "")
				s.Call("POST", "/f/"+id, "", `{"answers": {"a": "x"}}`)
			}
		})
		for range 60 {
			for _, page := range []string{"/responses", "/summary", "/responses/export?format=csv"} {
				if p := b.Get("/forms/" + id + page); p.StatusCode != 200 {
					t.Errorf("%s: %d", page, p.StatusCode)
				}
			}
		}
		owner.Wait()
	})
}

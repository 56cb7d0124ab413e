package web_test

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"formulary/internal/cli/clitest"
)

var (
	chipForm    = regexp.MustCompile(`(?s)<summary title="Change filter">(.*?)</summary><form class="card".*?</form>`)
	chipInput   = regexp.MustCompile(`<input[^>]* name="(\w+)"[^>]*?value="([^"]*)"|<input name="(\w+)" type="\w+" value="([^"]*)"`)
	chipOption  = regexp.MustCompile(`<option value="([^"]*)"( selected)?>`)
	chipSelects = regexp.MustCompile(`(?s)<select name="(\w+)">(.*?)</select>`)
)

// chipValues returns what the form in a chip sends unless the user changes something.
func chipValues(t *testing.T, page clitest.Page, chip string) url.Values {
	t.Helper()
	for _, found := range chipForm.FindAllStringSubmatch(page.Text, -1) {
		if !strings.Contains(found[1], chip) {
			continue
		}
		values := url.Values{}
		for _, input := range chipInput.FindAllStringSubmatch(found[0], -1) {
			values.Add(input[1]+input[3], html.UnescapeString(input[2]+input[4]))
		}
		for _, control := range chipSelects.FindAllStringSubmatch(found[0], -1) {
			for _, option := range chipOption.FindAllStringSubmatch(control[2], -1) {
				if option[2] != "" {
					values.Add(control[1], html.UnescapeString(option[1]))
				}
			}
		}
		return values
	}
	t.Fatalf("no chip has %q", chip)
	return nil
}

// A chip is changed in place: its form has what the chip says, and keeps the other filters.
func TestFilterChips(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		_, id := publishAsAda(t, s, listForm)
		for _, answers := range listAnswers {
			s.Call("POST", "/f/"+id, "", `{"answers": `+answers+`}`)
		}
		b := s.Browser()
		b.SignIn(ada)
		base := "/forms/" + id + "/responses"
		page := b.Get(base + "?status=new&days=7&where=drink:equals:t&where=cost:at_least:10&search=lamp&order=oldest")
		if got := listed(page); got != "Ann" {
			t.Fatalf("the filters find %q", got)
		}
		drink := chipValues(t, page, "Drink")
		want := url.Values{"field": {"drink"}, "op": {"equals"}, "value": {"Green Tea"}, "status": {"new"}, "days": {"7"}, "where": {"cost:at_least:10"}, "search": {"lamp"}, "order": {"oldest"}}
		if drink.Encode() != want.Encode() {
			t.Errorf("the chip has %v, want %v", drink, want)
		}
		drink.Set("op", "not_equals")
		drink.Del("search")
		changed := b.Get(base + "?" + drink.Encode())
		if got := listed(changed); got != "Bob" {
			t.Errorf("drinks other than tea find %q", got)
		}
		cost := chipValues(t, changed, "Cost")
		if cost.Get("value") != "10" || cost.Get("where") != "drink:not_equals:t" {
			t.Errorf("the chip of a number has %v", cost)
		}
		status := chipValues(t, page, "Status")
		status.Set("status", "done")
		if got := listed(b.Get(base + "?" + status.Encode())); got != "" {
			t.Errorf("responses that are done: %q", got)
		}
		if days := chipValues(t, page, "Submitted"); days.Get("days") != "7" || len(days["where"]) != 2 {
			t.Errorf("the chip of the days has %v", days)
		}
		has(t, b.Get(base+"?search=nothing"), "No responses match these filters", "Clear filters")
	})
}

// A filtered list has pages in both directions; its views say how many responses they have.
func TestFilteredPages(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		_, id := publishAsAda(t, s, listForm)
		for n := range 80 {
			a := s.Call("POST", "/f/"+id, "", fmt.Sprintf(`{"answers": {"who": {"given": "n%02d"}, "drink": %q}}`, n, []string{"c", "t"}[min(n%8, 1)]))
			if a.StatusCode != http.StatusCreated {
				t.Fatalf("response %d: %d %s", n, a.StatusCode, a.Text)
			}
		}
		b := s.Browser()
		b.SignIn(ada)
		base := "/forms/" + id + "/responses"
		b.Post(base+"/views", url.Values{"name": {"Tea"}, "kept": {"where=drink:equals:t"}})
		b.Post(base+"/views", url.Values{"name": {"In order"}, "kept": {"order=oldest"}})
		has(t, b.Get(base), ">Tea <b>70</b></a>", ">In order <b>80</b></a>")
		follow := func(page clitest.Page, rel string) clitest.Page {
			t.Helper()
			found := regexp.MustCompile(`<a rel="` + rel + `" href="([^"]+)"`).FindStringSubmatch(page.Text)
			if found == nil {
				t.Fatalf("no link to the %s page", rel)
			}
			return b.Get(html.UnescapeString(found[1]))
		}
		first := b.Get(base + "?where=drink:equals:t")
		second := follow(first, "next")
		third := follow(second, "next")
		has(t, first, "1–25 of 70", `!rel="prev"`)
		has(t, third, "51–70 of 70", "First page", `!rel="next"`)
		for name, pair := range map[string][2]clitest.Page{"second": {second, follow(third, "prev")}, "first": {first, follow(follow(third, "prev"), "prev")}, "third": {third, follow(follow(third, "prev"), "next")}} {
			if listed(pair[0]) != listed(pair[1]) || listed(pair[0]) == "" {
				t.Errorf("the %s page has %s, and %s on the way back", name, listed(pair[0]), listed(pair[1]))
			}
		}
		has(t, follow(third, "prev"), "26–50 of 70")
	})
}

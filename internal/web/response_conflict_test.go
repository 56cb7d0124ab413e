package web_test

import (
	"net/url"
	"regexp"
	"strings"
	"testing"

	"formulary/internal/cli/clitest"
)

// If two people edit a response at a time, the second sees what the first has stored. Nothing is
// replaced unseen, and what the second entered is kept.
func TestEditConflict(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		token, id := publishAsAda(t, s, workshop)
		page := "/forms/" + id + "/responses/" + s.Call("POST", "/f/"+id, "", `{"answers": {"mail": "mara@example.com", "makes": ["m"], "tell": 8, "price": 2.5}}`).String("id")
		b := s.Browser()
		b.SignIn(ada)
		seenIn := func(p clitest.Page) string {
			return regexp.MustCompile(`name="_seen" value="(\w+)"`).FindStringSubmatch(p.Text)[1]
		}
		seen := seenIn(b.Get(page + "/edit"))
		save := func(seen, mail, price string) clitest.Page {
			return b.Post(page+"/edit", url.Values{"_page": {"0"}, "_shown": {"who,mail,makes,tell,price,twice"}, "_action": {"next"}, "_seen": {seen}, "mail": {mail}, "makes": {"m", "l"}, "tell": {"8"}, "price": {price}})
		}
		stored := func() string {
			return strings.ReplaceAll(s.Call("GET", "/api/v1"+page, token, "").Text, ": ", ":")
		}
		// A mark is no edit.
		b.Post("/forms/"+id+"/responses/mark", url.Values{"response": {page[len(page)-30:]}, "opened": {"1"}})
		if p := save(seen, "first@example.com", "3"); p.StatusCode != 303 {
			t.Fatalf("the first edit: %d", p.StatusCode)
		}
		// A mistake on the page does not make the stored answers seen.
		wrong := save(seen, "no address", "4")
		if wrong.StatusCode != 422 || seenIn(wrong) != seen {
			t.Errorf("a mistake: %d, seen %s, want %s", wrong.StatusCode, seenIn(wrong), seen)
		}
		second := save(seen, "second<b>@example.com", "3")
		if second.StatusCode != 422 {
			t.Errorf("another mistake: %d", second.StatusCode)
		}
		second = save(seen, "second@example.com", "3")
		if second.StatusCode != 409 || !strings.Contains(stored(), "first@example.com") {
			t.Errorf("the second edit: %d, stored %s", second.StatusCode, stored())
		}
		has(t, second, "has changed since you opened it", "<li>Mail: first@example.com</li>", `value="second@example.com"`, "!<li>Price:", "!<li>Twice:")
		if p := save(seenIn(second), "second@example.com", "3"); p.StatusCode != 303 || !strings.Contains(stored(), "second@example.com") {
			t.Errorf("saved again: %d, stored %s", p.StatusCode, stored())
		}
	})
}

// One request removes a few tags: each is compared with each tag of each response while other
// writes wait.
func TestRemoveManyTags(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		_, id := publishAsAda(t, s, workshop)
		response := s.Call("POST", "/f/"+id, "", `{"answers": {"mail": "mara@example.com"}}`).String("id")
		b := s.Browser()
		b.SignIn(ada)
		list := "/forms/" + id + "/responses"
		tags := make([]string, 21)
		for i := range tags {
			tags[i] = strings.Repeat("x", i+1)
		}
		if p := b.Post(list+"/mark", url.Values{"response": {response}, "untag": tags}); p.StatusCode != 422 {
			t.Errorf("%d tags to remove: %d", len(tags), p.StatusCode)
		}
		if p := b.Post(list+"/mark", url.Values{"response": {response}, "untag": tags[:20]}); p.StatusCode != 303 {
			t.Errorf("20 tags to remove: %d", p.StatusCode)
		}
	})
}

package web_test

import (
	"regexp"
	"testing"
	"time"

	"formulary/internal/cli/clitest"
)

var closedSince = regexp.MustCompile(`<time datetime="([^"]+)">Geschlossen seit ([^<]+)</time>`)

// The page of a form that its owner closed says when, in the language and the design of the
// form.
func TestClosedByOwner(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		token, id := publishAsAda(t, s, `{"title": "Kurs", "language": "de", "closes_at": "2050-01-02T00:00:00Z", "fields": [{"key": "a", "kind": "short_text", "label": "A"}],
			"design": {"mood": "paper", "background": "tint"}}`)
		b := s.Browser()
		act := func(action string, want int) {
			t.Helper()
			if a := s.Call("POST", "/api/v1/forms/"+id+"/"+action, token, ""); a.StatusCode != want {
				t.Fatal(a.Text)
			}
		}
		before := time.Now().Truncate(time.Second)
		act("close", 200)
		after := time.Now()
		closed := b.Get("/f/" + id)
		status(t, "closed", closed, 409)
		has(t, closed, "form-paper.css", "form-background-paper.css", `data-background="tint"`, `lang="de"`, "form-when.js", "!Januar 2050")
		found := closedSince.FindStringSubmatch(closed.Text)
		if found == nil {
			t.Fatal(closed.Text)
		}
		at, err := time.Parse(time.RFC3339, found[1])
		if err != nil || at.Before(before) || at.After(after) {
			t.Errorf("closed at %s, want %s to %s (%v)", found[1], before, after, err)
		}
		if want := regexp.MustCompile(`^\d\d\.\d\d\.\d{4}, \d\d:\d\d [A-Z]+$`); !want.MatchString(found[2]) {
			t.Errorf("the time is %q", found[2])
		}
		act("publish", 201)
		status(t, "open again", b.Get("/f/"+id), 200)
	})
}

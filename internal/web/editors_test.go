package web_test

import (
	"encoding/json"
	"net/url"
	"regexp"
	"testing"
	"time"

	"formulary/internal/account"
	"formulary/internal/cli/clitest"
	"formulary/internal/form"
	"formulary/internal/id"
	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

// formInSpace creates a shared space of ada with bob as an editor, and returns a form in it.
func formInSpace(t *testing.T, s *clitest.Service) (formID string) {
	t.Helper()
	db, now := storetest.Open(t, s.Storage), time.Now()
	var people []account.User
	for _, email := range []string{ada, bob} {
		user, err := db.UserByEmail(t.Context(), email)
		if err != nil {
			t.Fatal(err)
		}
		people = append(people, user)
	}
	space := store.Space{Key: id.New(id.User, now), Name: "Team"}
	if err := db.AddSpace(t.Context(), space, people[0], now); err != nil {
		t.Fatal(err)
	}
	if err := db.SetMember(t.Context(), space.Key, people[1].ID, account.Editor, now); err != nil {
		t.Fatal(err)
	}
	f, err := db.CreateForm(t.Context(), space.Key, form.Header{Title: "Team", Language: "en"}, nil, now)
	if err != nil {
		t.Fatal(err)
	}
	return f.ID
}

// The builder shows who else is editing, and takes over what they save.
func TestEditors(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		s.AddUser(ada)
		s.AddUser(bob)
		a, b := s.Browser(), s.Browser()
		a.SignIn(ada)
		b.SignIn(bob)
		own := formPath.FindStringSubmatch(a.Post("/forms", url.Values{"title": {"Mine"}}).Header.Get("Location"))[1]
		team := formInSpace(t, s)
		has(t, a.Get("/forms/"+own+"/build"), `"together":false`)
		has(t, a.Get("/forms/"+team+"/build"), `"together":true`)
		status(t, "somebody else leaves", b.Post("/forms/"+own+"/editors", url.Values{"leave": {"1"}}), 404)
		status(t, "a stranger leaves", signedIn(s, "eve@example.com").Post("/forms/"+own+"/editors", url.Values{"leave": {"1"}}), 404)

		type answer struct {
			Others []string
			Draft  *struct {
				Revision int64
				Title    string
			}
		}
		sign := func(b *clitest.Browser, fields url.Values) (out answer) {
			t.Helper()
			p := b.Post("/forms/"+team+"/editors", fields)
			if err := json.Unmarshal([]byte(p.Text), &out); p.StatusCode != 200 || err != nil {
				t.Fatalf("%d %s", p.StatusCode, p.Text)
			}
			return out
		}
		first := url.Values{"revision": {"1"}}
		if got := sign(a, first); len(got.Others) != 0 || got.Draft != nil {
			t.Errorf("alone: %+v", got)
		}
		if got := sign(b, first); len(got.Others) != 1 || got.Others[0] != ada {
			t.Errorf("others for bob: %+v", got)
		}
		if got := sign(a, first); len(got.Others) != 1 || got.Others[0] != bob {
			t.Errorf("others for ada: %+v", got)
		}
		status(t, "save", b.Put("/forms/"+team+"/draft", "1", `{"title": "By Bob", "language": "en", "fields": []}`), 200)
		if got := sign(a, first); got.Draft == nil || got.Draft.Title != "By Bob" || got.Draft.Revision != 2 {
			t.Errorf("after a change: %+v", got)
		}
		status(t, "an old revision", a.Put("/forms/"+team+"/draft", "1", `{"title": "By Ada", "language": "en", "fields": []}`), 409)
		sign(b, url.Values{"leave": {"1"}})
		if got := sign(a, url.Values{"revision": {"2"}}); len(got.Others) != 0 || got.Draft != nil {
			t.Errorf("after bob left: %+v", got)
		}
		status(t, "an unknown form", a.Post("/forms/frm_nothing/editors", first), 404)
		status(t, "somebody else's form", b.Post("/forms/"+own+"/editors", first), 404)
	})
}

var seenValue = regexp.MustCompile(`name="seen" value="([^"]*)"`)

// Settings that somebody else changed since the page was loaded are not overwritten silently.
func TestSettingsChangedElsewhere(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		s.AddUser(ada)
		s.AddUser(bob)
		a, b := s.Browser(), s.Browser()
		a.SignIn(ada)
		b.SignIn(bob)
		team := formInSpace(t, s)
		path := "/forms/" + team
		status(t, "questions", a.Put(path+"/draft", "1", `{"title": "Team", "language": "en", "fields": [{"kind": "email", "label": "Mail"}]}`), 200)
		hook := a.Post(path+"/connect", url.Values{"url": {"https://example.com/a"}, "events": {"response.created"}})
		webhook := regexp.MustCompile(`/connect/whk_\w+`).FindString(hook.Text + hook.Header.Get("Location"))
		if webhook == "" {
			t.Fatalf("%d %s", hook.StatusCode, hook.Text)
		}
		for _, c := range []struct {
			name, page, path string
			control          int // which of the controls "seen" on the page
			first, second    url.Values
			typed            string // on the page after the conflict
		}{
			{"design", "/design", "/design", 0, url.Values{"brand": {"#112233"}}, url.Values{"brand": {"#445566"}}, "#445566"},
			{"availability", "/share", "/share", 0, url.Values{"response_limit": {"5"}, "any_site": {"1"}}, url.Values{"slug": {"our-team"}, "any_site": {"1"}}, "our-team"},
			{"retention", "/share", "/retention", 1, url.Values{"days": {"30"}}, url.Values{"days": {"77"}}, `value="77"`},
			{"notifications", "/connect/notify", "/connect/notify", 0, url.Values{"when": {"daily"}}, url.Values{"when": {"hourly"}, "add": {"cy@example.org"}}, "cy@example.org"},
			{"receipt", "/connect/notify", "/connect/receipt", 1, url.Values{"field": {"mail"}, "text": {"First"}}, url.Values{"field": {"mail"}, "text": {"Second"}}, "Second"},
			{"webhook", webhook, webhook, 0, url.Values{"url": {"https://example.com/b"}, "events": {"response.created"}}, url.Values{"url": {"https://example.com/c"}, "events": {"response.created"}}, "https://example.com/c"},
		} {
			seen := func(p clitest.Page) string {
				t.Helper()
				found := seenValue.FindAllStringSubmatch(p.Text, -1)
				if len(found) <= c.control {
					t.Fatalf("%s: the page has %d controls", c.name, len(found))
				}
				return found[c.control][1]
			}
			loaded := seen(a.Get(path + c.page))
			c.first.Set("seen", loaded)
			c.second.Set("seen", loaded)
			status(t, c.name+" by ada", a.Post(path+c.path, c.first), 303)
			late := b.Post(path+c.path, c.second)
			status(t, c.name+" by bob", late, 409)
			has(t, late, "Someone else changed these settings", c.typed, "Load what is stored")
			has(t, a.Get(path+c.page), "!Someone else changed these settings", "!"+c.typed)
			// What somebody else saved alike is no conflict.
			status(t, c.name+" the same again", b.Post(path+c.path, c.first), 303)
			// Saving again replaces it.
			c.second.Set("seen", seen(late))
			status(t, c.name+" again", b.Post(path+c.path, c.second), 303)
			has(t, a.Get(path+c.page), c.typed)
		}
	})
}

package web_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"formulary/internal/account"
	"formulary/internal/cli/clitest"
	"formulary/internal/form"
	"formulary/internal/id"
	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

// spaceFixture is a shared space with a form, and a form in Ada's own space.
type spaceFixture struct {
	*clitest.Service
	store      *store.Store
	app        clitest.App
	ada, bob   account.User
	space      string // ID of its account
	own, other string // forms
}

func newSpaceFixture(t *testing.T, s *clitest.Service) spaceFixture {
	t.Helper()
	f := spaceFixture{Service: s, store: storetest.Open(t, s.Storage)}
	s.AddUser(ada)
	s.AddUser(bob)
	f.app = s.AddApp(ada, "https://app.example/cb")
	var err error
	if f.ada, err = f.store.UserByEmail(t.Context(), ada); err == nil {
		f.bob, err = f.store.UserByEmail(t.Context(), bob)
	}
	if err != nil {
		t.Fatal(err)
	}
	f.space = id.New(id.User, time.Now())
	if err := f.store.AddSpace(t.Context(), store.Space{Key: f.space, Name: "Team"}, f.ada, time.Now()); err != nil {
		t.Fatal(err)
	}
	f.own, f.other = f.addForm(t, f.ada.ID, "My own"), f.addForm(t, f.space, "Of the team")
	return f
}

func (f spaceFixture) addForm(t *testing.T, owner, title string) string {
	t.Helper()
	made, err := f.store.CreateForm(t.Context(), owner, form.Header{Title: title, Language: "en"}, nil, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return made.ID
}

// forms returns the IDs of the forms that a token can list, separated by spaces.
func (f spaceFixture) forms(t *testing.T, token string) string {
	t.Helper()
	a := f.Call("GET", "/api/v1/forms", token, "")
	if a.StatusCode != 200 {
		return fmt.Sprint(a.Code())
	}
	var list []string
	for _, entry := range a.Body["data"].([]any) {
		list = append(list, entry.(map[string]any)["id"].(string))
	}
	if got := a.Body["total_items"]; got != float64(len(list)) {
		t.Errorf("%v forms are counted, %d listed", got, len(list))
	}
	return strings.Join(list, " ")
}

func TestConsentLimits(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		f := newSpaceFixture(t, s)
		b := s.Browser()
		b.SignIn(ada)
		team, mine := account.SpaceID(f.space), account.SpaceID(f.ada.ID)
		query := f.app.AuthorizeURL("forms:read,forms:write,responses:read")
		p := b.Get("/authorize?" + query.Encode())
		for _, text := range []string{`name="space"`, `value="` + team + `"`, `value="all" checked`, `name="form" value="` + f.own + `"`, `name="until"`, "You registered this application"} {
			if !strings.Contains(p.Text, text) {
				t.Errorf("the consent page has no %s", text)
			}
		}
		if n := strings.Count(p.Text, "<form"); n != 1 {
			t.Errorf("the consent page has %d forms", n)
		}
		next := time.Now().AddDate(0, 0, 2).Format("2006-01-02")
		for _, c := range []struct {
			name   string
			limits url.Values
			status int
			forms  string
		}{
			{"nothing chosen", nil, 303, f.own},
			{"the own space", url.Values{"space": {mine}, "forms": {"all"}}, 303, f.own},
			{"all forms, and some that are ticked", url.Values{"forms": {"all"}, "form": {f.other}}, 303, f.own},
			{"the shared space", url.Values{"space": {team}}, 303, f.other},
			{"a form of it", url.Values{"space": {team}, "forms": {"some"}, "form": {f.other, f.other}}, 303, f.other},
			{"with an end", url.Values{"space": {team}, "until": {next}}, 303, f.other},
			{"no form", url.Values{"forms": {"some"}}, 303, ""},
			{"a form of another space", url.Values{"space": {team}, "forms": {"some"}, "form": {f.own}}, 403, ""},
			{"one form of each", url.Values{"forms": {"some"}, "form": {f.own, f.other}}, 403, ""},
			{"no form at all", url.Values{"forms": {"some"}, "form": {"x\x00"}}, 403, ""},
			{"another person's space", url.Values{"space": {account.SpaceID(f.bob.ID)}}, 403, ""},
			{"no space", url.Values{"space": {"x"}}, 403, ""},
			{"too many forms", url.Values{"forms": {"some"}, "form": numbered(store.MaxGrantForms + 1)}, 403, ""},
			{"neither all nor some", url.Values{"forms": {"few"}}, 400, ""},
			{"an end in the past", url.Values{"until": {"2001-01-01"}}, 422, ""},
			{"an end that is no date", url.Values{"until": {"soon"}}, 422, ""},
		} {
			p := b.AllowLimited(query, c.limits)
			to := p.Header.Get("Location")
			if p.StatusCode != c.status || (to != "") != (c.status == 303) || strings.Contains(p.Text, "fmc_") {
				t.Errorf("%s: %d %q, want %d", c.name, p.StatusCode, to, c.status)
			}
			if p.StatusCode != 303 {
				continue
			}
			u, err := p.Location()
			if err != nil {
				t.Fatal(err)
			}
			if got := f.forms(t, s.Exchange(f.app, u.Query().Get("code")).Access); got != c.forms {
				t.Errorf("%s: the token sees %q, want %q", c.name, got, c.forms)
			}
		}
		if p := b.AllowLimited(f.app.AuthorizeURL("forms:read"), url.Values{"forms": {"some"}}); p.StatusCode != 422 {
			t.Errorf("no form for an app that creates none: %d", p.StatusCode)
		}
	})
}

// numbered returns IDs of forms that do not exist.
func numbered(n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("frm_%026d", i)
	}
	return list
}

// Searching and choosing another space shows the page again. The request stays open, and what was
// chosen stays chosen.
func TestConsentShowsForms(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		f := newSpaceFixture(t, s)
		for i := range 12 {
			f.addForm(t, f.ada.ID, fmt.Sprintf("Survey %d", i))
		}
		b := s.Browser()
		b.SignIn(ada)
		ticket := b.ConsentRequest(f.app.AuthorizeURL("forms:read"))
		show := func(name string, fields url.Values, has, hasNot []string) {
			t.Helper()
			fields.Set("ticket", ticket)
			fields.Set("answer", "show")
			p := b.Post("/authorize", fields)
			if p.StatusCode != 200 || !strings.Contains(p.Text, ticket) {
				t.Errorf("%s: %d", name, p.StatusCode)
			}
			for _, text := range has {
				if !strings.Contains(p.Text, text) {
					t.Errorf("%s: no %s in\n%s", name, text, p.Text)
				}
			}
			for _, text := range hasNot {
				if strings.Contains(p.Text, text) {
					t.Errorf("%s: %s is there", name, text)
				}
			}
		}
		team := account.SpaceID(f.space)
		show("search", url.Values{"forms": {"some"}, "form": {f.own}, "search": {"survey 7"}, "until": {"2090-01-02"}, "next": {"/authorize?x=1"}},
			[]string{`value="` + f.own + `" checked`, "Survey 7", `value="some" checked`, `value="2090-01-02"`, `value="survey 7"`, "/authorize?x=1"}, []string{"Survey 8"})
		show("another space", url.Values{"forms": {"some"}, "form": {f.own}, "space": {team}, "next": {"https://evil.example/"}},
			[]string{`value="` + team + `" selected`, `value="` + f.other + `">`}, []string{f.own, "Survey", "evil"})
		if p := b.Post("/authorize", url.Values{"ticket": {ticket}, "answer": {"show"}, "space": {account.SpaceID(f.bob.ID)}}); p.StatusCode != 403 || strings.Contains(p.Text, "Survey") {
			t.Errorf("the forms of another person: %d", p.StatusCode)
		}
		// Forms of the space before are refused, and the page offers those of this one.
		p := b.Post("/authorize", url.Values{"ticket": {ticket}, "answer": {"allow"}, "forms": {"some"}, "form": {f.own}, "space": {team}})
		if p.StatusCode != 403 || !strings.Contains(p.Text, `name="form" value="`+f.other) || p.Header.Get("Location") != "" {
			t.Errorf("forms of another space: %d\n%s", p.StatusCode, p.Text)
		}
		status(t, "allow after all", b.Post("/authorize", url.Values{"ticket": {ticket}, "answer": {"allow"}, "forms": {"some"}, "form": {f.other}, "space": {team}}), 303)
		status(t, "show what was answered", b.Post("/authorize", url.Values{"ticket": {ticket}, "answer": {"show"}}), 403)
		stranger := s.Browser()
		stranger.SignIn(bob)
		status(t, "another person's request", stranger.Post("/authorize", url.Values{"ticket": {b.ConsentRequest(f.app.AuthorizeURL("forms:read"))}, "answer": {"show"}}), 403)
	})
}

// The page stays small with many forms, and accepts those that it does not list.
func TestConsentWithManyForms(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		f := newSpaceFixture(t, s)
		for i := range 205 {
			f.addForm(t, f.ada.ID, fmt.Sprintf("Survey %d", i))
		}
		b := s.Browser()
		b.SignIn(ada)
		query := f.app.AuthorizeURL("forms:read")
		p := b.Get("/authorize?" + query.Encode())
		if n := strings.Count(p.Text, `name="form"`); n != 200 || strings.Contains(p.Text, f.own) || !strings.Contains(p.Text, "newest of 206 forms") {
			t.Errorf("%d forms are listed", n)
		}
		if len(p.Text) > 60_000 {
			t.Errorf("the page has %d bytes", len(p.Text))
		}
		status(t, "a form that is not listed", b.AllowLimited(query, url.Values{"forms": {"some"}, "form": {f.own}}), 303)
	})
}

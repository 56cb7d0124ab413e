package web_test

import (
	"html"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"formulary/internal/cli/clitest"
)

var (
	pageLink   = regexp.MustCompile(`\shref="(/[^"#]*)`)
	pageAction = regexp.MustCompile(`<(?:form|button)[^>]*?(method="(?:get|post)")?[^>]*?\s(?:form)?action="(/[^"]*)"[^>]*`)
)

// People see no link and no button that their role does not allow.
func TestPagesOfRoles(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		a := signedIn(s, ada)
		space := newSpace(t, a, "Team")
		made := a.Post("/forms", url.Values{"title": {"Survey"}, "questions": {"Name\nMail"}})
		form := strings.TrimSuffix(made.Header.Get("Location"), "/build")
		status(t, "publish", a.Post(form+"/publish", nil), 303)
		draft := strings.TrimSuffix(a.Post("/forms", url.Values{"title": {"Draft"}}).Header.Get("Location"), "/build")
		answered := s.Call("POST", "/f/"+strings.TrimPrefix(form, "/forms/"), "", `{"answers": {"name": "Eve"}}`)
		status(t, "submit", clitest.Page{Response: answered.Response, Text: answered.Text}, 201)
		response := form + "/responses/" + answered.String("id")
		a.Post(form+"/responses/mark", url.Values{"response": {answered.String("id")}, "tag": {"blue"}})
		a.Post(response+"/notes", url.Values{"text": {"A note"}})

		viewer, guest := signedIn(s, bob), signedIn(s, "eve@example.com")
		status(t, "join", accept(viewer, newLink(t, a, space, "viewer")), 303)
		for _, id := range []string{form, draft} {
			status(t, "share", a.Post(id+"/people", url.Values{"email": {"eve@example.com"}, "role": {"viewer"}}), 303)
		}
		guest.Get(form + "/responses") // enters the space
		pages := []string{form + "/connect/notify", draft + "/connect/notify", "/", "/?search=survey", "/?search=nothing", "/templates", form + "/flow", form + "/share", draft + "/share", form + "/versions", draft + "/versions", form + "/responses", draft + "/responses", response, response + "/detail", form + "/summary", draft + "/summary"}
		for name, b := range map[string]*clitest.Browser{"viewer": viewer, "guest": guest} {
			seen := map[string]bool{}
			for _, path := range pages {
				p := b.Get(path)
				status(t, name+" at "+path, p, 200)
				for _, link := range linksOf(p) {
					if seen[link] {
						continue
					}
					seen[link] = true
					if res := b.Get(link); res.StatusCode == 403 {
						t.Errorf("%s: %s links to %s, which is not allowed", name, path, link)
					}
				}
				for _, action := range actionsOf(p) {
					if seen[action] || skipped(action) {
						continue
					}
					seen[action] = true
					if res := b.Post(action, nil); res.StatusCode == 403 {
						t.Errorf("%s: %s has a button for %s, which is not allowed", name, path, action)
					}
				}
			}
			has(t, b.Get(response), "blue", "A note")
		}
		if p := a.Get(response); !strings.Contains(p.Text, "data-new") {
			t.Error("a viewer has marked a response as read")
		}
	})
}

// An editor of one form sees nothing that is for the whole space.
func TestPagesOfGuestEditor(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		a, guest := signedIn(s, ada), signedIn(s, bob)
		form := strings.TrimSuffix(a.Post("/forms", url.Values{"title": {"Survey"}}).Header.Get("Location"), "/build")
		status(t, "a theme", a.Post(form+"/design/themes", url.Values{"brand": {"#b4532a"}, "mood": {"paper"}, "theme": {"Studio"}}), 303)
		status(t, "share", a.Post(form+"/people", url.Values{"email": {bob}, "role": {"editor"}}), 303)
		for path, texts := range map[string][]string{
			form + "/design": {"Studio", "Save theme"}, form + "/share": {`id="people"`}, "/": {"New form", "/duplicate"}, "/templates": {"Use this template"},
		} {
			has(t, a.Get(path), texts...)
		}
		guest.Get(form + "/build") // enters the space
		for path, texts := range map[string][]string{
			form + "/design": {"Studio", "Save theme"}, form + "/share": {`id="people"`}, "/": {"New form", "/duplicate"}, "/templates": {"Use this template"},
		} {
			p := guest.Get(path)
			status(t, path, p, 200)
			lacks(t, p, texts...)
		}
		has(t, guest.Get("/"), "/delete", "/build")
		has(t, guest.Get(form+"/share"), "Save")
		status(t, "a theme", guest.Post(form+"/design/themes", nil), 403)
	})
}

// skipped are actions that would end the test.
func skipped(action string) bool {
	return action == "/signout" || strings.HasSuffix(action, "/leave") || strings.HasSuffix(action, "/switch")
}

func linksOf(p clitest.Page) (list []string) {
	for _, m := range pageLink.FindAllStringSubmatch(p.Text, -1) {
		if link := html.UnescapeString(m[1]); !strings.HasPrefix(link, "/static/") && !strings.HasPrefix(link, "/docs/") {
			list = append(list, link)
		}
	}
	return slices.Compact(list)
}

func actionsOf(p clitest.Page) (list []string) {
	for _, m := range pageAction.FindAllStringSubmatch(p.Text, -1) {
		if !strings.Contains(m[0], `method="get"`) {
			list = append(list, html.UnescapeString(m[2]))
		}
	}
	return list
}

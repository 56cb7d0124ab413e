package web_test

import (
	"net/url"
	"regexp"
	"strings"
	"testing"

	"formulary/internal/cli/clitest"
)

var themePath = regexp.MustCompile(`/design/themes/(thm_[0-9a-z]{26})/apply`)

// One request gives a theme to a hundred forms; the page continues with the rest.
func TestThemeBatches(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		token, id := publishAsAda(t, s, `{"title": "One", "fields": [{"key": "a", "kind": "short_text"}]}`)
		last := ""
		for range 100 {
			last = s.Call("POST", "/api/v1/forms", token, `{"title": "More", "fields": []}`).String("id")
		}
		b := s.Browser()
		b.SignIn(ada)
		base := "/forms/" + id + "/design"
		status(t, "save", b.Post(base+"/themes", url.Values{"mood": {"paper"}, "theme": {"Studio"}}), 303)
		path := base + "/themes/" + themePath.FindStringSubmatch(b.Get(base).Text)[1]
		moodOf := func() any {
			d, _ := s.Call("GET", "/api/v1/forms/"+last, token, "").Body["design"].(map[string]any)
			return d["mood"]
		}
		first := b.Post(path+"/apply", url.Values{"all": {"1"}})
		status(t, "first", first, 303)
		rest := b.Get(first.Header.Get("Location"))
		has(t, rest, "Theme applied to 100 forms so far.", `name="from" value="100"`, `action="`+path+`/apply"`, "Continue with the rest")
		if mood := moodOf(); mood != nil {
			t.Errorf("one request changed all forms: %v", mood)
		}
		second := b.Post(path+"/apply", url.Values{"all": {"1"}, "from": {"100"}})
		status(t, "second", second, 303)
		has(t, b.Get(second.Header.Get("Location")), "Theme applied to the drafts of all forms.", "!so far")
		if mood := moodOf(); mood != "paper" {
			t.Errorf("the last form has the mood %v", mood)
		}
		for _, from := range []string{"-1", "x", "99999999999999999999", "100000"} {
			status(t, from, b.Post(path+"/apply", url.Values{"all": {"1"}, "from": {from}}), 303)
			status(t, from, b.Get(base+"?theme="+themePath.FindStringSubmatch(rest.Text)[1]+"&from="+url.QueryEscape(from)), 200)
		}
	})
}

// A design is saved as a theme and applied to other forms, whose respondents see it after the
// forms are published.
func TestThemes(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		token, id := publishAsAda(t, s, `{"title": "One", "fields": [{"key": "a", "kind": "short_text"}]}`)
		other := publish(t, s, token, `{"title": "Two", "fields": [{"key": "a", "kind": "short_text"}], "design": {"layout": "one_at_a_time", "mood": "night"}}`)
		b := s.Browser()
		b.SignIn(ada)
		base := "/forms/" + id + "/design"
		has(t, b.Get(base), "Save as theme", "!Apply to this form")
		choices := url.Values{"brand": {"#b4532a"}, "mood": {"paper"}, "layout": {"classic"}, "theme": {" "}}
		refused := b.Post(base+"/themes", choices)
		status(t, "no name", refused, 422)
		has(t, refused, "Enter a name.", `name="mood" value="paper" checked`)
		choices.Set("theme", "Studio <1>")
		status(t, "save", b.Post(base+"/themes", choices), 303)
		saved := b.Get(base + "?done=theme")
		has(t, saved, "Theme saved.", "Studio &lt;1&gt;", "In use", `name="mood" value="paper" checked`)
		theme := themePath.FindStringSubmatch(saved.Text)
		if theme == nil {
			t.Fatal(saved.Text)
		}
		path := base + "/themes/" + theme[1]

		designOf := func(form string) string {
			d := s.Call("GET", "/api/v1/forms/"+form, token, "").Body["design"].(map[string]any)
			var parts []string
			for _, name := range []string{"brand", "mood", "layout"} {
				value, _ := d[name].(string)
				parts = append(parts, value)
			}
			return strings.Join(parts, " ")
		}
		status(t, "all", b.Post(path+"/apply", url.Values{"all": {"1"}}), 303)
		if got := designOf(other); got != "#b4532a paper one_at_a_time" {
			t.Errorf("the other form has %s", got)
		}
		has(t, b.Get("/f/"+other), "form-night.css")
		b.Post(base, url.Values{"mood": {"bold"}})
		status(t, "one", b.Post(path+"/apply", nil), 303)
		if got := designOf(id); got != "#b4532a paper classic" {
			t.Errorf("the form has %s", got)
		}

		status(t, "rename", b.Post(path+"/rename", url.Values{"name": {"Kiln"}}), 303)
		has(t, b.Get(base), "Kiln", "!Studio")
		status(t, "no new name", b.Post(path+"/rename", url.Values{"name": {""}}), 422)
		if zip := b.Get("/account/download"); !strings.Contains(zip.Text, "themes.json") {
			t.Error("the account's data has no themes")
		}

		// Somebody else's theme is not there.
		s.AddUser(bob)
		theirs := s.Browser()
		theirs.SignIn(bob)
		form := publish(t, s, s.Token(bob, s.AddApp(bob, "https://y.example/"), "forms:read,forms:write").Access, `{"title": "Three", "fields": [{"key": "a", "kind": "short_text"}]}`)
		for _, action := range []string{"/apply", "/rename", "/delete"} {
			status(t, "of Ada: "+action, theirs.Post("/forms/"+form+"/design/themes/"+theme[1]+action, url.Values{"name": {"x"}}), 404)
		}
		status(t, "all of Ada", theirs.Post("/forms/"+form+"/design/themes/"+theme[1]+"/apply", url.Values{"all": {"1"}}), 404)
		status(t, "delete", b.Post(path+"/delete", nil), 303)
		status(t, "again", b.Post(path+"/delete", nil), 404)
		has(t, b.Get(base), "!Kiln", `name="mood" value="paper" checked`)
	})
}

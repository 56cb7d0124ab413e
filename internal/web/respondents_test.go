package web_test

import (
	"net/url"
	"strings"
	"testing"

	"formulary/internal/cli/clitest"
)

// A notice links to each question with a problem, unless the page has one question.
func TestProblemLinks(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		const fields = `"fields": [{"key": "mail", "kind": "email", "label": "Your email", "required": true}, {"key": "fine", "kind": "short_text", "label": "Fine"},
			{"key": "colors", "kind": "multiple_choice", "label": "Colors", "required": true, "options": [{"label": "Red"}]}]`
		_, id := publishAsAda(t, s, `{"title": "T", `+fields+`}`)
		r := &respondent{t: t, b: s.Browser(), path: "/f/" + id}
		r.page = r.b.Get(r.path)
		r.sees(200, "!problems")
		r.send("next", "fine", "x")
		r.sees(422, `class="problem problems"`, `<li><a href="#mail">Your email</a></li><li><a href="#colors">Colors</a></li></ul>`, `<fieldset class="question" id="colors" aria-describedby="problem-colors" tabindex="-1">`, `id="mail"`)
		r.send("next", "mail", "a@example.org", "colors", "red", "fine", "x")
		r.sees(303)

		single := publish(t, s, s.Token(ada, s.AddApp(ada, "https://y.example/"), "forms:read,forms:write").Access, `{"title": "T", `+fields+`, "design": {"layout": "one_at_a_time"}}`)
		r = &respondent{t: t, b: s.Browser(), path: "/f/" + single}
		r.page = r.b.Get(r.path)
		r.send("continue")
		r.sees(422, "!problems", `id="problem-mail"`)
	})
}

// Owners can show how many places are left, and can have answers forgotten on devices that
// people share.
func TestRespondentSettings(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		token, id := publishAsAda(t, s, `{"title": "T", "fields": [{"key": "a", "kind": "short_text", "label": "A"}]}`)
		b, public, base := s.Browser(), "/f/"+id, "/forms/"+id
		b.SignIn(ada)
		has(t, b.Get(base+"/design"), `name="keep_answers" value="1" checked`, `name="show_places" value="1">`, "you set under Share")
		has(t, b.Get(public), "!Places left", `data-fresh>`)
		has(t, b.Get(public+"/rules"), "Your answers are kept on this device")

		status(t, "design", b.Post(base+"/design", url.Values{"mood": {"paper"}, "settings": {"1"}, "show_places": {"1"}}), 303)
		// Without the boxes, the settings stay.
		status(t, "design", b.Post(base+"/design", url.Values{"mood": {"night"}}), 303)
		settings := s.Call("GET", "/api/v1/forms/"+id, token, "").Body["settings"].(map[string]any)
		if settings["forget_answers"] != true || settings["show_places"] != true {
			t.Errorf("the settings are %v", settings)
		}
		b.Post(base+"/publish", nil)
		has(t, b.Get(public), "!Places left", `data-fresh autocomplete="off">`) // there is no limit
		has(t, b.Get(public+"/rules"), "!kept on this device", "No connection.")

		if limited := s.Call("PATCH", "/api/v1/forms/"+id, token, `{"response_limit": 3}`); limited.StatusCode != 200 {
			t.Fatal(limited.Text)
		}
		has(t, b.Get(base+"/design"), `name="keep_answers" value="1">`, `name="show_places" value="1" checked`, "!you set under Share")
		has(t, b.Get(public), "Places left: 3")
		if sent := s.Call("POST", public, "", `{"answers": {"a": "x"}}`); sent.StatusCode != 201 {
			t.Fatal(sent.Text)
		}
		has(t, b.Get(public), "Places left: 2")
	})
}

// Without scripts, respondents can choose the country of a telephone number.
func TestPhoneCountries(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		token, id := publishAsAda(t, s, `{"title": "T", "language": "de", "fields": [{"key": "tel", "kind": "phone", "label": "Telefon"}, {"key": "b", "kind": "short_text"}]}`)
		r := &respondent{t: t, b: s.Browser(), path: "/f/" + id}
		r.page = r.b.Get(r.path)
		r.sees(200, `<button class="offscreen" name="_action" value="next"`, `value="countries"`, "!Deutschland")
		if enter, list := strings.Index(r.page.Text, `value="next"`), strings.Index(r.page.Text, `value="countries"`); enter > list {
			t.Error("the key Enter shows the list of countries")
		}
		r.send("countries", "b", "kept")
		r.sees(200, `name="tel.country"`, `<option value="DE">Deutschland +49</option>`, `value="kept"`, `!value="countries"`)
		r.send("next", "tel", "x", "tel.country", "DE")
		r.sees(422, `<option value="DE" selected>`)
		r.send("next", "tel", "0228 555 0123", "tel.country", "DE", "b", "kept")
		r.sees(303)
		if got := s.Call("GET", "/api/v1/forms/"+id+"/responses", token, "").Text; !strings.Contains(got, `"+49 228 555 0123"`) {
			t.Errorf("stored: %s", got)
		}
	})
}

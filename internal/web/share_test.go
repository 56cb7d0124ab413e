package web_test

import (
	"net/url"
	"testing"

	"formulary/internal/cli/clitest"
)

// The prefilled link has a control for each question.
func TestPrefill(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		s.AddUser(ada)
		token := s.Token(ada, s.AddApp(ada, "https://x.example/"), "forms:read,forms:write").Access
		id := publish(t, s, token, `{"title": "Trip", "fields": [{"key": "land", "kind": "country", "label": "Where to?"},
			{"key": "loud", "kind": "slider", "label": "How loud?"}, {"key": "km", "kind": "number", "label": "How far?", "step": 5}, {"key": "at", "kind": "datetime", "label": "When, {{km|traveler}} of {{land}}?"}]}`)
		b := s.Browser()
		b.SignIn(ada)
		has(t, b.Get("/forms/"+id+"/share"), `<select name="land"><option value="">–</option>`, `<option value="FR">France</option>`,
			`<input name="loud" type="number" min="0" max="100" step="1">`, `<input name="km" type="number" step="any">`, `When, traveler of …?<input name="at" type="datetime-local">`)
	})
}

// Times are in the time zone of the user; respondents see that of the owner.
func TestTimeZone(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		s.AddUser(ada)
		b := s.Browser()
		b.SignIn(ada)
		status(t, "a zone", b.Post("/account/profile", url.Values{"name": {"Ada"}, "language": {"en"}, "time_zone": {"Asia/Tokyo"}}), 303)
		has(t, b.Get("/account"), `value="Asia/Tokyo"`)
		status(t, "no zone", b.Post("/account/profile", url.Values{"name": {"Ada"}, "language": {"en"}, "time_zone": {"Nowhere/Here"}}), 422)
		id := formPath.FindStringSubmatch(b.Post("/forms", url.Values{"template": {"feedback"}}).Header.Get("Location"))[1]
		b.Post("/forms/"+id+"/publish", nil)
		has(t, b.Post("/forms/"+id+"/share", url.Values{"opens_at": {"0050-01-02T09:00"}, "any_site": {"1"}}), "between 2000 and 9999")
		b.Post("/forms/"+id+"/share", url.Values{"opens_at": {"2050-01-02T09:00"}, "any_site": {"1"}})
		token := s.Token(ada, s.AddApp(ada, "https://x.example/"), "forms:read").Access
		if a := s.Call("GET", "/api/v1/forms/"+id, token, ""); a.String("opens_at") != "2050-01-02T00:00:00.000Z" {
			t.Errorf("nine in Tokyo is %s", a.Text)
		}
		has(t, b.Get("/"), `<span class="tag">Opens 2 January 2050, 09:00</span>`)
		has(t, b.Get("/f/"+id), "This form is not open yet.", `datetime="2050-01-02T00:00:00Z">Opens on 2 January 2050, 09:00 JST<`, "/calendar\"")
	})
}

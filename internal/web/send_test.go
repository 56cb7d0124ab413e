package web_test

import (
	"net/url"
	"strings"
	"testing"

	"formulary/internal/cli/clitest"
)

// The script of a page sends complete responses, each once. For everything else, the browser
// submits the page.
func TestSend(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		token, id := publishAsAda(t, s, shop)
		b := s.Browser()
		key := nonceOf(t, b.Get("/f/shop").Text)
		post := func(page, shown string, values ...string) clitest.Page {
			t.Helper()
			form := url.Values{"_page": {page}, "_shown": {shown}, "_version": {"1"}, "_key": {key}, "_action": {"send"}}
			for i := 0; i < len(values); i += 2 {
				form.Set(values[i], values[i+1])
			}
			return b.Post("/f/shop", form)
		}
		for name, p := range map[string]clitest.Page{
			"a page that is not the last": post("0", "what,name", "what", "tea"),
			"a missing answer":            post("0", "what,name", "name", "Ada"),
			"a problem on another page":   post("2", "price,say", "what", "tea", "cups", "many"),
			"a question not shown yet":    post("0", "name", "what", "nothing"),
		} {
			if p.StatusCode != 204 || p.Text != "" {
				t.Errorf("%s: %d %s", name, p.StatusCode, p.Text)
			}
		}
		first := post("2", "price,say", "what", "tea", "name", "Ada", "cups", "3")
		if first.StatusCode != 200 || !strings.HasPrefix(first.Text, `{"to":"/f/shop/done?`) {
			t.Fatalf("sent: %d %s", first.StatusCode, first.Text)
		}
		if again := post("2", "price,say", "what", "tea", "name", "Ada", "cups", "3"); again.Text != first.Text {
			t.Errorf("sent again: %d %s", again.StatusCode, again.Text)
		}
		if changed := post("2", "price,say", "what", "tea", "name", "Bob", "cups", "3"); changed.StatusCode != 422 {
			t.Errorf("sent with other answers: %d", changed.StatusCode)
		}
		if n := len(s.Call("GET", "/api/v1/forms/"+id+"/responses?after=", token, "").Body["data"].([]any)); n != 1 {
			t.Errorf("%d responses are stored", n)
		}
		used := key
		key = nonceOf(t, b.Get("/f/shop").Text)
		if away := post("0", "what,name", "what", "away", "name", "Ada"); away.Text != `{"to":"https://shop.example/thanks?who=Ada\u0026what=Weg"}` {
			t.Errorf("the ending elsewhere: %d %s", away.StatusCode, away.Text)
		}
		s.Call("POST", "/api/v1/forms/"+id+"/close", token, "")
		key = used
		if again := post("2", "price,say", "what", "tea", "name", "Ada", "cups", "3"); again.Text != first.Text {
			t.Errorf("sent again after the form has closed: %d %s", again.StatusCode, again.Text)
		}
	})
}

// The rules of a form are in its language, and say nothing about questions that respondents
// do not answer.
func TestRules(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		token, id := publishAsAda(t, s, shop)
		b := s.Browser()
		has(t, b.Get("/f/shop/rules"), `{"key":"what","rules":[{"test":"required","value":false,"text":"Beantworten Sie diese Frage."}]}`,
			`{"test":"max_length","value":30,"text":"Geben Sie höchstens 30 Zeichen ein."}`, `"Antworten löschen"`, `!"price"`, `!"say"`)
		// Respondents continue with the version that they started with.
		s.Call("PATCH", "/api/v1/forms/"+id, token, strings.Replace(shop, `"max_length": 30`, `"max_length": 20`, 1))
		s.Call("POST", "/api/v1/forms/"+id+"/publish", token, "")
		has(t, b.Get("/f/shop/rules?version=1"), `"value":30`)
		has(t, b.Get("/f/shop/rules?version=2"), `"value":20`)
		s.Call("POST", "/api/v1/forms/"+id+"/close", token, "")
		for _, path := range []string{"/f/shop/rules", "/f/nowhere/rules"} {
			if p := b.Get(path); p.StatusCode != 404 {
				t.Errorf("%s: %d", path, p.StatusCode)
			}
		}
	})
}

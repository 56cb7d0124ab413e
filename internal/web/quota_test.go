package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"formulary/internal/cli/clitest"
	"formulary/internal/store/storetest"
)

// When an account has used its storage, its owner sees that on the account page,
// respondents get their answers back, and programs get 409004.
func TestStorageLimit(t *testing.T) {
	t.Parallel()
	storetest.EachReused(t, func(t *testing.T, storage storetest.Storage) {
		s := clitest.Start(t, storage, "--storage-limit=40kB", "--form-limit=2")
		s.AddUser("ada@example.com")
		app := s.AddApp("ada@example.com", "http://127.0.0.1:9/cb")
		token := s.Token("ada@example.com", app, "forms:read,forms:write,responses:read,responses:write").Access
		made := s.Call("POST", "/api/v1/forms", token, `{"title": "Notes", "fields": [{"key": "note", "kind": "long_text", "label": "Note"}]}`)
		path := "/api/v1/forms/" + made.String("id")
		if a := s.Call("POST", path+"/publish", token, ""); a.StatusCode != http.StatusCreated {
			t.Fatalf("publish: %s", a.Text)
		}
		note := strings.Repeat("n", 9000)
		body := `{"answers": {"note": "` + note + `"}}`
		for n := 0; ; n++ {
			a := s.Call("POST", path+"/responses", token, body)
			if a.StatusCode == http.StatusCreated && n < 10 {
				continue
			}
			if a.Code() != 409004 || !strings.Contains(a.Text, "40 kB") {
				t.Errorf("response %d: %s", n+1, a.Text)
			}
			if n < 3 || n > 4 {
				t.Errorf("%d responses fit into 40 kB", n)
			}
			break
		}
		b := s.Browser()
		page := b.Get("/f/" + made.String("id"))
		fields := url.Values{"note": {note}, "_action": {"next"}}
		for _, control := range hiddenField.FindAllStringSubmatch(page.Text, -1) {
			fields.Set(control[1], control[2])
		}
		sent := b.Post("/f/"+made.String("id"), fields)
		if sent.StatusCode != http.StatusConflict || !strings.Contains(sent.Text, "can’t accept more responses") || !strings.Contains(sent.Text, note) {
			t.Errorf("the page: %d %.500s", sent.StatusCode, sent.Text)
		}
		if a := s.Call("POST", "/api/v1/forms", token, `{"title": "Second"}`); a.StatusCode != http.StatusCreated {
			t.Errorf("a second form: %s", a.Text)
		}
		if a := s.Call("POST", "/api/v1/forms", token, `{"title": "Third"}`); a.Code() != 409004 {
			t.Errorf("a third form: %s", a.Text)
		}
		b.SignIn("ada@example.com")
		account := b.Get("/account").Text
		for _, want := range []string{"of 40 kB used", "2 of 2 forms"} {
			if !strings.Contains(account, want) {
				t.Errorf("the account page does not say %q", want)
			}
		}
	})
}

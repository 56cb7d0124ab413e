package web_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"formulary/internal/cli/clitest"
)

// upload stores a picture on the design page and returns its ID and width.
func upload(t *testing.T, b *clitest.Browser, form, use string) (string, int) {
	t.Helper()
	p := b.PostBody("/forms/"+form+"/pictures?for="+use, "image/png", strings.NewReader(pngOf(t, 900, 300)))
	status(t, "upload", p, 201)
	var stored struct {
		ID    string
		Width int
	}
	if err := json.Unmarshal([]byte(p.Text), &stored); err != nil {
		t.Fatal(err)
	}
	return stored.ID, stored.Width
}

// Logo and cover are on the page after they are published, and only if they exist.
func TestDesignPictures(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		token, id := publishAsAda(t, s, `{"title": "Kiln & Co", "fields": [{"key": "a", "kind": "short_text"}]}`)
		b := s.Browser()
		b.SignIn(ada)
		base, public := "/forms/"+id, "/f/"+id
		has(t, b.Get(public), "!form-pictures", "!<img")
		logo, width := upload(t, b, id, "logo")
		if width != 512 {
			t.Errorf("the logo is %d pixels wide", width)
		}
		cover, _ := upload(t, b, id, "cover")

		preview := b.Get(base + "/preview?mood=paper&logo=" + logo)
		has(t, preview, `<img class="logo" src="/pictures/`+logo+`" alt="Kiln &amp; Co" width="64" height="64">`, "form-pictures-paper.css", `class="cover" aria-hidden`)
		status(t, "save", b.Post(base+"/design", url.Values{"mood": {"paper"}, "logo": {logo}, "cover": {cover}}), 303)
		has(t, b.Get(base+"/design"), `name="logo" value="`+logo+`"`, `name="cover" value="`+cover+`"`, "logo="+logo)
		has(t, b.Get(public), "!form-pictures")
		b.Post(base+"/publish", nil)
		has(t, b.Get(public), "/pictures/"+logo, `<div class="cover"><img src="/pictures/`+cover+`" alt="" width="1280" height="240"`, "!<svg viewBox")
		has(t, b.Get(public+"?embed=1"), "/pictures/"+logo, "!/pictures/"+cover)

		// A picture that does not exist, or that belongs to somebody else, is not published.
		const unknown = "fil_01kgd4rh5vf69b91fnpw8qc2zt"
		s.AddUser(bob)
		foreign := s.Call("POST", "/api/v1/files", s.Token(bob, s.AddApp(bob, "https://y.example/"), "forms:write").Access, pngOf(t, 20, 20), "Content-Type: image/png").String("id")
		body := `{"fields": [{"key": "p", "kind": "picture_choice", "options": [{"value": "x", "image": "` + cover + `", "alt": "X"}, {"value": "y", "image": "` + unknown + `", "alt": "Y"}]}],
			"design": {"logo": "` + foreign + `", "cover": "` + unknown + `"}}`
		if r := s.Call("PATCH", "/api/v1/forms/"+id, token, body); r.StatusCode != 200 {
			t.Fatal(r.Text)
		}
		refused := s.Call("POST", "/api/v1/forms/"+id+"/publish", token, "")
		if refused.Code() != 422001 {
			t.Fatalf("published: %s", refused.Text)
		}
		for _, part := range []string{`"design.logo"`, `"design.cover"`, `"fields.0.options.1.image"`} {
			if !strings.Contains(refused.Text, part) {
				t.Errorf("%s does not name %s", refused.Text, part)
			}
		}
		if strings.Contains(refused.Text, "options.0") {
			t.Errorf("a picture that exists is refused: %s", refused.Text)
		}
		status(t, "not an ID", b.Post(base+"/design", url.Values{"logo": {"../x"}}), 422)
		status(t, "removed", b.Post(base+"/design", url.Values{"logo": {""}, "cover": {""}}), 303)
		has(t, b.Get(base+"/preview"), "!form-pictures")
	})
}

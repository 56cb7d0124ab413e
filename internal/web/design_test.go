package web_test

import (
	"crypto/sha256"
	"encoding/base64"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"formulary/internal/cli/clitest"
)

var inlineStyle = regexp.MustCompile(`<style>(.*?)</style>`)

// wantStyle checks that the page has one inline style, that the policy allows it, and that
// it contains a text.
func wantStyle(t *testing.T, p clitest.Page, part string) {
	t.Helper()
	found := inlineStyle.FindAllStringSubmatch(p.Text, -1)
	if len(found) != 1 {
		t.Fatalf("%d inline styles in %s", len(found), p.Text)
	}
	sum := sha256.Sum256([]byte(found[0][1]))
	hash := "style-src 'self' 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "';"
	if policy := p.Header.Get("Content-Security-Policy"); !strings.Contains(policy, hash) {
		t.Errorf("the policy %s does not have %s", policy, hash)
	}
	if !strings.Contains(found[0][1], part) {
		t.Errorf("the style %s does not have %s", found[0][1], part)
	}
}

// Owners choose a design on its page. Respondents see it after the form is published.
func TestDesign(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		s.AddUser(ada)
		token := s.Token(ada, s.AddApp(ada, "https://x.example/"), "forms:read,forms:write").Access
		id := publish(t, s, token, `{"title": "Party", "description": "", "language": "en", "fields": [{"kind": "email", "label": "Email", "required": true}]}`)
		b := s.Browser()
		b.SignIn(ada)
		base, public := "/forms/"+id, "/f/"+id

		wantStyle(t, b.Get(public), "--fill:#1f6b57;")
		has(t, b.Get(public), "form-plain.css", "!data-width", "!class=\"cover\"")
		has(t, b.Get(base+"/design"), `value="#1f6b57"`, `name="mood" value="plain" checked`, `name="width" value="mood" checked`)

		// A query shows choices without saving them.
		tried := b.Get(base + "/design?brand=%23b4532a&mood=paper")
		has(t, tried, `value="#b4532a"`, `name="mood" value="paper" checked`, "/preview?align=mood&amp;background=mood&amp;brand=%23b4532a")
		wantStyle(t, tried, ".mini-night{--ground:")
		wantStyle(t, b.Get(base+"/preview?brand=%23b4532a&mood=bold"), "--ground:light-dark(#b4532a,")
		onBrand := b.Get(base + "/preview?brand=%23b4532a&mood=paper&background=brand")
		has(t, onBrand, `data-background="brand"`, "!class=\"cover\"")
		wantStyle(t, onBrand, "--ground:light-dark(#b4532a,")
		preview := b.Get(base + "/preview?brand=%23b4532a&mood=paper&width=wide")
		has(t, preview, "form-paper.css", `data-width="wide"`, `class="cover"`)
		wantStyle(t, preview, "--fill:#b4532a;")
		has(t, b.Get(base+"/preview?mood=gothic&brand=red"), "form-plain.css")
		has(t, b.Get(base+"/preview"), "form-plain.css")

		choices := url.Values{"brand": {"#B4532A"}, "mood": {"bold"}, "background": {"tint"}, "buttons": {"round"}, "width": {"mood"}, "align": {"centre"}}
		status(t, "save", b.Post(base+"/design", choices), 303)
		has(t, b.Get(base+"/design?done=saved"), "Design saved.", `value="#b4532a"`, `name="mood" value="bold" checked`, `name="buttons" value="round" checked`)
		has(t, b.Get(public), "form-plain.css")
		b.Post(base+"/publish", nil)
		live := b.Get(public)
		has(t, live, "form-bold.css", `data-buttons="round"`, `data-align="centre"`, `data-background="tint"`, "form-background-bold.css", "!data-width")
		wantStyle(t, live, "--ground:light-dark(#ffe9e1,")
		wantStyle(t, b.Get(public+"/done"), "--fill:#b4532a;")

		refused := b.Post(base+"/design", url.Values{"brand": {"red"}, "mood": {"gothic"}, "background": {"stripes"}})
		status(t, "invalid", refused, 422)
		has(t, refused, "Enter a color such as #b4532a.", "Must be one of plain, paper", "Must be one of mood, neutral, tint, brand", `value="#b4532a"`)
		// Saving in the builder keeps the design.
		revision := s.Call("GET", "/api/v1/forms/"+id, token, "").Header.Get("ETag")
		status(t, "builder", b.Put(base+"/draft", strings.Trim(revision, `"`), `{"title": "Party", "language": "en", "fields": [{"kind": "email", "label": "Your email"}], "endings": [], "settings": {}}`), 200)
		saved := s.Call("GET", "/api/v1/forms/"+id, token, "").Body["design"].(map[string]any)
		if saved["mood"] != "bold" || saved["brand"] != "#b4532a" {
			t.Errorf("the design is %v", saved)
		}

		b.Post(base+"/close", nil)
		closed := b.Get(public)
		status(t, "closed", closed, 409)
		wantStyle(t, closed, "--fill:#b4532a;")
	})
}

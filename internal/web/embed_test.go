package web_test

import (
	"encoding/json"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"formulary/internal/cli/clitest"
)

// Sites that the owner named follow a redirect with answers; any site follows one without.
func TestEmbeddedRedirect(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		token, id := publishAsAda(t, s, `{"title": "T", "fields": [{"key": "a", "kind": "short_text"}], "endings": [{"redirect": "https://shop.example/?a={{a}}"}]}`)
		ending := func(id string) clitest.Page {
			r := &respondent{t: t, b: s.Browser(), path: "/f/" + id + "?embed=1"}
			r.page = r.b.Get(r.path)
			r.send("next", "a", "x")
			r.sees(303)
			return r.b.Get(r.page.Header.Get("Location"))
		}
		has(t, ending(id), `href="https://shop.example/?a=x" target="_top">`, "!data-redirect")
		s.Call("PATCH", "/api/v1/forms/"+id, token, `{"sites": ["https://a.example"]}`)
		has(t, ending(id), `href="https://shop.example/?a=x" target="_top" data-redirect>`)
		fixed := publish(t, s, token, `{"title": "T", "fields": [{"key": "a", "kind": "short_text"}], "endings": [{"redirect": "https://shop.example/"}]}`)
		has(t, ending(fixed), `href="https://shop.example/" target="_top" data-redirect>`)
	})
}

func TestEmbedding(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		token, id := publishAsAda(t, s, `{"title": "T <b>", "fields": [{"key": "a", "kind": "short_text"}]}`)
		b := s.Browser()
		framed := func() (string, string) {
			p := b.Get("/f/" + id + "?embed=1")
			status(t, "embedded", p, 200)
			_, policy, _ := strings.Cut(p.Header.Get("Content-Security-Policy"), "frame-ancestors ")
			return policy, p.Header.Get("X-Frame-Options")
		}
		if policy, deny := framed(); policy != "*" || deny != "" {
			t.Errorf("by default: %s %s", policy, deny)
		}
		s.Call("PATCH", "/api/v1/forms/"+id, token, `{"sites": ["https://a.example", "https://b.example"]}`)
		if policy, deny := framed(); policy != "'self' https://a.example https://b.example" || deny != "" {
			t.Errorf("as chosen: %s %s", policy, deny)
		}
		r := &respondent{t: t, b: b, path: "/f/" + id + "?embed=1"}
		r.page = b.Get(r.path)
		r.sees(200, `class="public embedded"`, `action="/f/`+id+`?embed=1"`, "form.js")
		r.send("next", "a", "x")
		r.sees(303)
		if done := b.Get(r.page.Header.Get("Location")); !strings.Contains(done.Text, `class="public embedded"`) || done.Header.Get("X-Frame-Options") != "" {
			t.Errorf("%s", done.Text)
		}
		link := regexp.MustCompile(`json\+oembed" href="([^"]+)"`).FindStringSubmatch(b.Get("/f/" + id).Text)
		if link == nil {
			t.Fatal("no oEmbed link")
		}
		p := b.Get(strings.TrimPrefix(strings.ReplaceAll(link[1], "&amp;", "&"), s.URL) + "&maxwidth=300")
		var answer map[string]any
		if err := json.Unmarshal([]byte(p.Text), &answer); err != nil {
			t.Fatalf("%v %s", err, p.Text)
		}
		equal(t, "oEmbed", answer, map[string]any{"type": "rich", "version": "1.0", "width": 300.0, "title": "T <b>"})
		for _, part := range []string{`src="` + s.URL + "/f/" + id + `?embed=1"`, "T &lt;b&gt;"} {
			if frame := answer["html"].(string); !strings.Contains(frame, part) {
				t.Errorf("%s lacks %s", frame, part)
			}
		}
		status(t, "XML", b.Get("/oembed?format=xml&url="+url.QueryEscape(s.URL+"/f/"+id)), 501)
		status(t, "elsewhere", b.Get("/oembed?url=https://elsewhere.example/f/"+id), 404)
		s.Call("PATCH", "/api/v1/forms/"+id, token, `{"sites": []}`)
		if policy, deny := framed(); policy != "'self'" || deny != "SAMEORIGIN" {
			t.Errorf("none: %s %s", policy, deny)
		}
		script := b.Get("/embed.js")
		if script.StatusCode != 200 || !strings.Contains(script.Header.Get("Content-Type"), "javascript") || !strings.Contains(script.Text, "iframe") {
			t.Errorf("%v", script.Header)
		}
	})
}

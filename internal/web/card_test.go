package web_test

import (
	"image"
	_ "image/jpeg"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"formulary/internal/cli/clitest"
)

var cardPath = regexp.MustCompile(`<meta property="og:image" content="http[^"]*?(/f/[^"]+)">`)

// Public pages describe themselves where their link is shared.
func TestShareCard(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		token, id := publishAsAda(t, s, `{"title": "Kiln & \"Co\"", "description": "`+strings.Repeat(`Two slow\ndays. `, 20)+`", "fields": [{"key": "a", "kind": "short_text"}]}`)
		b := s.Browser()
		public := "/f/" + id
		page := b.Get(public)
		text := strings.Repeat("Two slow days. ", 13) + "Two…"
		has(t, page, `<meta name="description" property="og:description" content="`+text+`">`, `<meta property="og:title" content="Kiln &amp; &#34;Co&#34;">`, `<meta property="og:url" content="`+s.URL+public+`">`, `<meta property="og:image:width" content="1200">`, `<meta property="og:image:height" content="630">`, `content="summary_large_image"`)
		has(t, b.Get(public+"?embed=1"), "!og:title")
		link := cardPath.FindStringSubmatch(page.Text)
		if link == nil {
			t.Fatalf("no picture in %s", page.Text)
		}
		wantCard := func(format string) string {
			t.Helper()
			p := b.Get(link[1])
			status(t, "card", p, 200)
			config, got, err := image.DecodeConfig(strings.NewReader(p.Text))
			if err != nil || got != format || config.Width != 1200 || config.Height != 630 {
				t.Errorf("%s %v %v", got, config, err)
			}
			return p.Header.Get("ETag")
		}
		tag := wantCard("png")
		r, _ := http.NewRequest("GET", s.URL+public+"/card", nil)
		r.Header.Set("If-None-Match", tag)
		if again := s.Do(r); again.StatusCode != 304 || again.Text != "" {
			t.Errorf("the same card: %d", again.StatusCode)
		}

		// The card follows the live version, and a cover replaces the drawing.
		b.SignIn(ada)
		cover, _ := upload(t, b, id, "cover")
		s.Call("PATCH", "/api/v1/forms/"+id, token, `{"title": "Other", "description": "", "design": {"cover": "`+cover+`"}}`)
		if got := wantCard("png"); got != tag {
			t.Error("the card of the live version changed with the draft")
		}
		has(t, b.Get("/forms/"+id+"/share"), "Kiln &amp; ", "drawn from the title")
		b.Post("/forms/"+id+"/publish", nil)
		if got := wantCard("jpeg"); got == tag {
			t.Error("the card did not change")
		}
		has(t, b.Get(public), `<meta name="description" property="og:description" content="Fill in this form: Other">`)
		has(t, b.Get("/forms/"+id+"/share"), "The picture is the cover", `src="/f/`+id+`/card"`)
		status(t, "no form", b.Get("/f/frm_01k9z8m7q3e4r5t6y7v8w9x0a1/card"), 404)
	})
}

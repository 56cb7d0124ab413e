package web_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"formulary/internal/cli/clitest"
)

// Each button of a form counts towards a limit, and so do updates of its calculations and
// first pages that differ between respondents.
func TestActionsAreLimited(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		_, id := publishAsAda(t, s, `{"title": "Sum", "fields": [{"key": "n", "kind": "number"}, {"key": "sum", "kind": "calculated", "label": "Sum", "expression": "n * 2"},
			{"key": "p", "kind": "page_break"}, {"key": "m", "kind": "number"}]}`)
		b, path := s.Browser(), "/f/"+id
		for i := range 10 { // five for each of the two submissions
			press := []string{"look", "next", "back"}[i%3]
			if p := b.Post(path, url.Values{"_action": {press}, "n": {"4"}, "_shown": {"n,sum"}, "_page": {"0"}}); p.StatusCode != 200 {
				t.Fatalf("%s, number %d: %d %s", press, i, p.StatusCode, p.Text)
			}
		}
		for _, press := range []string{"look", "next", "back", "send"} {
			p := b.Post(path, url.Values{"_action": {press}, "n": {"4"}})
			status(t, press, p, 429)
			if p.Header.Get("Retry-After") == "" {
				t.Errorf("%s: no Retry-After", press)
			}
		}
		status(t, "a link with answers", b.Get(path+"?n=4"), 429)
		status(t, "the same page for all", b.Get(path), 200)
	}, "--rate-per-respondent=2")
}

// Inserted answers make a page, an ending and a redirect of bounded size.
func TestPipesAreBounded(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		var fields []string
		for i := range 200 {
			fields = append(fields, fmt.Sprintf(`{"key": "f%d", "kind": "short_text", "label": "%s", "help": "{{s}}"}`, i, strings.Repeat("{{s}}", 100)))
		}
		_, id := publishAsAda(t, s, `{"title": "Pipes", "fields": [{"key": "s", "kind": "long_text"}, {"key": "go", "kind": "yes_no"}, {"key": "p", "kind": "page_break", "label": "{{s}}"},`+strings.Join(fields, ",")+`],
			"endings": [{"key": "off", "redirect": "https://x.example/?`+strings.Repeat("{{s}}", 300)+`", "show_if": {"field": "go", "op": "equals", "value": true}},
				{"key": "end", "title": "{{s}}", "text": "`+strings.Repeat("{{s}}", 3000)+`"}]}`)
		long := strings.Repeat("<", 20_000)
		for answer, most := range map[string]int{"true": 16 << 10, "false": 2 << 20} {
			r := &respondent{t: t, b: s.Browser(), path: "/f/" + id}
			r.page = r.b.Get(r.path)
			r.send("next", "s", long, "go", answer)
			r.sees(200, "…")
			if size := len(r.page.Text); size > 4<<20 {
				t.Errorf("a page of %d bytes", size)
			}
			r.send("next")
			r.sees(303)
			to := r.page.Header.Get("Location")
			if len(to) > most {
				t.Errorf("a redirect of %d bytes", len(to))
			}
			if answer == "false" {
				done := r.b.Get(to)
				status(t, "the ending", done, 200)
				if has(t, done, "…"); len(done.Text) > most {
					t.Errorf("an ending of %d bytes", len(done.Text))
				}
			}
		}
	})
}

// Hosts that would extend the Content Security Policy cannot be saved.
func TestRedirectHostsAreStrict(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		token, id := publishAsAda(t, s, `{"title": "X", "fields": [{"key": "a", "kind": "email"}], "endings": [{"redirect": "https://shop.example:8443/thanks?{{a}}"}]}`)
		if got := s.Browser().Get("/f/" + id).Header.Get("Content-Security-Policy"); !strings.Contains(got, "form-action 'self' https://shop.example:8443;") {
			t.Errorf("the policy is %s", got)
		}
		for _, host := range []string{"x.example;script-src-elem", "x.example;script-src-elem *;", "x.example,y", "x'y.example", "müller.example"} {
			for field, body := range map[string]string{
				"endings.0.redirect": `{"title": "X", "fields": [], "endings": [{"redirect": "https://` + host + `/"}]}`,
				"sites":              `{"title": "X", "fields": [], "sites": ["https://` + host + `"]}`,
			} {
				if a := s.Call("POST", "/api/v1/forms", token, body); a.Code() != 422001 || !strings.Contains(a.Text, field) {
					t.Errorf("%s: %s", body, a.Text)
				}
			}
		}
	})
}

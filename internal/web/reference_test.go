package web_test

import (
	"encoding/json"
	"html"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"formulary/internal/cli/clitest"
	"formulary/internal/store/storetest"
)

var (
	codeOfError = regexp.MustCompile(`\b\d{6}\b`)
	heading     = regexp.MustCompile(`<h2 id="([^"]+)"`)
	toHeading   = regexp.MustCompile(`href="#([^"]+)"`)
	loaded      = regexp.MustCompile(`(?:src|href)="(/static/[^"]+\.(?:css|js)[^"]*)"`)
)

// weight is the size of a page and all files that it loads.
func weight(t *testing.T, b *clitest.Browser, p clitest.Page) int {
	t.Helper()
	sum := len(p.Text)
	for _, m := range loaded.FindAllStringSubmatch(p.Text, -1) {
		part := b.Get(html.UnescapeString(m[1]))
		status(t, m[1], part, 200)
		sum += len(part.Text)
	}
	return sum
}

// Each operation of the document is in the overview and has a complete page.
func TestReference(t *testing.T) {
	t.Parallel()
	s := clitest.Start(t, storetest.MigratedSQLite(t))
	b := s.Browser()
	var doc struct {
		Paths map[string]map[string]struct {
			ID         string                `json:"operationId"`
			Summary    string                `json:"summary"`
			Security   []map[string][]string `json:"security"`
			Parameters []struct{ Name string }
			Responses  map[string]struct{ Description string }
		}
		Components struct {
			Schemas map[string]struct {
				Properties map[string]json.RawMessage
			}
		}
	}
	if err := json.Unmarshal([]byte(b.Get("/api/v1/openapi.json").Text), &doc); err != nil {
		t.Fatal(err)
	}
	overview := b.Get("/docs/api")
	status(t, "overview", overview, 200)
	if sum := weight(t, b, overview); sum >= 100_000 {
		t.Errorf("the overview weighs %d bytes", sum)
	}
	operations, heaviest := 0, 0
	for path, methods := range doc.Paths {
		for method, op := range methods {
			operations++
			if !strings.Contains(overview.Text, `href="/docs/api/`+op.ID+`"`) || !strings.Contains(overview.Text, "<code>"+path+"</code>") {
				t.Errorf("the overview lacks %s", op.ID)
			}
			p := b.Get("/docs/api/" + op.ID)
			status(t, op.ID, p, 200)
			heaviest = max(heaviest, weight(t, b, p))
			words := html.UnescapeString(p.Text)
			wants := []string{strings.ToUpper(method), "<code>" + path + "</code>", op.Summary, `curl `, s.URL}
			for _, p := range op.Parameters {
				wants = append(wants, "<code>"+p.Name+"</code>")
			}
			for status, answer := range op.Responses {
				if status < "400" {
					wants = append(wants, `<span class="tag">`+status+"</span>")
				}
				for _, code := range codeOfError.FindAllString(answer.Description, -1) {
					wants = append(wants, `<tr><th scope="row"><code>`+code+"</code></th><td>")
					if strings.Contains(words, "<code>"+code+"</code></th><td></td>") {
						t.Errorf("%s has no explanation", code)
					}
				}
			}
			switch {
			case op.Security == nil:
				wants = append(wants, "No authentication required.")
			case len(op.Security[0]["oauth2"]) == 0:
				wants = append(wants, "with any scope")
			default:
				wants = append(wants, "Requires scope <code>"+op.Security[0]["oauth2"][0]+"</code>")
			}
			for _, want := range wants {
				if !strings.Contains(words, want) {
					t.Errorf("the page of %s lacks %q", op.ID, want)
				}
			}
			var places []string
			for _, m := range heading.FindAllStringSubmatch(p.Text, -1) {
				if slices.Contains(places, m[1]) {
					t.Errorf("%s has %s twice", op.ID, m[1])
				}
				places = append(places, m[1])
				for name := range doc.Components.Schemas[m[1]].Properties {
					if !strings.Contains(p.Text, "<code>"+name+"</code>") {
						t.Errorf("the page of %s lacks %s of %s", op.ID, name, m[1])
					}
				}
			}
			for _, m := range toHeading.FindAllStringSubmatch(p.Text, -1) {
				if m[1] != "main" && !slices.Contains(places, m[1]) {
					t.Errorf("%s refers to %s, which is not there", op.ID, m[1])
				}
			}
		}
	}
	if operations < 20 {
		t.Errorf("the document has only %d operations", operations)
	}
	if t.Logf("the heaviest operation: %d bytes", heaviest); heaviest >= 100_000 {
		t.Errorf("an operation has %d bytes", heaviest)
	}
	status(t, "no such operation", b.Get("/docs/api/nonsense"), 404)
}

// The command in the reference works as it is, once the token is set.
func TestReferenceExample(t *testing.T) {
	t.Parallel()
	s := clitest.Start(t, storetest.MigratedSQLite(t))
	s.AddUser(ada)
	app := s.AddApp(ada, "https://app.example/cb")
	token := s.Token(ada, app, "forms:write").Access
	p := s.Browser().Get("/docs/api/createForm")
	_, body, ok := strings.Cut(html.UnescapeString(p.Text), "-d '")
	body, _, ended := strings.Cut(body, "'</pre>")
	if !ok || !ended {
		t.Fatalf("there is no call to copy:\n%s", p.Text)
	}
	if got := s.Call("POST", "/api/v1/forms", token, body); got.StatusCode != 201 {
		t.Errorf("the example answers %d: %s\n%s", got.StatusCode, got.Text, body)
	}
}

// The reference is translated, except for texts of the document.
func TestReferenceInGerman(t *testing.T) {
	t.Parallel()
	s := clitest.Start(t, storetest.MigratedSQLite(t))
	s.AddUser(ada)
	b := s.Browser()
	b.SignIn(ada)
	status(t, "language", b.Post("/account/profile", url.Values{"name": {"Ada"}, "language": {"de"}, "time_zone": {"UTC"}}), 303)
	p := b.Get("/docs/api/listForms")
	for _, want := range []string{`<html lang="de"`, `<h1 lang="en">List forms</h1>`, "Erfordert den Scope", "bis zu 200 Zeichen", "1 bis 200", "Das Access-Token ist abgelaufen"} {
		if !strings.Contains(p.Text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

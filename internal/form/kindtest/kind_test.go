// Package kindtest adds a question type as a developer would, with one Go file and one
// template, and tests it everywhere. It is a separate package because a registered kind
// affects the whole test binary.
package kindtest

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"formulary/internal/cli/clitest"
	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/store/storetest"
)

// color is a color such as #1a2b3c.
type color struct{}

var colorPattern = regexp.MustCompile(`^#[0-9a-f]{6}$`)

func (color) Name() string { return "color" }
func (color) Info() form.KindInfo {
	return form.KindInfo{Title: "Color", Description: "A color to pick", Group: "Choices", Icon: "picture", Synonyms: "paint"}
}
func (color) Properties() []string                                          { return nil }
func (color) Check(*form.Field, func(property, format string, args ...any)) {}
func (color) ParseForm(f *form.Field, in url.Values) any {
	if text := in.Get(f.Key); text != "" {
		return text
	}
	return nil
}

func (color) Validate(_ *form.Field, value any) (any, error) {
	if text, ok := value.(string); ok && colorPattern.MatchString(text) {
		return text, nil
	}
	return nil, fault.Messagef("this is not a color, such as %s", "#1a2b3c")
}

func (color) Schema(*form.Field) map[string]any {
	return map[string]any{"type": "string", "pattern": colorPattern.String()}
}

func (color) Traits() form.Traits {
	return form.Traits{Summary: form.CountOptions, Input: "color", Example: func(*form.Field, form.Sampler) any { return "#1a2b3c" }}
}

// templates contains the control of the kind.
var templates = fstest.MapFS{"templates/kinds/color.html": {Data: []byte(
	`{{define "kind-color"}}<input type="color" value="{{.Text}}" id="{{.Key}}" name="{{.Key}}"{{if .Required}} required{{end}}>{{end}}`)}}

func TestMain(m *testing.M) {
	form.Register(color{})
	os.Exit(m.Run())
}

const owner = "ada@example.com"

func TestNewKind(t *testing.T) {
	storetest.EachReused(t, func(t *testing.T, storage storetest.Storage) {
		s := clitest.StartWithKinds(t, storage, templates)
		s.AddUser(owner)
		token := s.Token(owner, s.AddApp(owner, "https://app.example/cb"), "forms:read,forms:write,responses:read,responses:write").Access
		made := s.Call("POST", "/api/v1/forms", token, `{"title": "Paint", "fields": [{"kind": "color", "key": "wall", "label": "Which color?", "required": true}]}`)
		if made.StatusCode != http.StatusCreated {
			t.Fatalf("create: %s", made.Text)
		}
		id := made.String("id")
		api := "/api/v1/forms/" + id
		if p := s.Call("POST", api+"/publish", token, ""); p.StatusCode != http.StatusCreated {
			t.Fatalf("publish: %s", p.Text)
		}

		// Respondents submit it as a form post and as JSON.
		b := s.Browser()
		b.SignIn(owner)
		page := b.Get("/f/" + id)
		contains(t, "the public page", page.Text, `<label class="ask" for="wall">`, `<input type="color" value="" id="wall" name="wall" required>`)
		once := regexp.MustCompile(`name="_key" value="([^"]+)"`).FindStringSubmatch(page.Text)
		if once == nil {
			t.Fatalf("no nonce on the page:\n%s", page.Text)
		}
		answer := url.Values{"_page": {"0"}, "_shown": {"wall"}, "_version": {"1"}, "_key": {once[1]}, "_action": {"next"}}
		answer.Set("wall", "red")
		contains(t, "a wrong answer", b.Post("/f/"+id, answer).Text, "This is not a color, such as #1a2b3c.")
		answer.Set("wall", "#ff0000")
		if p := b.Post("/f/"+id, answer); p.StatusCode != http.StatusSeeOther {
			t.Errorf("a right answer: %d\n%s", p.StatusCode, p.Text)
		}
		if p := s.Call("POST", "/f/"+id, "", `{"answers": {"wall": "red"}}`); p.Code() != int(fault.Invalid) {
			t.Errorf("a wrong answer as JSON: %s", p.Text)
		}
		for _, value := range []string{"#00ff00", "#00ff00"} {
			if p := s.Call("POST", "/f/"+id, "", fmt.Sprintf(`{"answers": {"wall": %q}}`, value)); p.StatusCode != http.StatusCreated {
				t.Errorf("a right answer as JSON: %s", p.Text)
			}
		}

		// Owners and applications can see it.
		contains(t, "the builder", b.Get("/forms/"+id+"/build").Text, `"name":"color"`, `"title":"Color"`)
		contains(t, "the list of types", b.Get("/static/builder-kinds.js").Text, `"description":"A color to pick"`, `"synonyms":"paint"`)
		contains(t, "the document", s.Call("GET", "/api/v1/openapi.json", "", "").Text, `"color"`)
		contains(t, "the schema", s.Call("GET", api+"/schema", token, "").Text, `"pattern":"^#[0-9a-f]{6}$"`)
		contains(t, "the export", s.Call("GET", api+"/responses/export?format=csv", token, "").Text, "Which color?", "#ff0000")
		filtered := s.Call("GET", api+"/responses?answers[wall]=%2300ff00", token, "")
		if strings.Count(filtered.Text, `"#00ff00"`) != 2 || strings.Contains(filtered.Text, "#ff0000") {
			t.Errorf("filtered: %s", filtered.Text)
		}
		list := b.Get("/forms/" + id + "/responses?field=wall&op=is&value=%23ff0000").Text
		if !strings.Contains(list, `<span class="answer-text">#ff0000`) || strings.Contains(list, "#00ff00") {
			t.Errorf("the list: %s", list)
		}
		contains(t, "the summary", s.Call("GET", api+"/summary", token, "").Text, `"value":"#00ff00"`, `"count":2`)
		contains(t, "the page of the summary", b.Get("/forms/"+id+"/summary").Text, "Color", "#00ff00")
		contains(t, "the page to share", b.Get("/forms/"+id+"/share").Text, `type="color"`)
	})
}

func contains(t *testing.T, name, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%s lacks %s:\n%s", name, part, text)
		}
	}
}

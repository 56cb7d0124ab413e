package e2e

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"formulary/internal/form"
	"formulary/internal/theme"
)

const vnu = "../.cache/vnu/node_modules/vnu-jar/build/dist/vnu.jar"

var shownKeys = regexp.MustCompile(`name="_shown" value="([^"]*)"`)

var (
	spacePath      = regexp.MustCompile(`^/spaces/spc_\w{26}`)
	invitationPath = regexp.MustCompile(`/invitation\?token=[\w-]+`)
)

// TestValidHTML: the W3C's checker finds no errors in public pages and in the workspace.
func TestValidHTML(t *testing.T) {
	t.Parallel()
	s := start(t)
	d := openOwnerDB(t, s)
	folder := t.TempDir()
	save := func(name, html string) {
		t.Helper()
		file := strings.NewReplacer("/", "-", " ", "-", "?", "-", "&", "-", "%", "-").Replace(name) + ".html"
		if err := os.WriteFile(filepath.Join(folder, file), []byte(html), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	visitor, owner := s.Browser(), s.Browser()
	owner.SignIn(ada)

	definition := strings.Replace(everyKind, `{"fields": [`, `{"fields": [{"kind": "file", "label": "File"}, {"kind": "signature", "label": "Sign"}, {"kind": "calculated", "label": "Twice", "expression": "2 * 2"},
		{"kind": "picture_choice", "label": "Picture", "options": [{"label": "X", "image": "`+addPicture(t, s)+`", "alt": "X"}]},`, 1)
	path := d.publish(form.FormInput{Header: form.Header{Title: "Everything", Language: "en"}, Availability: form.Availability{Sites: form.AnySite}, Definition: parseDefinition(t, definition)})
	first := visitor.Get(path).Text
	save("every kind", first)
	problems := visitor.Post(path, url.Values{"_page": {"0"}, "_shown": {shownKeys.FindStringSubmatch(first)[1]}, "_action": {"next"}, "mail": {"x"}, "phone": {"x"}, "day.day": {"99"}})
	if problems.StatusCode != 422 {
		t.Fatalf("status %d", problems.StatusCode)
	}
	save("problems", problems.Text)
	save("ending", visitor.Get(path+"/done").Text)
	for i, mood := range theme.Moods() {
		for _, layout := range []string{form.Classic, form.OneAtATime} {
			definition := fmt.Sprintf(`%s, "design": {"brand": "#b4532a", "mood": %q, "layout": %q, "background": %q}}`, strings.TrimSuffix(tenQuestions, "}"), mood, layout, theme.Backgrounds()[i%4])
			path := publishForm(t, s, form.Header{Title: "Summer party", Description: "Friday to Monday."}, definition)
			save(string(mood)+" "+layout, visitor.Get(path).Text)
			if layout == form.OneAtATime {
				second := visitor.Post(path, url.Values{"_page": {"0"}, "_shown": {""}, "_action": {"continue"}})
				if second.StatusCode != 200 || !strings.Contains(second.Text, "What is your name?") {
					t.Errorf("%s: status %d", mood, second.StatusCode)
				}
				save(string(mood)+" question", second.Text)
			}
		}
	}
	soon := form.Availability{OpensAt: time.Now().Add(time.Hour)}
	save("not yet open", visitor.Get(d.publish(form.FormInput{Header: form.Header{Title: "Soon"}, Availability: soon, Definition: parseDefinition(t, tenQuestions)})).Text)
	over := publishForm(t, s, form.Header{Title: "Over"}, tenQuestions)
	owner.Post(strings.Replace(over, "/f/", "/forms/", 1)+"/close", nil)
	closed := visitor.Get(over)
	if !strings.Contains(closed.Text, "no longer accepts responses") {
		t.Error("the form is not closed")
	}
	save("closed", closed.Text)
	formPath := strings.Replace(path, "/f/", "/forms/", 1)
	response := d.addResponse(path, map[string]any{"nick": "Ada", "stars": 4.0}, time.Now())
	view := owner.Post(formPath+"/responses/views", url.Values{"name": {"Good"}, "kept": {"where=stars:at_least:3&status=new&days=7&since=2026-01-01"}}).Header.Get("Location")
	for _, address := range []string{
		"/", "/account", "/applications", "/tokens", "/connections", "/spaces", "/templates", "/templates/contact", formPath + "/build", formPath + "/design", formPath + "/share", formPath + "/connect", formPath + "/connect/notify",
		formPath + "/responses", view, formPath + "/responses?search=nothing", formPath + "/responses/" + response, formPath + "/summary", formPath + "/flow", formPath + "/versions?version=1",
	} {
		page := owner.Get(address)
		if page.StatusCode != 200 {
			t.Errorf("%s: status %d", address, page.StatusCode)
		}
		save("workspace "+strings.Replace(address, formPath, "form", 1), page.Text)
	}
	space := spacePath.FindString(owner.Post("/spaces", url.Values{"name": {"Team"}}).Header.Get("Location"))
	invited := owner.Post(space+"/invitations", url.Values{"role": {"viewer"}, "link": {"1"}}).Text
	save("invited", invited)
	for _, address := range []string{space, space + "/audit", invitationPath.FindString(invited)} {
		save("space "+strings.Replace(address, space, "", 1), owner.Get(address).Text)
	}
	save("signin", visitor.Get("/signin").Text)

	files, err := filepath.Glob(filepath.Join(folder, "*.html"))
	if err != nil {
		t.Fatal(err)
	}
	// It fails if it finds errors.
	out, _ := exec.Command("java", append([]string{"-Xss8m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-jar", vnu, "--stdout", "--format", "json", "--errors-only"}, files...)...).CombinedOutput()
	var report struct {
		Messages []struct{ URL, Message, Extract string } `json:"messages"`
	}
	if err := json.Unmarshal(out, &report); err != nil {
		t.Fatalf("%v: %s", errTools, out)
	}
	for _, m := range report.Messages {
		t.Errorf("%s: %s\n%s", filepath.Base(m.URL), m.Message, m.Extract)
	}
}

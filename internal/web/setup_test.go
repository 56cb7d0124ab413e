package web_test

import (
	"html"
	"net/url"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"formulary/internal/cli/clitest"
	"formulary/internal/store/storetest"
)

const (
	ada = "ada@example.com"
	bob = "bob@example.com"
)

func each(t *testing.T, test func(t *testing.T, s *clitest.Service), flags ...string) {
	t.Helper()
	t.Parallel()
	storetest.EachReused(t, func(t *testing.T, storage storetest.Storage) { test(t, clitest.Start(t, storage, flags...)) })
}

// status checks the status of a page.
func status(t *testing.T, name string, p clitest.Page, want int) {
	t.Helper()
	if p.StatusCode != want {
		t.Errorf("%s: %d, want %d (%s)\n%s", name, p.StatusCode, want, p.Header.Get("Location"), p.Text)
	}
}

// problem checks that a page came back with a problem beside a control.
func problem(t *testing.T, name string, p clitest.Page) {
	t.Helper()
	status(t, name, p, 422)
	if !strings.Contains(p.Text, `class="problem"`) {
		t.Errorf("%s: no problem is shown", name)
	}
}

// has checks that a page contains texts, or with ! in front that it does not.
func has(t *testing.T, p clitest.Page, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if not, ok := strings.CutPrefix(text, "!"); ok == strings.Contains(p.Text, strings.TrimPrefix(text, "!")) {
			t.Errorf("the page has or lacks %q (%v)\n%s", not, ok, p.Text)
		}
	}
}

// equal compares several values of one result.
func equal(t *testing.T, name string, got, want map[string]any) {
	t.Helper()
	for key, value := range want {
		if !reflect.DeepEqual(got[key], value) {
			t.Errorf("%s: %s is %v, want %v", name, key, got[key], value)
		}
	}
}

func publish(t *testing.T, s *clitest.Service, token, body string) string {
	t.Helper()
	made := s.Call("POST", "/api/v1/forms", token, body)
	if p := s.Call("POST", "/api/v1/forms/"+made.String("id")+"/publish", token, ""); p.StatusCode != 201 {
		t.Fatalf("publish: %s %s", made.Text, p.Text)
	}
	return made.String("id")
}

// publishAsAda adds a user, an application and a published form.
func publishAsAda(t *testing.T, s *clitest.Service, body string) (token, id string) {
	t.Helper()
	s.AddUser(ada)
	token = s.Token(ada, s.AddApp(ada, "https://x.example/"), "forms:read,forms:write,responses:read,responses:write").Access
	return token, publish(t, s, token, body)
}

var formPath = regexp.MustCompile(`^/forms/(frm_[a-z0-9]{26})/build$`)

// respondent is a browser with a page of a form.
type respondent struct {
	t    *testing.T
	b    *clitest.Browser
	path string
	page clitest.Page
}

var hiddenField = regexp.MustCompile(`<input type="hidden" name="([^"]+)" value="([^"]*)">`)

// send clicks a button with the hidden controls of the page and the given values.
func (r *respondent) send(press string, fill ...string) {
	r.t.Helper()
	fields := url.Values{"_action": {press}}
	for _, m := range hiddenField.FindAllStringSubmatch(r.page.Text, -1) {
		fields.Add(html.UnescapeString(m[1]), html.UnescapeString(m[2]))
	}
	for i := 0; i < len(fill); i += 2 {
		fields.Add(fill[i], fill[i+1])
	}
	r.page = r.b.Post(r.path, fields)
}

func (r *respondent) sees(status int, words ...string) {
	r.t.Helper()
	if r.page.StatusCode != status {
		r.t.Fatalf("status %d, want %d\n%s", r.page.StatusCode, status, r.page.Text)
	}
	for _, w := range words {
		if not, ok := strings.CutPrefix(w, "!"); ok == strings.Contains(r.page.Text, strings.TrimPrefix(w, "!")) {
			r.t.Errorf("the page has or lacks %q (%v)\n%s", not, ok, r.page.Text)
		}
	}
}

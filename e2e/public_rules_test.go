package e2e

import (
	"encoding/json"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"formulary/internal/form"
)

// TestRulesInBrowser: the browser finds the problems in the cases of the server, and refuses
// no answer that the server accepts. Each question gets the answers of all others, too.
func TestRulesInBrowser(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../internal/form/testdata/rules.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Field                         json.RawMessage
		Accepted, Refused, ServerOnly []string
	}
	if err := json.Unmarshal([]byte(strings.ReplaceAll(strings.ReplaceAll(string(text), "server_only", "serverOnly"), "1001*x", strings.Repeat("x", 1001))), &cases); err != nil {
		t.Fatal(err)
	}
	var posts []string
	for _, c := range cases {
		posts = append(append(append(posts, c.Accepted...), c.Refused...), c.ServerOnly...)
	}
	type rule struct {
		Test  string `json:"test"`
		Value any    `json:"value"`
	}
	var rules [][]rule
	byServer := make([]map[string]bool, len(cases)) // whether a post is refused; posts that fit the controls
	for i, c := range cases {
		d := parseDefinition(t, `{"fields": [{"key": "q", "label": "Q", `+strings.TrimPrefix(string(c.Field), "{")+`]}`)
		in := form.FormInput{Header: form.Header{Title: "Rules"}, Definition: d}
		if err := in.Normalize(); err != nil {
			t.Fatalf("%s: %v", c.Field, err)
		}
		list := []rule{}
		for _, r := range d.Fields[0].Rules() {
			list = append(list, rule{r.Test, r.Value})
		}
		rules = append(rules, list)
		byServer[i] = map[string]bool{}
		for _, post := range posts {
			values, err := url.ParseQuery(post)
			if err != nil {
				t.Fatal(err)
			}
			if d.Fields[0].Traits().Decimal { // as the page does
				values.Set("q", form.NormalizeNumber(values.Get("q"), "."))
			}
			isOneText := len(values) <= 1 && len(values["q"]) == len(values)
			isOwn := slices.Contains(slices.Concat(c.Accepted, c.Refused, c.ServerOnly), post)
			if !isOwn && (!isOneText || d.Fields[0].HasPartControls()) {
				continue
			}
			byServer[i][post] = len(d.Evaluate(d.ParseForm(values)).Problems) > 0
		}
	}

	s := start(t)
	b := openTab(t, s.URL)
	b.wantStatus(b.open(publishForm(t, s, form.Header{Title: "Party"}, wardrobeForm)), 200)
	encode := func(value any) string {
		out, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	byBrowser := run(b, chromedp.Evaluate[[][]bool](`import("/static/form-check.js").then(({ firstProblem }) =>
		`+encode(rules)+`.map((rules) => `+encode(posts)+`.map((post) => firstProblem({ key: "q", rules }, new URLSearchParams(post)) !== undefined)))`, chromedp.EvalAwaitPromise))
	for i, c := range cases {
		refused := map[string]bool{}
		for j, post := range posts {
			isRefused, fits := byServer[i][post]
			if refused[post] = byBrowser[i][j]; refused[post] && fits && !isRefused {
				t.Errorf("%s: only the browser refuses %q", c.Field, post)
			}
		}
		for _, post := range c.Refused {
			if !refused[post] {
				t.Errorf("%s: the browser accepts %q", c.Field, post)
			}
		}
	}
}

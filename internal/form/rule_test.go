package form

import (
	"encoding/json"
	"net/url"
	"os"
	"strings"
	"testing"
)

// ruleCase has posts of one question, whose key is q. Browsers must accept what the server
// accepts, and refuse what is refused; some answers only the server refuses. n*x is the
// letter n times.
type ruleCase struct {
	Field      json.RawMessage
	Accepted   []string
	Refused    []string
	ServerOnly []string `json:"server_only"`
}

// TestRuleCases checks the server with the cases that the browser test uses as well.
func TestRuleCases(t *testing.T) {
	text, err := os.ReadFile("testdata/rules.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []ruleCase
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		d := define(t, `{"fields": [{"key": "q", `+strings.TrimPrefix(string(c.Field), "{")+`]}`)
		problem := func(post string) string {
			values, err := url.ParseQuery(strings.Replace(post, "1001*x", strings.Repeat("x", 1001), 1))
			if err != nil {
				t.Fatal(err)
			}
			if d.Fields[0].Traits().Decimal { // as the page does
				values.Set("q", NormalizeNumber(values.Get("q"), "."))
			}
			if problems := d.Evaluate(d.ParseForm(values)).Problems; len(problems) > 0 {
				return problems[0].Message
			}
			return ""
		}
		for _, post := range c.Accepted {
			if got := problem(post); got != "" {
				t.Errorf("%s: %q is refused: %s", c.Field, post, got)
			}
		}
		for _, post := range append(c.Refused, c.ServerOnly...) {
			if problem(post) == "" {
				t.Errorf("%s: %q is accepted", c.Field, post)
			}
		}
	}
}

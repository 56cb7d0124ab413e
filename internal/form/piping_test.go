package form

import (
	"net/url"
	"strings"
	"testing"
)

// A missing answer without a fallback leaves no punctuation behind.
func TestMissingAnswers(t *testing.T) {
	d := define(t, `{"fields": [{"key": "name", "kind": "short_text"}, {"key": "town", "kind": "short_text"}]}`)
	answers := map[string]string{"town": ""}
	format := func(_ *Field, key string) string { return answers[key] }
	for text, want := range map[string]string{
		"You are booked, {{name}}":             "You are booked",
		"You are booked, {{name}}!":            "You are booked!",
		"You are booked, {{name}}.\nSee you":   "You are booked.\nSee you",
		"You are booked – {{name}}":            "You are booked",
		"Réservé, {{name}} !":                  "Réservé !",
		"Hi {{name}}, welcome":                 "Hi, welcome",
		"Hello {{name}} and welcome":           "Hello and welcome",
		"Hello, {{name}}, and welcome":         "Hello, and welcome",
		"{{name}}, which workshop?":            "Which workshop?",
		"One\n{{name}}, which workshop?":       "One\nwhich workshop?",
		"Your address ({{name}})":              "Your address",
		"Your address ({{name}}).":             "Your address.",
		"Is “{{name}}” right?":                 "Is right?",
		"Thanks **{{name}}**!":                 "Thanks!",
		"Thanks (**{{name}}**), see you":       "Thanks, see you",
		"{{name}} {{town}}":                    "",
		"From {{name}} {{town}}.":              "From.",
		"In {{name}}, {{town}}.":               "In.",
		"For: {{name}}":                        "For:",
		"{{name}}: your order":                 ": your order",
		"Well-known {{name}}-style":            "Well-known-style",
		"مرحبا، {{name}}":                      "مرحبا",
		"ようこそ、{{name}}。":                       "ようこそ。",
		"- {{name}}\n- more":                   "\n- more",
		"{{name|}}{{name}}.":                   ".",
		"No answers, at all  !":                "No answers, at all  !",
		strings.Repeat("({{name}}) ", 3) + "x": "X",
		"[{{name}}](https://example.com/)":     "[](https://example.com/)",
	} {
		if got := d.Interpolate(text, format); got != want {
			t.Errorf("%q reads %q, want %q", text, got, want)
		}
	}
	answers["name"] = "Ada"
	for text, want := range map[string]string{"Booked, {{name}}!": "Booked, Ada!", "{{name}}, from {{town}}": "Ada, from", "({{name}}) {{town}}, hi": "(Ada), hi"} {
		if got := d.Interpolate(text, format); got != want {
			t.Errorf("%q reads %q, want %q", text, got, want)
		}
	}
	delete(answers, "name")
	if got := d.InterpolateURL("https://example.com/?a={{name}}, &b={{town}}", format); got != "https://example.com/?a=, &b=" {
		t.Errorf("the address is %s", got)
	}
}

// {{key|text}} inserts the text if there is no answer.
func TestPipeFallback(t *testing.T) {
	d := define(t, `{"fields": [{"key": "name", "kind": "short_text"}, {"key": "day", "kind": "date"}, {"kind": "statement", "text": "Hi {{name|friend}}"}],
		"endings": [{"title": "You are booked, {{name|friend}}", "redirect": "https://example.com/?who={{name|no body}}"}]}`)
	format := func(answers map[string]any) func(f *Field, key string) string {
		return func(f *Field, key string) string {
			return f.FormatAnswer(answers[key], func(text string) string { return text })
		}
	}
	ada := map[string]any{"name": "Ada & Co"}
	for _, c := range []struct {
		text    string
		answers map[string]any
		want    string
	}{
		{"Booked, {{name|friend}}.", nil, "Booked, friend."},
		{"Booked, {{name|friend}}.", ada, "Booked, Ada & Co."},
		{"Booked, {{ name | dear friend }}.", nil, "Booked, dear friend."},
		{"On {{day|a day | or two}}", nil, "On a day | or two"},
		{"{{name|}}{{name}}.", nil, "."},
		{"{{name|a}b}} {{name|{{day|x}}}}", nil, "{{name|a}b}} {{name|x}}"},
		{"{{name|a\nb}}", nil, "{{name|a\nb}}"},
		{"{{name|" + strings.Repeat("x", maxFallback) + "}}", nil, strings.Repeat("x", maxFallback)},
		{"{{name|" + strings.Repeat("x", maxFallback+1) + "}}", ada, "{{name|" + strings.Repeat("x", maxFallback+1) + "}}"},
		{"{{name|", ada, "{{name|"},
	} {
		if got := d.Interpolate(c.text, format(c.answers)); got != c.want {
			t.Errorf("%q with %v: %q", c.text, c.answers, got)
		}
	}
	for _, c := range []struct {
		answers map[string]any
		want    string
	}{{nil, "no body"}, {ada, "Ada & Co"}} {
		if got, want := d.InterpolateURL(d.Endings[0].Redirect, format(c.answers)), "https://example.com/?who="+url.QueryEscape(c.want); got != want {
			t.Errorf("the address is %s, want %s", got, want)
		}
	}
	quoted := d.NewInterpolator(format(nil)).Text("{{name|*x*}}", func(text string) string { return "<" + text + ">" })
	if quoted != "<*x*>" {
		t.Errorf("quoted: %s", quoted)
	}
	var other Definition
	other.Fields = []*Field{{Kind: "statement", Text: "{{nobody|x}}"}}
	if err := other.Normalize(); err == nil {
		t.Error("an unknown key with a fallback is accepted")
	}
}

package form

import (
	"slices"
	"strings"
	"testing"

	"formulary/internal/fault"
)

// TestAdvice: each kind of advice is given where it applies, and nowhere else.
func TestAdvice(t *testing.T) {
	const yesNo = `{"key": "q", "kind": "yes_no", "label": "Q", "required": true}`
	for _, c := range []struct{ name, definition, want string }{
		{"nothing", `{"fields": [` + yesNo + `, {"key": "p", "kind": "statement", "text": "{{q}}"}], "endings": [{"key": "e", "title": "E"}]}`, ""},
		{"no label", `{"fields": [{"key": "a", "kind": "email"}, {"key": "b", "kind": "hidden"}, {"key": "c", "kind": "consent", "text": "I agree"}]}`, "fields.0.label"},
		{"a page that is always skipped", `{"fields": [{"key": "a", "kind": "email", "label": "A", "jumps": [{"to": "p2"}]}, {"key": "p1", "kind": "page_break"}, {"key": "b", "kind": "email", "label": "B", "required": true},
			{"key": "p2", "kind": "page_break"}, {"key": "c", "kind": "email", "label": "C"}]}`, "fields.1.label"},
		{"a required question that is skipped", `{"fields": [` + yesNo[:len(yesNo)-1] + `, "jumps": [{"if": {"field": "q", "op": "equals", "value": true}, "to": "p2"}]}, {"key": "p1", "kind": "page_break"},
			{"key": "b", "kind": "email", "label": "B", "required": true}, {"key": "p2", "kind": "page_break"}, {"key": "c", "kind": "email", "label": "C {{b}} {{q}}"}]}`, "fields.2.required fields.4.label"},
		{"an ending after one without condition", `{"fields": [` + yesNo + `], "endings": [{"key": "e"}, {"key": "f", "show_if": {"field": "q", "op": "equals", "value": true}}]}`, "endings.1.title"},
		{"an ending that a jump leads to", `{"fields": [` + yesNo[:len(yesNo)-1] + `, "jumps": [{"if": {"field": "q", "op": "equals", "value": true}, "to": "f"}]}], "endings": [{"key": "e"}, {"key": "f"}]}`, ""},
		{"everybody jumps to an ending", `{"fields": [` + yesNo[:len(yesNo)-1] + `, "jumps": [{"to": "f"}]}], "endings": [{"key": "e"}, {"key": "f"}]}`, "endings.0.title"},
		{"an option that does not exist", `{"fields": [{"key": "a", "kind": "single_choice", "label": "A", "options": [{"label": "X"}]}, {"key": "b", "kind": "email", "label": "B",
			"show_if": {"field": "a", "op": "equals", "value": "y"}}]}`, "fields.1.show_if"},
		{"a contradiction", `{"fields": [` + yesNo + `, {"key": "b", "kind": "email", "label": "B", "show_if": {"all": [{"field": "q", "op": "equals", "value": true}, {"field": "q", "op": "equals", "value": false}]}}]}`, "fields.1.show_if"},
		{"a number out of range", `{"fields": [{"key": "a", "kind": "number", "label": "A", "max": 5}, {"key": "b", "kind": "email", "label": "B", "show_if": {"any": [{"field": "a", "op": "greater", "value": 5}]}},
			{"key": "c", "kind": "email", "label": "C", "show_if": {"any": [{"field": "a", "op": "greater", "value": 5}, {"field": "a", "op": "at_least", "value": 5}]}}]}`, "fields.1.show_if"},
		{"an answer without fallback", `{"fields": [{"key": "a", "kind": "short_text", "label": "A"}, {"key": "b", "kind": "email", "label": "Hello {{a}}", "help": "{{a|you}}"}], "endings": [{"key": "e", "title": "{{a}} {{a}}"}]}`,
			"fields.1.label endings.0.title"},
		{"the same label twice", `{"fields": [{"key": "a", "kind": "dropdown", "label": "A", "options": [{"label": "X"}, {"label": "x", "value": "y"}]}]}`, "fields.0.options.1.label"},
	} {
		d := parse(t, c.definition)
		if err := d.Normalize(); err != nil {
			t.Fatal(c.name, fault.Wrap(err).Details)
		}
		var got []string
		for _, detail := range d.Advice() {
			got = append(got, detail.Field)
		}
		slices.Sort(got)
		want := strings.Fields(c.want)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", c.name, d.Advice(), want)
		}
	}
}

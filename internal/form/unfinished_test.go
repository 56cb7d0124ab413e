package form

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"formulary/internal/fault"
)

func parse(t *testing.T, text string) *Definition {
	t.Helper()
	var d Definition
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		t.Fatal(err)
	}
	return &d
}

// A mistake in one question keeps the rest of the draft: the question stays as it was, and
// what the owner wrote is kept beside it.
func TestAcceptKeepsWhatIsValid(t *testing.T) {
	before := parse(t, `{"fields": [{"id": "fa", "key": "a", "kind": "number"}, {"id": "fb", "key": "b", "kind": "short_text", "label": "Old"}]}`)
	for _, c := range []struct{ name, edited, stored, problems string }{
		{"valid", `{"fields": [{"id": "fa", "key": "a", "kind": "number", "label": "New"}]}`, "a:New", ""},
		{"a mistake in one", `{"fields": [{"id": "fa", "key": "a", "kind": "number", "label": "New"}, {"id": "fb", "key": "b", "kind": "short_text", "label": "New", "min_length": -1}]}`,
			"a:New b:Old", "fields.1.min_length"},
		{"a new one with a mistake", `{"fields": [{"id": "fc", "key": "c", "kind": "calculated", "expression": "a +"}, {"id": "fb", "key": "b", "kind": "short_text"}]}`, "b:", "fields.0.expression"},
		{"unnamed options", `{"fields": [{"id": "fc", "key": "c", "kind": "single_choice", "options": [{"label": "Yes"}, {"label": " "}]}]}`, "c: 1", "fields.0.options.1.label"},
		{"only unnamed options", `{"fields": [{"id": "fc", "key": "c", "kind": "dropdown", "options": [{"label": ""}, {"label": ""}]}]}`, "", "fields.0.options.0.label fields.0.options.1.label"},
		{"references to what is left out", `{"fields": [{"id": "fc", "key": "c", "kind": "dropdown"}, {"id": "fa", "key": "a", "kind": "number", "label": "New", "show_if": {"field": "c", "op": "answered"}}]}`,
			"a:", "fields.0.options"},
		{"a taken key", `{"fields": [{"id": "fa", "key": "b", "kind": "number", "label": "New"}, {"id": "fb", "key": "b", "kind": "short_text", "label": "New"}]}`, "b:New", "fields.1.key"},
		{"an unknown type", `{"fields": [{"id": "fb", "key": "b", "kind": "nonsense"}]}`, "b:Old", "fields.0.kind"},
		{"an ending", `{"fields": [], "endings": [{"key": "e", "redirect": "x"}, {"key": "f"}]}`, "/f", "endings.0.redirect"},
	} {
		edited := parse(t, c.edited)
		written, _ := json.Marshal(edited.Fields)
		stored, details, err := Accept(edited, parse(t, encode(t, before)))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var members, problems []string
		for _, f := range stored.Fields {
			text := f.Key + ":" + f.Label
			if f.Options != nil {
				text += fmt.Sprint(" ", len(f.Options))
			}
			members = append(members, text)
		}
		for _, e := range stored.Endings {
			members = append(members, "/"+e.Key)
		}
		for _, d := range details {
			problems = append(problems, d.Field)
		}
		if got := strings.Join(members, " "); got != c.stored {
			t.Errorf("%s: stored %q, want %q", c.name, got, c.stored)
		}
		if got := strings.Join(problems, " "); got != c.problems {
			t.Errorf("%s: problems %q, want %q", c.name, got, c.problems)
		}
		if (stored.Unfinished != nil) != (c.problems != "") || (stored.CheckPublish() != nil) != (c.problems != "") {
			t.Errorf("%s: unfinished %v, publishing %v", c.name, stored.Unfinished, stored.CheckPublish())
		}
		if u := stored.Unfinished; u != nil {
			kept, _ := json.Marshal(u.Fields)
			if len(u.Fields) != len(edited.Fields) || len(kept) < len(written)/2 {
				t.Errorf("%s: lost %s", c.name, kept)
			}
			stored.Unfinished = nil
		}
		if err := stored.Normalize(); err != nil {
			t.Errorf("%s: the stored definition is not valid: %v", c.name, err)
		}
	}
}

func encode(t *testing.T, d *Definition) string {
	t.Helper()
	text, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// What is too large or malformed is not stored, even as a draft, and the work of repairing
// a draft is bounded.
func TestAcceptIsBounded(t *testing.T) {
	before := parse(t, `{"fields": [{"id": "fa", "key": "a", "kind": "number"}]}`)
	for name, d := range map[string]*Definition{
		"nil field":  {Fields: []*Field{nil}},
		"nil ending": {Endings: []*Ending{nil}},
		"too many":   {Fields: make([]*Field, MaxFields+1)},
		"too long":   {Fields: []*Field{{Kind: "statement", Text: strings.Repeat("x", MaxDefinition)}}},
		"design":     {Design: Design{Mood: "nonsense"}},
	} {
		if _, _, err := Accept(d, before); fault.Wrap(err).Code != fault.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Each formula depends on the one before, so that leaving out one breaks the next.
	chain := &Definition{Fields: []*Field{{ID: "f0", Key: "k0", Kind: "calculated", Expression: "nonsense"}}}
	for i := 1; i < 200; i++ {
		chain.Fields = append(chain.Fields, &Field{ID: fmt.Sprint("f", i), Key: fmt.Sprint("k", i), Kind: "calculated", Expression: fmt.Sprint("k", i-1, " + 1")})
	}
	stored, details, err := Accept(chain, before)
	if err != nil || len(details) == 0 || len(stored.Unfinished.Fields) != 200 {
		t.Fatal(err, len(details))
	}
	stored.Unfinished = nil
	if err := stored.Normalize(); err != nil {
		t.Error(err)
	}
}

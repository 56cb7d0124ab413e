package outbox

import (
	"fmt"
	"strings"
	"testing"

	"formulary/internal/form"
	"formulary/internal/locale"
	"formulary/internal/mail"
)

// The heading of a notification is what an owner knows the respondent by.
func TestRespondent(t *testing.T) {
	languages, err := locale.Load()
	if err != nil {
		t.Fatal(err)
	}
	w, err := mail.NewWriter(languages)
	if err != nil {
		t.Fatal(err)
	}
	size := &form.Field{Key: "size", Kind: "single_choice", Label: "Size", Options: []form.Option{{Value: "s", Label: "Small"}}}
	text := &form.Field{Key: "text", Kind: "long_text", Label: "Text"}
	line := &form.Field{Key: "line", Kind: "short_text", Label: "Team"}
	day := &form.Field{Key: "day", Kind: "date", Label: "Day"}
	email := &form.Field{Key: "email", Kind: "email", Label: "Email"}
	name := &form.Field{Key: "name", Kind: "name", Label: "Name"}
	answers := map[string]any{
		"size": "s", "text": "Long", "line": "Blue\r\nteam", "day": "2026-05-31", "email": "mara@example.net", "name": map[string]any{"given": "Mara", "family": "Lindqvist"},
	}
	for _, c := range []struct {
		fields []*form.Field
		want   string
	}{
		{[]*form.Field{size, email, line, name}, "Mara Lindqvist"},
		{[]*form.Field{line, email, size}, "Blue team"},
		{[]*form.Field{size, line, email}, "mara@example.net"},
		{[]*form.Field{size, line}, ""},
		{[]*form.Field{text}, ""},
		{[]*form.Field{day}, ""},
	} {
		d := &form.Definition{Fields: c.fields}
		if err := d.Normalize(); err != nil {
			t.Fatal(err)
		}
		e := entry{definition: d, answers: answers}
		got, question := e.respondent(w.Texts("en"))
		if got != c.want {
			t.Errorf("%s first: %q, want %q", c.fields[0].Kind, got, c.want)
		}
		if list, _ := e.list(w.Texts("en"), question); strings.Contains(fmt.Sprint(list), "Lindqvist") {
			t.Errorf("the name is in the heading and in the list: %v", list)
		}
	}
	d := &form.Definition{Fields: []*form.Field{line}}
	if err := d.Normalize(); err != nil {
		t.Fatal(err)
	}
	long := entry{definition: d, answers: map[string]any{"line": strings.Repeat("x", 500)}}
	if got, _ := long.respondent(w.Texts("en")); len(got) > maxRespondent+len("…") {
		t.Errorf("a heading of %d bytes", len(got))
	}
}

package outbox

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"formulary/internal/form"
	"formulary/internal/locale"
	"formulary/internal/mail"
	"formulary/internal/store"
)

// Whatever respondents answer and owners insert, a mail stays small enough for every server.
func TestMailSize(t *testing.T) {
	languages, err := locale.Load()
	if err != nil {
		t.Fatal(err)
	}
	w, err := mail.NewWriter(languages)
	if err != nil {
		t.Fatal(err)
	}
	d := &form.Definition{}
	answers := map[string]any{}
	for i := range 200 {
		key := fmt.Sprintf("q%d", i)
		d.Fields = append(d.Fields, &form.Field{Key: key, Kind: "long_text", Label: "Question {{q0}}"})
		answers[key] = strings.Repeat("<é&*", 2000)
	}
	s := New(Config{Writer: w, Now: time.Now, Store: &store.Store{}})
	f := &source{form: form.Form{Title: "Order"}}
	e := entry{definition: d, answers: answers}
	for name, write := range map[string]func() (mail.Message, error){
		"notification": func() (mail.Message, error) { return s.notification(f, e, nil) },
		"digest": func() (mail.Message, error) {
			return s.digestOf(f, digestData{}, slices.Repeat([]entry{e}, digestResponses), nil)
		},
		"receipt": func() (mail.Message, error) {
			return s.receipt(f, store.Receipt{Subject: strings.Repeat("{{q1}}", 30), Text: strings.Repeat("{{q1}} ", MaxReceiptText/7), Answers: true}, e)
		},
	} {
		m, err := write()
		if err != nil {
			t.Fatal(err)
		}
		if n := len(m.Text) + len(m.HTML); n > 1<<20 || len(m.Subject) > 4*MaxReceiptSubject {
			t.Errorf("a %s of %d bytes, with a subject of %d", name, n, len(m.Subject))
		}
	}
}

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

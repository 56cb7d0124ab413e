package form_test

import (
	"strings"
	"testing"

	"formulary/internal/fault"
	"formulary/internal/form"
)

// If the answers are too long in total, the error names the longest one.
func TestAnswersTooLong(t *testing.T) {
	d := &form.Definition{Fields: []*form.Field{{Key: "a", Kind: "long_text"}, {Key: "b", Kind: "long_text"}}}
	for _, c := range []struct {
		a, b int
		want string
	}{{100, 100, ""}, {form.MaxAnswers / 2, form.MaxAnswers/2 - 100, ""}, {form.MaxAnswers / 2, form.MaxAnswers/2 + 1, "b"}, {form.MaxAnswers, 0, "a"}} {
		answers := map[string]any{"a": strings.Repeat("x", c.a), "b": strings.Repeat("y", c.b)}
		text, err := d.Encode(answers)
		if err != nil {
			t.Fatal(err)
		}
		err = d.CheckSize(text, answers)
		field := ""
		if err != nil {
			e := fault.Wrap(err)
			if e.Code != fault.Invalid {
				t.Fatal(err)
			}
			field = e.Details[0].Field
		}
		if field != c.want {
			t.Errorf("%d and %d bytes: %v, want an error for %q", c.a, c.b, err, c.want)
		}
	}
}

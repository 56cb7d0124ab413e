package public

import (
	"fmt"
	"testing"

	"formulary/internal/form"
)

// Many values of a control are looked up in a set.
func TestSelectedValues(t *testing.T) {
	q := &question{Field: &form.Field{Key: "k"}, values: map[string][]string{"k": {"a", "b"}, "k.r": {}}}
	for i := range 100 {
		q.values["k.r"] = append(q.values["k.r"], fmt.Sprint(i))
	}
	if !q.Chosen("b") || q.Chosen("c") || q.selected != nil {
		t.Error("a few values")
	}
	if !q.ChosenIn("r", "99") || q.ChosenIn("r", "100") || len(q.selected["k.r"]) != 100 {
		t.Error("many values")
	}
}

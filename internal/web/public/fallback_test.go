package public

import (
	"fmt"
	"strings"
	"testing"

	"formulary/internal/form"
	"formulary/internal/store"
)

// Forms that are kept for a database outage are limited in bytes.
func TestFallbackIsBounded(t *testing.T) {
	definition := func() *form.Definition {
		d := &form.Definition{}
		for i := range 100 {
			d.Fields = append(d.Fields, &form.Field{Key: fmt.Sprintf("f%d", i), Kind: "statement", Text: strings.Repeat("x", 10_000)})
		}
		return d
	}
	var known fallbackForms
	for i := range 100 {
		known.put(fmt.Sprint(i), store.PublicForm{Definition: definition()})
	}
	var size int64
	for _, entry := range known.forms {
		size += entry.form.Definition.Size()
	}
	if size > maxFallbackForms || len(known.forms) < 10 {
		t.Errorf("%d forms of %d bytes are kept", len(known.forms), size)
	}
	if _, ok := known.get("99"); !ok {
		t.Error("the last form is not kept")
	}
	for range 10 { // replacing a form needs no more space
		known.put("99", store.PublicForm{Definition: definition()})
	}
	if known.size > maxFallbackForms || known.size < size/2 {
		t.Errorf("counted as %d bytes", known.size)
	}
	huge := definition()
	for range 20 {
		huge.Fields = append(huge.Fields, definition().Fields...)
	}
	if known.put("huge", store.PublicForm{Definition: huge}); known.size > maxFallbackForms {
		t.Errorf("%d bytes with a huge form", known.size)
	}
	if _, ok := known.get("huge"); ok {
		t.Error("one form replaces all others")
	}
}

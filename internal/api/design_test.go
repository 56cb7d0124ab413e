package api_test

import (
	"strings"
	"testing"
)

// The design is a part of the draft: it is published with a version, and changing
// questions keeps it.
func TestDesign(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		path := w.openForm(w.ada, order)
		wantDesign := func(what, address, brand, mood string) {
			t.Helper()
			design, _ := w.Call("GET", address, w.ada, "").Body["design"].(map[string]any)
			if got, _ := design["brand"].(string); got != brand {
				t.Errorf("%s: brand is %q, want %q", what, got, brand)
			}
			if got, _ := design["mood"].(string); got != mood {
				t.Errorf("%s: mood is %q, want %q", what, got, mood)
			}
		}
		wantDesign("without a design", path, "", "")
		w.expectCode("set", w.Call("PATCH", path, w.ada, `{"design": {"brand": "#B4532A", "mood": "paper"}}`), 0)
		wantDesign("draft", path, "#b4532a", "paper")
		wantDesign("version 1", path+"/versions/1", "", "")
		w.expectCode("publish", w.Call("POST", path+"/publish", w.ada, ""), 0)
		wantDesign("version 2", path+"/versions/2", "#b4532a", "paper")
		w.expectCode("new questions", w.Call("PATCH", path, w.ada, `{"fields": [{"kind": "email", "label": "Email"}]}`), 0)
		wantDesign("with new questions", path, "#b4532a", "paper")
		w.expectCode("replace", w.Call("PATCH", path, w.ada, `{"design": {"mood": "night"}}`), 0)
		wantDesign("replaced", path, "", "night")
		for body, field := range map[string]string{
			`{"mood": "gothic"}`: "design.mood", `{"brand": "red"}`: "design.brand", `{"layout": "grid"}`: "design.layout", `{"logo": "x"}`: "design.logo",
		} {
			refused := w.Call("PATCH", path, w.ada, `{"design": `+body+`}`)
			w.expectCode(body, refused, 422001)
			if !strings.Contains(refused.Text, `"field":"`+field+`"`) {
				t.Errorf("%s is refused without naming %s: %s", body, field, refused.Text)
			}
		}
		w.expectCode("an unknown part", w.Call("PATCH", path, w.ada, `{"design": {"font": "x"}}`), 400002)
		created := w.Call("POST", "/api/v1/forms", w.ada, `{"title": "New", "description": "", "language": "en", "fields": [], "design": {"mood": "typed"}}`)
		w.expectCode("create", created, 0)
		wantDesign("created", "/api/v1/forms/"+created.String("id"), "", "typed")
	})
}

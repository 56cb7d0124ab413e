package api_test

import (
	"fmt"
	"strings"
	"testing"
)

func TestThemes(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		const all = "/api/v1/themes"
		body := `{"name": " Studio ", "design": {"brand": "#B4532A", "mood": "paper"}}`
		made := w.Call("POST", all, w.ada, body, "Idempotency-Key: k1")
		w.expectCode("create", made, 0)
		if made.StatusCode != 201 || !strings.HasPrefix(made.String("id"), "thm_") || made.String("name") != "Studio" || fmt.Sprint(made.Body["design"]) != "map[brand:#b4532a mood:paper]" ||
			!strings.HasSuffix(made.Header.Get("Location"), all+"/"+made.String("id")) {
			t.Errorf("created: %s %v", made.Text, made.Header)
		}
		if again := w.Call("POST", all, w.ada, body, "Idempotency-Key: k1"); again.StatusCode != 201 || again.String("id") != made.String("id") {
			t.Errorf("repeated: %d %s", again.StatusCode, again.Text)
		}
		w.expectCode("another body", w.Call("POST", all, w.ada, `{"name": "X", "design": {}}`, "Idempotency-Key: k1"), 409002)
		one := all + "/" + made.String("id")
		if read := w.Call("GET", one, w.ada, ""); read.String("name") != "Studio" {
			t.Errorf("read: %s", read.Text)
		}
		w.expectCode("no id", w.Call("GET", all+"/x", w.ada, ""), 404002)
		renamed := w.Call("PATCH", one, w.ada, `{"name": "Kiln"}`)
		if renamed.String("name") != "Kiln" || !strings.Contains(renamed.Text, `"mood":"paper"`) || renamed.String("updated_at") <= made.String("updated_at") {
			t.Errorf("renamed: %s", renamed.Text)
		}
		if changed := w.Call("PATCH", one, w.ada, `{"design": {"mood": "bold"}}`); changed.String("name") != "Kiln" || fmt.Sprint(changed.Body["design"]) != "map[mood:bold]" {
			t.Errorf("changed: %s", changed.Text)
		}
		const unknown = "fil_01kgd4rh5vf69b91fnpw8qc2zt"
		for field, body := range map[string]string{
			"name": `{"name": " ", "design": {}}`, "name ": `{"name": "a\u0000b", "design": {}}`, "design.mood": `{"name": "a", "design": {"mood": "gothic"}}`,
			"design.brand": `{"name": "a", "design": {"brand": "red"}}`, "design.logo": `{"name": "a", "design": {"logo": "` + unknown + `"}}`,
		} {
			for method, path := range map[string]string{"POST": all, "PATCH": one} {
				a := w.Call(method, path, w.ada, body)
				w.expectCode(method+" "+body, a, 422001)
				if !strings.Contains(a.Text, `"field":"`+strings.TrimSpace(field)+`"`) {
					t.Errorf("%s: %s", body, a.Text)
				}
			}
		}
		w.expectCode("unknown field", w.Call("POST", all, w.ada, `{"name": "a", "designs": {}}`), 400002)

		// Nobody else sees, changes or deletes it.
		for method, body := range map[string]string{"GET": "", "PATCH": `{"name": "Mine"}`, "DELETE": ""} {
			w.expectCode(method+" somebody else's", w.Call(method, one, w.bob, body), 404002)
		}
		if list := w.Call("GET", all, w.bob, ""); list.Body["total_items"] != 0.0 || list.Body["total_pages"] != 0.0 {
			t.Errorf("somebody else's list: %s", list.Text)
		}
		reads, writes := w.Token(ada, w.app, "forms:read").Access, w.Token(ada, w.app, "forms:write").Access
		w.expectCode("list with the wrong scope", w.Call("GET", all, writes, ""), 403001)
		w.expectCode("read with the wrong scope", w.Call("GET", one, writes, ""), 403001)
		for method, path := range map[string]string{"POST": all, "PATCH": one, "DELETE": one} {
			w.expectCode(method+" with the wrong scope", w.Call(method, path, reads, body), 403001)
			w.expectCode(method+" without a token", w.Call(method, path, "", body), 401003)
		}

		for range 49 {
			w.Call("POST", all, w.ada, body)
		}
		w.expectCode("too many", w.Call("POST", all, w.ada, body), 409004)
		list := w.Call("GET", all+"?per_page=20&page=3", w.ada, "")
		if list.Body["total_items"] != 50.0 || list.Body["total_pages"] != 3.0 || len(list.Body["data"].([]any)) != 10 || list.Header.Get("Link") == "" {
			t.Errorf("list: %s", list.Text)
		}
		if a := w.Call("DELETE", one, w.ada, ""); a.StatusCode != 204 {
			t.Errorf("delete: %d %s", a.StatusCode, a.Text)
		}
		for method, body := range map[string]string{"GET": "", "PATCH": `{"name": "Back"}`, "DELETE": ""} {
			w.expectCode(method+" a deleted one", w.Call(method, one, w.ada, body), 404002)
		}
	})
}

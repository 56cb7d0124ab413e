package api_test

import (
	"testing"
)

// A form that is not in a grant is neither listed nor counted. TestRoleMatrix tries all operations.
func TestGrantOfSomeForms(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		f := newSpaceFixture(t, w)
		narrow := map[string]string{
			"some forms of a space":     f.grant(ada, f.space, f.form),
			"all forms of a space":      f.grant(ada, f.space),
			"some forms of the own one": f.grant(ada, f.adaUser.ID, f.own),
		}
		// Lists, counts, search and the cache of pages.
		token := narrow["some forms of a space"]
		for range 2 {
			w.expectEqual("one form", f.listed(token, ""), []string{"Team one"})
			w.expectEqual("all forms", f.listed(narrow["all forms of a space"], ""), []string{"Team one", "Team two"})
			w.expectEqual("own form", f.listed(narrow["some forms of the own one"], ""), []string{"Own"})
		}
		w.expectEqual("search", f.listed(token, "&search=team"), []string{"Team one"})
		w.expectEqual("search for another form", f.listed(token, "&search=two"), []string{})
		w.expectEqual("by status", f.listed(token, "&status=draft"), []string{"Team one"})

		// What is created through the grant joins it. An idempotency key is the grant's.
		const body = `{"title": "Made by the app"}`
		made := w.Call("POST", "/api/v1/forms", token, body, "Idempotency-Key: k")
		again := w.Call("POST", "/api/v1/forms", token, body, "Idempotency-Key: k")
		if made.StatusCode != 201 || made.String("id") != again.String("id") {
			t.Errorf("create twice: %s, %s", made.Text, again.Text)
		}
		if other := w.Call("POST", "/api/v1/forms", f.grant(ada, f.space, f.second), body, "Idempotency-Key: k"); other.String("id") == made.String("id") {
			t.Error("another grant gets the form of the first one")
		}
		copied := w.Call("POST", "/api/v1/forms/"+f.form+"/duplicate", token, "")
		w.expectStatus("duplicate", copied, 201)
		w.expectEqual("with new forms", len(f.listed(token, "")), 3)
		w.expectCode("read what was created", w.Call("GET", "/api/v1/forms/"+made.String("id"), token, ""), 0)
		w.expectCode("read the copy", w.Call("GET", "/api/v1/forms/"+copied.String("id"), token, ""), 0)

		// Themes belong to the space.
		w.expectCode("list themes", w.Call("GET", "/api/v1/themes", token, ""), 0)
		w.expectCode("create a theme", w.Call("POST", "/api/v1/themes", token, `{"name": "Mine", "design": {}}`), 403002)
		w.expectCode("create a theme of all forms", w.Call("POST", "/api/v1/themes", narrow["all forms of a space"], `{"name": "Mine", "design": {}}`), 0)
	})
}

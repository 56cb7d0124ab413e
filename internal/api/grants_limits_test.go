package api_test

import (
	"testing"
	"time"

	"formulary/internal/account"
)

// A form that is not in a grant does not exist for any operation.
func TestGrantOfSomeForms(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		f := newSpaceFixture(t, w)
		narrow := map[string]string{
			"some forms of a space":     f.grant(ada, f.space, f.form),
			"all forms of a space":      f.grant(ada, f.space),
			"some forms of the own one": f.grant(ada, f.adaUser.ID, f.own),
		}
		outside := map[string][]string{
			"some forms of a space":     {f.second, f.own},
			"all forms of a space":      {f.own},
			"some forms of the own one": {f.form, f.addForm(f.adaUser.ID, "Private")},
		}
		for _, e := range f.endpoints() {
			if !e.ofForm() {
				continue
			}
			for name, token := range narrow {
				for _, formID := range outside[name] {
					if got := f.code(e, formID, token); got != 404002 {
						t.Errorf("%s, %s %s of another form: %d", name, e.method, e.path, got)
					}
				}
			}
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

// Every operation needs the permission in the table of roles that its scope stands for.
func TestRolesOfGrants(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		f := newSpaceFixture(t, w)
		const nothing = "frm_01k9z8m7q3e4r5t6y7v8w9x0a1"
		check := func(name string, e endpoint, got int, allowed bool) {
			t.Helper()
			if isRefused := got == 403002; isRefused == allowed {
				t.Errorf("%s: %s %s: %d, allowed: %v", name, e.method, e.path, got, allowed)
			}
		}
		for _, role := range account.MemberRoles {
			f.must(f.store.SetMember(t.Context(), f.space, f.bobUser.ID, role, time.Now()))
			whole, some := f.grant(bob, f.space), f.grant(bob, f.space, f.second)
			for _, e := range f.endpoints() {
				check(string(role), e, f.code(e, nothing, whole), role.Allows(e.scope))
				if e.ofForm() && !role.Allows(e.scope) {
					check(string(role)+" with one form", e, f.code(e, f.second, some), false)
				}
			}
		}
		f.must(f.store.RemoveMember(t.Context(), f.space, f.bobUser.ID, time.Now()))
		for _, role := range []account.Role{account.Viewer, account.Editor} {
			f.must(f.store.ShareForm(t.Context(), f.space, f.form, f.bobUser.ID, role, time.Now()))
			token := f.grant(bob, f.space)
			w.expectEqual("forms of a guest", f.listed(token, ""), []string{"Team one"})
			for _, e := range f.endpoints() {
				switch {
				case !e.ofForm():
					check("guest", e, f.code(e, "", token), account.Guest.Allows(e.scope))
				case e.id == "duplicateForm": // it adds a form to the space
					check("guest "+string(role), e, f.code(e, f.form, token), false)
				default:
					check("guest "+string(role), e, f.code(e, f.form, token), role.Allows(e.scope))
					if got := f.code(e, f.second, token); got != 404002 {
						t.Errorf("guest: %s %s of another form: %d", e.method, e.path, got)
					}
				}
			}
		}
	})
}

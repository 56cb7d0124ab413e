package api_test

import (
	"fmt"
	"strings"
	"testing"

	"formulary/internal/cli/clitest"
)

// mailForm creates and publishes a form that asks for an address.
func (w *fixture) mailForm() string {
	w.t.Helper()
	made := w.Call("POST", "/api/v1/forms", w.ada, `{"title": "Order", "fields": [{"key": "name", "kind": "short_text", "label": "Name"}, {"key": "email", "kind": "email", "label": "Email"}]}`)
	w.expectCode("create", made, 0)
	w.expectCode("publish", w.Call("POST", "/api/v1/forms/"+made.String("id")+"/publish", w.ada, ""), 0)
	return made.String("id")
}

// fieldsOf returns the fields that an error is about.
func fieldsOf(a clitest.Response) string {
	var list []string
	details, _ := a.Body["details"].([]any)
	for _, d := range details {
		list = append(list, fmt.Sprint(d.(map[string]any)["field"]))
	}
	return strings.Join(list, " ")
}

func TestNotifications(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		path := "/api/v1/forms/" + w.mailForm() + "/notifications"
		expect := func(name string, a clitest.Response, want string) {
			t.Helper()
			if got := fmt.Sprint(a.Body["when"], a.Body["to"]); a.StatusCode != 200 || got != want {
				t.Errorf("%s: %s, want %s (%s)", name, got, want, a.Text)
			}
		}
		expect("at first", w.Call("GET", path, w.ada, ""), "off[]")
		expect("set", w.Call("PUT", path, w.ada, `{"when": "each", "to": ["`+ada+`", "ana@example.com"]}`), "each["+ada+" ana@example.com]")
		expect("read", w.Call("GET", path, w.ada, ""), "each["+ada+" ana@example.com]")
		expect("the same again", w.Call("PUT", path, w.ada, `{"when": "each", "to": ["`+ada+`", "ana@example.com"]}`), "each["+ada+" ana@example.com]")
		expect("another case", w.Call("PUT", path, w.ada, `{"when": "daily", "to": ["ANA@example.com"]}`), "daily[ana@example.com]")
		expect("nobody", w.Call("PUT", path, w.ada, `{"when": "hourly", "to": []}`), "hourly[]")

		many := strings.Repeat(`"a@example.com",`, 20) + `"b@example.com"`
		for body, want := range map[string]string{
			`{}`:                            "to",
			`{"to": []}`:                    "when",
			`{"when": "each"}`:              "to",
			`{"when": "", "to": []}`:        "when",
			`{"when": "now", "to":[]}`:      "when",
			`{"when": "each", "to": ["x"]}`: "to.0",
			`{"when": "each", "to": ["ana@example.com", "Ana <b@example.com>", "c@example.com"]}`: "to.1",
			`{"when": "each", "to": ["ana@example.com", " b@example.com", "ANA@example.com"]}`:    "to.1 to.2",
			`{"when": "each", "to": ["ana@example.com\r\nBcc: b@example.com"]}`:                   "to.0",
			`{"when": "each", "to": ["ana\u0000@example.com", ""]}`:                               "to.0 to.1",
			`{"when": "each", "to": ["` + strings.Repeat("a", 300) + `@example.com"]}`:            "to.0",
			`{"when": "each", "to": [` + many + `]}`:                                              "to",
			`{"when": "each", "to": "ana@example.com"}`:                                           "to",
			`{"when": "each", "to": [3]}`:                                                         "to.0",
			`{"when": "each", "to": null}`:                                                        "to",
			`{"when": 1, "to": []}`:                                                               "when",
		} {
			a := w.Call("PUT", path, w.ada, body)
			w.expectCode(body, a, 422001)
			if got := fieldsOf(a); got != want {
				t.Errorf("%s: about %q, want %q (%s)", body, got, want, a.Text)
			}
		}
		w.expectCode("unknown field", w.Call("PUT", path, w.ada, `{"when": "each", "to": [], "cc": []}`), 400002)
		w.expectCode("no JSON", w.Call("PUT", path, w.ada, `{`), 400002)
		w.expectCode("too large", w.Call("PUT", path, w.ada, `{"when": "`+strings.Repeat("x", 70_000)+`"}`), 413001)
		expect("unchanged by errors", w.Call("GET", path, w.ada, ""), "hourly[]")
		w.expectMailAccess(path, `{"when": "each", "to": ["x"]}`)
		// Nobody can fill a mailbox with requests to confirm.
		var last clitest.Response
		for range 10 {
			w.expectCode("without", w.Call("PUT", path, w.ada, `{"when": "each", "to": []}`), 0)
			if last = w.Call("PUT", path, w.ada, `{"when": "each", "to": ["often@example.com"]}`); last.StatusCode != 200 {
				break
			}
		}
		w.expectCode("too often", last, 429001)
	})
}

// expectMailAccess checks who can read and change settings of mails. The body has mistakes: what
// a caller may not see must not depend on it.
func (w *fixture) expectMailAccess(path, body string) {
	w.t.Helper()
	missing := "/api/v1/forms/frm_01k9z8m7q3e4r5t6y7v8w9x0a1" + path[strings.LastIndex(path, "/"):]
	for name, c := range map[string]struct {
		method, path, token string
		code                int
	}{
		"read somebody else's":       {"GET", path, w.bob, 404002},
		"change somebody else's":     {"PUT", path, w.bob, 404002},
		"read a missing form's":      {"GET", missing, w.ada, 404002},
		"change a missing form's":    {"PUT", missing, w.ada, 404002},
		"read without the scope":     {"GET", path, w.Token(ada, w.app, "responses:read,webhooks:read").Access, 403001},
		"change with the read scope": {"PUT", path, w.Token(ada, w.app, "forms:read,responses:write").Access, 403001},
		"read with the write scope":  {"GET", path, w.Token(ada, w.app, "forms:write").Access, 403001},
		"read without a token":       {"GET", path, "", 401003},
		"delete":                     {"DELETE", path, w.ada, 405001},
	} {
		text := ""
		if c.method == "PUT" {
			text = body
		}
		w.expectCode(name, w.Call(c.method, c.path, c.token, text), c.code)
	}
}

func TestReceipt(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		formID := w.mailForm()
		path := "/api/v1/forms/" + formID + "/receipt"
		expect := func(name string, a clitest.Response, active, field, subject, text, answers any) {
			t.Helper()
			if a.StatusCode != 200 {
				t.Errorf("%s: %s", name, a.Text)
			}
			w.expectFields(name, a, map[string]any{"active": active, "field": field, "subject": subject, "text": text, "answers": answers})
		}
		expect("at first", w.Call("GET", path, w.ada, ""), false, "", "", "", false)
		full := `{"active": true, "field": "email", "subject": "Thanks, {{name}}", "text": "**Soon**, {{ name }}\n\nYours", "answers": true}`
		expect("set", w.Call("PUT", path, w.ada, full), true, "email", "Thanks, {{name}}", "**Soon**, {{ name }}\n\nYours", true)
		expect("read", w.Call("GET", path, w.ada, ""), true, "email", "Thanks, {{name}}", "**Soon**, {{ name }}\n\nYours", true)
		for body, want := range map[string]string{
			`{"active": true}`:                                         "field",
			`{"active": true, "field": "name"}`:                        "field",
			`{"field": "missing"}`:                                     "field",
			`{"field": "em\u0000ail"}`:                                 "field",
			`{"subject": "` + strings.Repeat("ä", 201) + `"}`:          "subject",
			`{"subject": "two\nlines"}`:                                "subject",
			`{"subject": "nothing\u0000"}`:                             "subject",
			`{"subject": "{{nobody}}"}`:                                "subject",
			`{"text": "` + strings.Repeat("x", 10_001) + `"}`:          "text",
			`{"text": "nothing\u0000"}`:                                "text",
			`{"text": "{{email}} {{nobody}}"}`:                         "text",
			`{"subject": "{{a1}}", "text": "{{a2}}", "field": "name"}`: "field subject text",
			`{"active": "yes"}`:                                        "active",
			`{"text": null}`:                                           "text",
		} {
			a := w.Call("PUT", path, w.ada, body)
			w.expectCode(body, a, 422001)
			if got := fieldsOf(a); got != want {
				t.Errorf("%s: about %q, want %q (%s)", body, got, want, a.Text)
			}
		}
		w.expectCode("unknown field", w.Call("PUT", path, w.ada, `{"to": "x"}`), 400002)
		w.expectCode("too large", w.Call("PUT", path, w.ada, `{"text": "`+strings.Repeat("x", 70_000)+`"}`), 413001)
		expect("unchanged by errors", w.Call("GET", path, w.ada, ""), true, "email", "Thanks, {{name}}", "**Soon**, {{ name }}\n\nYours", true)
		expect("the longest", w.Call("PUT", path, w.ada, `{"subject": "`+strings.Repeat("ä", 200)+`", "text": "`+strings.Repeat("ü", 10_000)+`"}`),
			false, "", strings.Repeat("ä", 200), strings.Repeat("ü", 10_000), false)
		expect("off", w.Call("PUT", path, w.ada, `{}`), false, "", "", "", false)
		w.expectMailAccess(path, `{"field": "missing"}`)
		w.expectCode("delete the form", w.Call("DELETE", "/api/v1/forms/"+formID, w.ada, ""), 0)
		w.expectCode("of a deleted form", w.Call("GET", path, w.ada, ""), 404002)
		w.expectCode("change that of a deleted form", w.Call("PUT", path, w.ada, full), 404002)
	})
}

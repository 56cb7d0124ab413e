package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"formulary/internal/cli/clitest"
)

func TestWebhooks(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		form := w.published()
		all := "/api/v1/forms/" + form + "/webhooks"
		body := `{"url":"http://127.0.0.1:1/hook"}`
		made := w.Call("POST", all, w.ada, body, "Idempotency-Key: k1")
		w.expectCode("create", made, 0)
		if made.StatusCode != 201 || !strings.HasPrefix(made.String("secret"), "whsec_") || !strings.HasPrefix(made.String("id"), "whk_") || made.String("form_id") != form ||
			made.Body["active"] != true || made.Body["strict_order"] != false || made.String("status") != "active" || made.Body["pending"] != 0.0 ||
			fmt.Sprint(made.Body["events"]) != "[response.created]" || !strings.HasSuffix(made.Header.Get("Location"), made.String("id")) {
			t.Errorf("created: %s %v", made.Text, made.Header)
		}
		again := w.Call("POST", all, w.ada, body, "Idempotency-Key: k1")
		if again.StatusCode != 201 || again.String("id") != made.String("id") || again.String("secret") != "" {
			t.Errorf("repeated: %d %s", again.StatusCode, again.Text)
		}
		w.expectCode("another body", w.Call("POST", all, w.ada, `{"url":"http://127.0.0.1:2/"}`, "Idempotency-Key: k1"), 409002)
		one := all + "/" + made.String("id")
		read := w.Call("GET", one, w.ada, "")
		if read.String("url") != "http://127.0.0.1:1/hook" || read.String("secret") != "" {
			t.Errorf("read: %s", read.Text)
		}
		w.expectCode("somebody else's", w.Call("GET", one, w.bob, ""), 404002)
		w.expectCode("of another form", w.Call("GET", "/api/v1/forms/"+w.published()+"/webhooks/"+made.String("id"), w.ada, ""), 404002)
		w.expectCode("no id", w.Call("GET", all+"/x", w.ada, ""), 404002)

		changed := w.Call("PATCH", one, w.ada, `{"active":false,"strict_order":true,"events":["form.closed","response.created","form.closed"]}`)
		if changed.String("status") != "paused" || changed.Body["active"] != false || changed.Body["strict_order"] != true || fmt.Sprint(changed.Body["events"]) != "[response.created form.closed]" {
			t.Errorf("changed: %s", changed.Text)
		}
		if back := w.Call("PATCH", one, w.ada, `{"active":true}`); back.String("status") != "active" {
			t.Errorf("active again: %s", back.Text)
		}
		for name, body := range map[string]string{
			"url": `{"url":"http://10.0.0.1/"}`, "url ": `{"url":"https://ada:pw@example.com/"}`, " url": `{"url":"nonsense"}`, "events": `{"events":["response.exploded"]}`, "events ": `{"events":[]}`,
		} {
			for method, path := range map[string]string{"POST": all, "PATCH": one} {
				if method == "POST" && !strings.Contains(body, "url") {
					body = `{"url":"http://127.0.0.1:1/",` + body[1:]
				}
				a := w.Call(method, path, w.ada, body)
				w.expectCode(method+" "+body, a, 422001)
				if !strings.Contains(a.Text, `"field":"`+strings.TrimSpace(name)+`"`) {
					t.Errorf("%s: %s", body, a.Text)
				}
			}
		}
		w.expectCode("no url", w.Call("POST", all, w.ada, `{}`), 422001)
		w.expectCode("unknown field", w.Call("POST", all, w.ada, `{"uri":"https://example.com"}`), 400002)
		for range 19 {
			w.hook(form, body)
		}
		w.expectCode("too many", w.Call("POST", all, w.ada, body), 409004)
		list := w.Call("GET", all+"?per_page=8&page=3", w.ada, "")
		if list.Body["total_items"] != 20.0 || list.Body["total_pages"] != 3.0 || len(list.Body["data"].([]any)) != 4 || list.Header.Get("Link") == "" || strings.Contains(list.Text, "whsec_") {
			t.Errorf("list: %s", list.Text)
		}
		if a := w.Call("DELETE", one, w.ada, ""); a.StatusCode != 204 {
			t.Errorf("delete: %d %s", a.StatusCode, a.Text)
		}
		for method, path := range map[string]string{"GET": one, "DELETE": one, "PATCH": one, "POST": one + "/test"} {
			w.expectCode(method+" a deleted one", w.Call(method, path, w.ada, "{}"), 404002)
		}
		w.expectCode("delete the form", w.Call("DELETE", "/api/v1/forms/"+form, w.ada, ""), 0)
		w.expectCode("of a deleted form", w.Call("GET", all, w.ada, ""), 404002)
	}, allowLoopback)
}

// Without the scope for responses, an application can neither receive them nor redirect them.
func TestWebhookScopes(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		form := w.published()
		all := "/api/v1/forms/" + form + "/webhooks"
		path, _ := w.hook(form, `{"url":"http://127.0.0.1:1/"}`)
		hooks := w.Token(ada, w.app, "webhooks:read,webhooks:write").Access
		reads := w.Token(ada, w.app, "webhooks:read,responses:read").Access
		w.expectCode("list", w.Call("GET", all, hooks, ""), 0)
		w.expectCode("receive responses", w.Call("POST", all, hooks, `{"url":"http://127.0.0.1:1/"}`), 403001)
		w.expectCode("receive form events", w.Call("POST", all, hooks, `{"url":"http://127.0.0.1:1/","events":["form.closed"]}`), 0)
		w.expectCode("redirect responses", w.Call("PATCH", path, hooks, `{"url":"http://127.0.0.1:2/"}`), 403001)
		w.expectCode("pause", w.Call("PATCH", path, hooks, `{"active":false}`), 0)
		w.expectCode("activate", w.Call("PATCH", path, hooks, `{"active":true}`), 403001)
		for _, action := range []string{"/test", "/rotate-secret", "/replay"} {
			w.expectCode(action, w.Call("POST", path+action, reads, ""), 403001)
		}
		w.expectCode("create", w.Call("POST", all, reads, `{"url":"http://127.0.0.1:1/"}`), 403001)
		w.expectCode("without a scope", w.Call("GET", all, w.Token(ada, w.app, "forms:read").Access, ""), 403001)
	}, allowLoopback)
}

func TestWebhookActions(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		form, to := w.published(), newReceiver(t)
		path, first := w.hook(form, `{"url":"`+to.URL+`"}`)
		verifies := func(secret string, got received) bool {
			t.Helper()
			verifier, err := standardwebhooks.NewWebhook(secret)
			if err != nil {
				t.Fatal(err)
			}
			return verifier.Verify([]byte(got.Text), got.Header) == nil
		}
		for _, body := range []string{"", "{}"} {
			test := w.Call("POST", path+"/test", w.ada, body)
			if test.StatusCode != 200 || test.Body["status"] != 204.0 || test.String("error") != "" {
				t.Errorf("test: %s", test.Text)
			}
		}
		if got := to.all()[1]; got.Body.Type != "webhook.test" || !verifies(first, got) || got.Body.Data.Form["id"] != form {
			t.Errorf("tested with %s", got.Text)
		}
		to.answers(func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(500) })
		if test := w.Call("POST", path+"/test", w.ada, ""); test.Body["status"] != 500.0 || test.String("error") == "" {
			t.Errorf("a test that fails: %s", test.Text)
		}
		to.answers(nil)
		down, _ := w.hook(form, `{"url":"http://127.0.0.1:1/","events":["form.closed"]}`)
		if test := w.Call("POST", down+"/test", w.ada, ""); test.Body["status"] != 0.0 || test.String("error") == "" {
			t.Errorf("a test that nobody answers: %s", test.Text)
		}
		rotated := w.Call("POST", path+"/rotate-secret", w.ada, "{}")
		second := rotated.String("secret")
		id := w.submit(form, "Tea")
		got := to.wait(4)[3]
		if rotated.StatusCode != 200 || second == first || !verifies(first, got) || !verifies(second, got) || len(strings.Fields(got.Get("webhook-signature"))) != 2 {
			t.Errorf("rotated: %s, then %v", rotated.Text, got.Header)
		}
		delivery := path + "/deliveries/dlv_" + id[4:]
		if !clitest.WaitFor(func() bool { return w.Call("POST", delivery+"/resend", w.ada, "").StatusCode == 202 }) {
			t.Error("it cannot be sent again")
		}
		if again := to.wait(5)[4]; again.Get("webhook-id") != got.Get("webhook-id") {
			t.Errorf("sent again as %s", again.Get("webhook-id"))
		}
		for _, body := range []string{"", `{}`, `{"since":"` + time.Now().Add(-time.Hour).Format(time.RFC3339) + `"}`} {
			n := len(to.all())
			if a := w.Call("POST", path+"/replay", w.ada, body); a.StatusCode != 202 {
				t.Errorf("replay %s: %d %s", body, a.StatusCode, a.Text)
			}
			to.wait(n + 1)
		}
		w.expectCode("replay what", w.Call("POST", path+"/replay", w.ada, `{"since":"yesterday"}`), 422001)
		w.expectCode("replay after what", w.Call("POST", path+"/replay", w.ada, `{"after":"frm_1"}`), 422001)
		w.expectCode("replay both", w.Call("POST", path+"/replay", w.ada, `{"after":"`+id+`","since":"2026-01-01T00:00:00Z"}`), 422001)
		w.expectCode("resend nothing", w.Call("POST", path+"/deliveries/dlv_x/resend", w.ada, ""), 404002)
		w.expectCode("a wrong status", w.Call("GET", path+"/deliveries?status=lost", w.ada, ""), 400001)
	}, allowLoopback)
}

// A webhook ends with the access of the application that created it.
func TestWebhookOfEndedGrant(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		form, to := w.published(), newReceiver(t)
		const scope = "webhooks:read,webhooks:write,responses:read"
		token := w.Token(ada, w.app, scope)
		other := w.AddApp(bob, "https://other.example.com/cb")
		theirs := w.Token(ada, other, scope).Access
		all := "/api/v1/forms/" + form + "/webhooks"
		mine := all + "/" + w.Call("POST", all, token.Access, `{"url":"`+to.URL+`/revoked"}`).String("id")
		disabled := all + "/" + w.Call("POST", all, theirs, `{"url":"`+to.URL+`/disabled"}`).String("id")
		status := func(path string) string { return w.Call("GET", path, w.ada, "").String("status") }
		if status(mine) != "active" || status(disabled) != "active" {
			t.Fatal("they are not active")
		}
		w.Form("/api/oauth2/revoke", w.app.Authenticate(map[string][]string{"token": {token.Refresh}}))
		if got := status(mine); got != "paused" {
			t.Errorf("after the grant was revoked: %s", got)
		}
		w.Command("", "app", "disable", other.ID)
		if !clitest.WaitFor(func() bool { return status(disabled) == "paused" }) {
			t.Errorf("after the application was disabled: %s", status(disabled))
		}
		kept, _ := w.hook(form, `{"url":"`+to.URL+`/kept"}`)
		w.submit(form, "Tea")
		to.wait(1)
		if !clitest.WaitFor(func() bool { return w.Call("GET", kept+"/deliveries", w.ada, "").Body["total_items"] == 1.0 }) || len(to.all()) != 1 {
			t.Errorf("%d requests arrived", len(to.all()))
		}
		if back := w.Call("PATCH", mine, w.ada, `{"active":true}`); back.String("status") != "active" {
			t.Errorf("its owner: %s", back.Text)
		}
		to.wait(2)
	}, allowLoopback)
}

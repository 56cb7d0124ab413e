package api_test

import (
	"net/http"
	"strings"
	"testing"

	"formulary/internal/cli/clitest"
)

// An application that may manage webhooks but not read responses gets none, by no detour: not
// by redirecting a webhook after its events were changed, and not by sending an event again.
func TestWebhookCannotBeRedirected(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		form, to, thief := w.published(), newReceiver(t), newReceiver(t)
		to.answers(func(rw http.ResponseWriter, r *http.Request) {
			if got := to.all(); strings.Contains(got[len(got)-1].Text, "Coffee") {
				rw.WriteHeader(503)
			}
		})
		path, _ := w.hook(form, `{"url":"`+to.URL+`"}`)
		delivered := w.submit(form, "Tea")
		to.wait(1)
		pending := w.submit(form, "Coffee")
		to.wait(2)
		total := func(status string) any {
			return w.Call("GET", path+"/deliveries?status="+status, w.ada, "").Body["total_items"]
		}
		if !clitest.WaitFor(func() bool { return total("delivered") == 1.0 && total("pending") == 1.0 }) {
			t.Fatal("one delivery is not pending")
		}
		hooks := w.Token(ada, w.app, "webhooks:read,webhooks:write").Access
		w.expectCode("redirect", w.Call("PATCH", path, hooks, `{"url":"`+thief.URL+`"}`), 403001)
		w.expectCode("redirect other events", w.Call("PATCH", path, hooks, `{"url":"`+thief.URL+`","events":["form.closed"]}`), 0)
		for _, id := range []string{delivered, pending} {
			w.expectCode("send it again", w.Call("POST", path+"/deliveries/dlv_"+id[4:]+"/resend", hooks, ""), 422001)
		}
		w.expectCode("replay", w.Call("POST", path+"/replay", hooks, ""), 0)
		// Pending deliveries are tried at once when a webhook is activated.
		w.expectCode("pause", w.Call("PATCH", path, hooks, `{"active":false}`), 0)
		w.expectCode("activate", w.Call("PATCH", path, hooks, `{"active":true}`), 0)
		if !clitest.WaitFor(func() bool { return total("pending") == 0.0 }) {
			t.Error("it is still pending")
		}
		w.expectCode("close", w.Call("POST", "/api/v1/forms/"+form+"/close", w.ada, ""), 0)
		thief.wait(1)
		for _, got := range thief.all() {
			if got.Body.Type != "form.closed" || got.Body.Data.Response != nil {
				t.Errorf("the other receiver got %s", got.Text)
			}
		}
	}, allowLoopback)
}

// Another account, another form and another webhook reach nothing, and no list shows a secret.
func TestWebhooksAreSeparate(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		form, other, to := w.published(), w.published(), newReceiver(t)
		path, secret := w.hook(form, `{"url":"`+to.URL+`/first"}`)
		second, _ := w.hook(form, `{"url":"`+to.URL+`/second","active":false}`)
		id := w.submit(form, "Tea")
		to.wait(1)
		delivery := "/deliveries/dlv_" + id[4:]
		if !clitest.WaitFor(func() bool {
			return w.Call("GET", path+"/deliveries", w.ada, "").Body["total_items"] == 1.0
		}) {
			t.Fatal("it is not listed")
		}
		elsewhere := strings.Replace(path, form, other, 1)
		operations := map[string]string{
			"": "GET", "/deliveries": "GET", "/rotate-secret": "POST", "/test": "POST", "/replay": "POST", delivery + "/resend": "POST",
		}
		for action, method := range operations {
			w.expectCode("Bob: "+action, w.Call(method, path+action, w.bob, ""), 404002)
			w.expectCode("another form: "+action, w.Call(method, elsewhere+action, w.ada, ""), 404002)
		}
		for _, target := range []string{path, elsewhere} {
			token := w.ada
			if target == path {
				token = w.bob
			}
			w.expectCode("change "+target, w.Call("PATCH", target, token, `{"url":"`+to.URL+`/thief"}`), 404002)
			w.expectCode("delete "+target, w.Call("DELETE", target, token, ""), 404002)
		}
		w.expectCode("a delivery of another webhook", w.Call("POST", second+delivery+"/resend", w.ada, ""), 404002)
		w.expectCode("Bob's list", w.Call("GET", "/api/v1/forms/"+form+"/webhooks", w.bob, ""), 404002)
		w.expectCode("Bob's webhook on Ada's form", w.Call("POST", "/api/v1/forms/"+form+"/webhooks", w.bob, `{"url":"`+to.URL+`/thief"}`), 404002)

		reader := w.Token(ada, w.app, "webhooks:read").Access
		for action, method := range operations {
			want := 0
			if method == "POST" {
				want = 403001
			}
			a := w.Call(method, path+action, reader, "")
			w.expectCode("only webhooks:read: "+action, a, want)
			if strings.Contains(a.Text, "whsec_") || strings.Contains(a.Text, "answers") {
				t.Errorf("%s shows %s", action, a.Text)
			}
		}
		w.expectCode("trash", w.Call("DELETE", "/api/v1/forms/"+form, w.ada, ""), 0)
		for action, method := range operations {
			w.expectCode("in the trash: "+action, w.Call(method, path+action, w.ada, ""), 404002)
		}
		if n := len(to.all()); n != 1 {
			t.Errorf("%d requests arrived", n)
		}
		if log := w.Log(); strings.Contains(log, secret) || strings.Contains(log, "whsec_") {
			t.Error("the log has the secret")
		}
	}, allowLoopback)
}

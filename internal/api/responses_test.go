package api_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"formulary/internal/cli/clitest"
)

const order = `{"title": "Order", "fields": [
	{"key": "email", "kind": "email", "label": "Your e-mail", "required": true},
	{"key": "shirt", "kind": "yes_no", "label": "A shirt too?"},
	{"key": "size", "kind": "single_choice", "label": "Which size?", "options": [{"value": "s", "label": "Small"}, {"value": "m", "label": "Medium"}],
	 "show_if": {"field": "shirt", "op": "equals", "value": true}, "required": true}]}`

// openForm creates and publishes a form.
func (w *fixture) openForm(token, body string) string {
	w.t.Helper()
	created := w.Call("POST", "/api/v1/forms", token, body)
	if created.StatusCode != 201 {
		w.t.Fatalf("create: %s", created.Text)
	}
	path := "/api/v1/forms/" + created.String("id")
	if p := w.Call("POST", path+"/publish", token, ""); p.StatusCode != 201 || p.Body["version"] != 1.0 || p.String("status") != "open" {
		w.t.Fatalf("publish: %d %s", p.StatusCode, p.Text)
	}
	return path
}

func TestFormDefinition(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		created := w.Call("POST", "/api/v1/forms", w.ada, order)
		path := "/api/v1/forms/" + created.String("id")
		fields, _ := created.Body["fields"].([]any)
		if created.StatusCode != 201 || len(fields) != 3 {
			t.Fatalf("created: %s", created.Text)
		}
		if read := w.Call("GET", path, w.ada, ""); read.Text != created.Text {
			t.Errorf("read %s", read.Text)
		}
		// The service assigns IDs, and they stay when the key changes.
		first := fields[0].(map[string]any)
		changed := w.Call("PATCH", path, w.ada, fmt.Sprintf(`{"fields": [{"id": %q, "key": "mail", "kind": "email", "label": "Mail"}]}`, first["id"]))
		now, _ := changed.Body["fields"].([]any)
		if len(now) != 1 || now[0].(map[string]any)["id"] != first["id"] || now[0].(map[string]any)["key"] != "mail" {
			t.Errorf("changed: %s", changed.Text)
		}
		for body, field := range map[string]string{
			`{"title": "x", "fields": [{"kind": "nonsense"}]}`:                             "fields.0.kind",
			`{"title": "x", "fields": [{"kind": "email", "lable": "x"}]}`:                  "fields.0.lable",
			`{"title": "x", "fields": [{"kind": "email", "max_length": 5}]}`:               "fields.0.max_length",
			`{"title": "x", "fields": "none"}`:                                             "fields",
			`{"title": "x", "fields": [{"kind": "email", "show_if": {"field": "later"}}]}`: "fields.0.show_if",
		} {
			a := w.Call("POST", "/api/v1/forms", w.ada, body)
			details, _ := a.Body["details"].([]any)
			if a.StatusCode < 400 || a.StatusCode > 422 {
				t.Errorf("%s: status %d", body, a.StatusCode)
			}
			if len(details) == 0 || details[0].(map[string]any)["field"] != field {
				t.Errorf("%s: %s, want %s", body, a.Text, field)
			}
		}
		w.expectCode("publish without questions", w.Call("POST", "/api/v1/forms/"+w.create(w.ada, "Empty")+"/publish", w.ada, ""), 422001)
		w.expectCode("publish a form of another account", w.Call("POST", path+"/publish", w.bob, ""), 404002)
		w.expectCode("publish an old revision", w.Call("POST", path+"/publish", w.ada, "", `If-Match: "1"`), 409001)
		w.expectCode("close a draft", w.Call("POST", path+"/close", w.ada, ""), 409003)
		schema := w.Call("GET", path+"/schema", w.ada, "")
		if schema.StatusCode != 200 || schema.Body["properties"].(map[string]any)["mail"] == nil {
			t.Errorf("schema: %s", schema.Text)
		}
	})
}

func TestSubmit(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		draft := w.Call("POST", "/api/v1/forms", w.ada, order)
		w.expectCode("a draft", w.Call("POST", "/api/v1/forms/"+draft.String("id")+"/responses", w.ada, `{"answers": {"email": "a@b.c"}}`), 409003)
		path := w.openForm(w.ada, order)
		submit := func(answers string, headers ...string) clitest.Response {
			t.Helper()
			return w.Call("POST", path+"/responses", w.ada, `{"answers": `+answers+`}`, headers...)
		}
		for answers, field := range map[string]string{
			`{}`:                                 "email",
			`{"email": "nonsense"}`:              "email",
			`{"email": 5}`:                       "email",
			`{"email": "a@b.c", "unknown": 1}`:   "unknown",
			`{"email": "a@b.c", "shirt": "yes"}`: "shirt",
			`{"email": "a@b.c", "shirt": true}`:  "size",
			`{"email": "a@b.c", "shirt": true, "size": "xl"}`: "size",
		} {
			a := submit(answers)
			w.expectCode(answers, a, 422001)
			if details := a.Body["details"].([]any); details[0].(map[string]any)["field"] != field {
				t.Errorf("%s: %s", answers, a.Text)
			}
		}
		one := submit(`{"email": "a@b.c", "shirt": true, "size": "m"}`)
		if one.StatusCode != 201 || !strings.HasPrefix(one.String("id"), "rsp_") || len(one.Body) != 2 {
			t.Fatalf("submitted: %d %s", one.StatusCode, one.Text)
		}
		read := w.Call("GET", path+"/responses/"+one.String("id"), w.ada, "")
		answers, _ := json.Marshal(read.Body["answers"])
		if string(answers) != `{"email":"a@b.c","shirt":true,"size":"m"}` || read.Body["version"] != 1.0 || read.String("form_id") != path[len("/api/v1/forms/"):] {
			t.Errorf("read: %s", read.Text)
		}
		// Answers to hidden questions are not stored.
		two := submit(`{"email": "a@b.c", "shirt": false, "size": "m"}`)
		if read := w.Call("GET", path+"/responses/"+two.String("id"), w.ada, ""); strings.Contains(read.Text, "size") {
			t.Errorf("stored: %s", read.Text)
		}
		// Editing the draft does not change the published form; publishing does.
		w.Call("PATCH", path, w.ada, `{"fields": [{"key": "name", "kind": "short_text", "required": true}]}`)
		w.expectCode("the published questions", submit(`{"email": "c@d.e"}`), 0)
		if p := w.Call("POST", path+"/publish", w.ada, ""); p.Body["version"] != 2.0 {
			t.Errorf("published again: %s", p.Text)
		}
		w.expectCode("the old questions", submit(`{"email": "c@d.e"}`), 422001)
		w.expectCode("the new questions", submit(`{"name": "Ada"}`), 0)
		if f := w.Call("GET", path, w.ada, ""); f.Body["response_count"] != 4.0 {
			t.Errorf("response_count: %s", f.Text)
		}
		// The cached list is invalidated too.
		if l := w.Call("GET", "/api/v1/forms?status=open", w.ada, ""); l.Body["total_items"] != 1.0 || !strings.Contains(l.Text, `"response_count":4`) {
			t.Errorf("list: %s", l.Text)
		}
		// The same submission is stored once, however often it is sent.
		sent := make([]clitest.Response, 32)
		var all sync.WaitGroup
		for i := range sent {
			all.Go(func() { sent[i] = submit(`{"name": "Once"}`, "Idempotency-Key: k") })
		}
		all.Wait()
		for _, a := range sent {
			if a.StatusCode != 201 || a.Text != sent[0].Text {
				t.Errorf("32 at once: %d %s", a.StatusCode, a.Text)
			}
		}
		w.expectCode("different request body", submit(`{"name": "Twice"}`, "Idempotency-Key: k"), 409002)
		// Bob has no access to any of it.
		w.expectCode("Bob submits", w.Call("POST", path+"/responses", w.bob, `{"answers": {"name": "Bob"}}`), 404002)
		w.expectCode("Bob reads", w.Call("GET", path+"/responses/"+one.String("id"), w.bob, ""), 404002)
		w.expectCode("Bob lists", w.Call("GET", path+"/responses", w.bob, ""), 404002)
		w.expectCode("Bob follows", w.Call("GET", path+"/responses?after=", w.bob, ""), 404002)
		w.expectCode("Bob deletes", w.Call("DELETE", path+"/responses/"+one.String("id"), w.bob, ""), 404002)
		w.expectCode("delete", w.Call("DELETE", path+"/responses/"+one.String("id"), w.ada, ""), 0)
		w.expectCode("delete again", w.Call("DELETE", path+"/responses/"+one.String("id"), w.ada, ""), 404002)
		if f := w.Call("GET", path, w.ada, ""); f.Body["response_count"] != 4.0 {
			t.Errorf("response_count after it: %s", f.Text)
		}
		w.expectCode("close", w.Call("POST", path+"/close", w.ada, ""), 0)
		w.expectCode("after closing", submit(`{"name": "Late"}`), 409003)
		w.expectCode("open again", w.Call("POST", path+"/publish", w.ada, ""), 0)
		w.expectCode("delete the form", w.Call("DELETE", path, w.ada, ""), 0)
		w.expectCode("its responses", w.Call("GET", path+"/responses", w.ada, ""), 404002)
	})
}

// The feed returns every response exactly once, in a stable order, even during writes.
func TestFeed(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		path := w.openForm(w.ada, `{"title": "Feed", "fields": [{"key": "n", "kind": "number"}]}`)
		const writers, each = 8, 25
		var all sync.WaitGroup
		for i := range writers {
			all.Go(func() {
				for j := range each {
					w.expectCode("submit", w.Call("POST", path+"/responses", w.ada, fmt.Sprintf(`{"answers": {"n": %d}}`, i*each+j)), 0)
				}
			})
		}
		done := make(chan struct{})
		go func() { all.Wait(); close(done) }()
		seen := map[string]int{}
		next, finished := "", false
		for {
			a := w.Call("GET", path+"/responses?limit=7&after="+next, w.ada, "")
			if a.StatusCode != 200 || len(a.Body) != 3 {
				t.Fatalf("feed: %s", a.Text)
			}
			data := a.Body["data"].([]any)
			for _, r := range data {
				seen[r.(map[string]any)["id"].(string)]++
			}
			next = a.String("next")
			if len(data) == 0 && finished {
				break
			}
			select {
			case <-done:
				finished = true // read once more: the last responses may be new
			default:
			}
		}
		if len(seen) != writers*each {
			t.Errorf("%d of %d responses", len(seen), writers*each)
		}
		for id, n := range seen {
			if n != 1 {
				t.Errorf("%s was returned %d times", id, n)
			}
		}
		for _, bad := range []string{"x", "cw", "c3g!"} {
			w.expectCode("cursor "+bad, w.Call("GET", path+"/responses?after="+bad, w.ada, ""), 400001)
		}
		// Cursors of earlier versions still work: this one is after the 150th response.
		old := base64.RawURLEncoding.EncodeToString([]byte("s" + strconv.FormatInt(150, 36)))
		if a := w.Call("GET", path+"/responses?limit=1000&after="+old, w.ada, ""); len(a.Body["data"].([]any)) != 50 || a.String("next") != next {
			t.Errorf("after an old cursor: %s", a.Text)
		}
		// A client that starts before the first response misses none.
		early := w.openForm(w.ada, `{"title": "Early", "fields": [{"key": "n", "kind": "number"}]}`)
		start := w.Call("GET", early+"/responses?after=", w.ada, "").String("next")
		w.expectCode("submit", w.Call("POST", early+"/responses", w.ada, `{"answers": {"n": 1}}`), 0)
		if a := w.Call("GET", early+"/responses?after="+start, w.ada, ""); start == "" || len(a.Body["data"].([]any)) != 1 {
			t.Errorf("from %q: %s", start, a.Text)
		}
		// Pages start with the newest response.
		page := w.Call("GET", path+"/responses?per_page=30&page=7", w.ada, "")
		w.expectFields("page 7", page, map[string]any{"total_items": 200.0, "total_pages": 7.0})
		w.expectHeader("page 7", page.Header, "Link", `rel="prev"`)
		data := page.Body["data"].([]any)
		if len(data) != 20 {
			t.Fatalf("page 7 has %d responses", len(data))
		}
		last := data[19].(map[string]any)["id"]
		first := w.Call("GET", path+"/responses?limit=1&after=", w.ada, "").Body["data"].([]any)[0].(map[string]any)["id"]
		if last != first {
			t.Errorf("the last of the pages is %v, the first of the feed %v", last, first)
		}
		// Pages and feed return the same responses after deletions.
		var remaining []string
		for i, r := range w.Call("GET", path+"/responses?limit=1000&after=", w.ada, "").Body["data"].([]any) {
			id := r.(map[string]any)["id"].(string)
			if i%3 == 0 || i > 20 && i < 90 {
				w.expectCode("delete", w.Call("DELETE", path+"/responses/"+id, w.ada, ""), 0)
				continue
			}
			remaining = append(remaining, id)
		}
		var paged []string
		for n := 1; n <= len(remaining)/10+1; n++ {
			for _, r := range w.Call("GET", fmt.Sprintf("%s/responses?per_page=10&page=%d", path, n), w.ada, "").Body["data"].([]any) {
				paged = append(paged, r.(map[string]any)["id"].(string))
			}
		}
		slices.Reverse(paged)
		if !slices.Equal(paged, remaining) {
			t.Errorf("after deletions the pages have %d responses, the feed has %d, or the order differs", len(paged), len(remaining))
		}
	})
}

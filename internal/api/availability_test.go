package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestAvailability(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		path := w.openForm(w.ada, order)
		id := strings.TrimPrefix(path, "/api/v1/forms/")
		answer := `{"answers": {"email": "a@b.c"}}`
		// Links use the custom link instead of the ID.
		updated := w.Call("PATCH", path, w.ada, `{"slug": "Summer-Party"}`)
		if updated.String("slug") != "summer-party" || updated.String("url") != w.URL+"/f/summer-party" {
			t.Errorf("with a custom link: %s", updated.Text)
		}
		w.expectCode("submitted by slug", w.Call("POST", "/f/summer-party", "", answer), 0)
		w.expectCode("submitted by id", w.Call("POST", "/f/"+id, "", answer), 0)
		other := w.create(w.bob, "Bob's")
		w.expectCode("a custom link in use", w.Call("PATCH", "/api/v1/forms/"+other, w.bob, `{"slug": "summer-party"}`), 422001)
		w.expectCode("an invalid custom link", w.Call("PATCH", path, w.ada, `{"slug": "a b"}`), 422001)
		w.expectCode("remove the custom link", w.Call("PATCH", path, w.ada, `{"slug": ""}`), 0)
		w.expectCode("the custom link is released", w.Call("POST", "/f/summer-party", "", answer), 404002)
		w.expectCode("claimed by another account", w.Call("PATCH", "/api/v1/forms/"+other, w.bob, `{"slug": "summer-party"}`), 422001)
		w.expectCode("claimed again by its owner", w.Call("PATCH", path, w.ada, `{"slug": "summer-party"}`), 0)
		w.expectCode("release the option", w.Call("PATCH", path, w.ada, `{"slug": ""}`), 0)

		// Dates take effect immediately.
		soon := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
		past := time.Now().Add(-time.Hour).UTC().Format(time.RFC3339)
		dated := w.Call("PATCH", path, w.ada, `{"opens_at": "`+soon+`"}`)
		if !strings.HasPrefix(dated.String("opens_at"), strings.TrimSuffix(soon, "Z")) {
			t.Errorf("with dates: %s", dated.Text)
		}
		w.expectCode("before the opening date", w.Call("POST", "/f/"+id, "", answer), 409003)
		w.expectCode("closes before it opens", w.Call("PATCH", path, w.ada, `{"closes_at": "`+past+`"}`), 422001)
		w.expectCode("not a time", w.Call("PATCH", path, w.ada, `{"closes_at": "tomorrow"}`), 422001)
		for _, odd := range []string{"0001-01-01T00:00:00Z", "1999-12-31T23:59:59Z", "2000-01-01T00:00:00+01:00", "9999-12-31T23:59:59-01:00"} {
			w.expectCode("a time that no form can have", w.Call("PATCH", path, w.ada, `{"opens_at": "`+odd+`"}`), 422001)
		}
		closed := w.Call("PATCH", path, w.ada, `{"opens_at": "", "closes_at": "`+past+`"}`)
		if closed.String("status") != "closed" || closed.Body["opens_at"] != nil {
			t.Errorf("after its closing date: %s", closed.Text)
		}
		w.expectCode("after the closing date", w.Call("POST", "/f/"+id, "", answer), 409003)
		w.expectCode("open after the closing date", w.Call("POST", path+"/open", w.ada, ""), 422001)
		w.expectCode("without a date", w.Call("PATCH", path, w.ada, `{"closes_at": ""}`), 0)
		w.expectCode("open again", w.Call("POST", "/f/"+id, "", answer), 0)

		// Close and reopen without a new version.
		w.expectCode("close", w.Call("POST", path+"/close", w.ada, ""), 0)
		w.expectCode("closed", w.Call("POST", "/f/"+id, "", answer), 409003)
		opened := w.Call("POST", path+"/open", w.ada, "")
		if opened.String("status") != "open" || opened.Body["version"] != 1.0 {
			t.Errorf("opened: %s", opened.Text)
		}
		w.expectCode("open an open form", w.Call("POST", path+"/open", w.ada, ""), 409003)
	})
}

// A form accepts exactly as many responses as its limit, even if they arrive at the
// same time.
func TestResponseLimit(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		path := w.openForm(w.ada, order)
		w.Call("PATCH", path, w.ada, `{"response_limit": 7}`)
		public := "/f/" + strings.TrimPrefix(path, "/api/v1/forms/")
		var stored, refused int
		var mu sync.Mutex
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				a := w.Call("POST", public, "", `{"answers": {"email": "a@b.c"}}`)
				mu.Lock()
				defer mu.Unlock()
				switch {
				case a.StatusCode == 201:
					stored++
				case a.Code() == 409003:
					refused++
				default:
					t.Errorf("%d %s", a.StatusCode, a.Text)
				}
			})
		}
		all.Wait()
		f := w.Call("GET", path, w.ada, "")
		w.expectEqual("stored and rejected", []int{stored, refused}, []int{7, 13})
		w.expectFields("form at its limit", f, map[string]any{"status": "closed", "response_count": 7.0})
		if list := w.Call("GET", "/api/v1/forms?status=closed", w.ada, ""); list.Body["total_items"] != 1.0 {
			t.Errorf("not counted as closed: %s", list.Text)
		}
		w.expectCode("open a form at its limit", w.Call("POST", path+"/open", w.ada, ""), 422001)
		w.Call("PATCH", path, w.ada, `{"response_limit": 8}`)
		w.expectCode("open after raising the limit", w.Call("POST", path+"/open", w.ada, ""), 0)
		w.expectCode("submit up to the limit", w.Call("POST", public, "", `{"answers": {"email": "a@b.c"}}`), 0)
		w.expectCode("submit above the limit", w.Call("POST", public, "", `{"answers": {"email": "a@b.c"}}`), 409003)

		// A new limit that is already reached closes the form too.
		w.Call("PATCH", path, w.ada, `{"response_limit": 9}`)
		w.expectCode("opened", w.Call("POST", path+"/open", w.ada, ""), 0)
		if f := w.Call("PATCH", path, w.ada, `{"response_limit": 3}`); f.String("status") != "closed" {
			t.Errorf("over its limit: %s", f.Text)
		}
	})
}

// An option can be chosen up to its limit; deleting a response makes it available
// again.
func TestOptionLimits(t *testing.T) {
	const slots = `{"title": "Slots", "fields": [{"key": "when", "kind": "single_choice", "required": true, "options": [{"value": "am", "label": "Morning"%s}, {"value": "pm", "label": "Afternoon"}]}]}`
	forEachEngine(t, func(t *testing.T, w *fixture) {
		path := w.openForm(w.ada, fmt.Sprintf(slots, ""))
		public := "/f/" + strings.TrimPrefix(path, "/api/v1/forms/")
		first := w.Call("POST", public, "", `{"answers": {"when": "am"}}`)
		// A limit that is set later counts earlier responses.
		var f struct{ Fields []map[string]any }
		if err := json.Unmarshal([]byte(w.Call("GET", path, w.ada, "").Text), &f); err != nil {
			t.Fatal(err)
		}
		f.Fields[0]["options"] = []map[string]any{{"value": "am", "label": "Morning", "cap": 3}, {"value": "pm", "label": "Afternoon"}}
		body, _ := json.Marshal(map[string]any{"fields": f.Fields})
		w.expectCode("set the limit", w.Call("PATCH", path, w.ada, string(body)), 0)
		w.expectCode("published", w.Call("POST", path+"/publish", w.ada, ""), 0)
		var taken sync.WaitGroup
		var mu sync.Mutex
		stored := 0
		for range 8 {
			taken.Go(func() {
				a := w.Call("POST", public, "", `{"answers": {"when": "am"}}`)
				mu.Lock()
				defer mu.Unlock()
				if a.StatusCode == 201 {
					stored++
				} else if a.Code() != 422001 || !strings.Contains(a.Text, "no longer available") {
					t.Errorf("%s", a.Text)
				}
			})
		}
		taken.Wait()
		if stored != 2 {
			t.Errorf("%d stored in addition to the first", stored)
		}
		w.expectCode("the other option", w.Call("POST", public, "", `{"answers": {"when": "pm"}}`), 0)
		moved := w.Call("POST", public, "", `{"answers": {"when": "pm"}}`).String("id")
		w.expectCode("change to an option at its limit", w.Call("PATCH", path+"/responses/"+moved, w.ada, `{"answers": {"when": "am"}}`), 422001)
		w.expectCode("deleted", w.Call("DELETE", path+"/responses/"+first.String("id"), w.ada, ""), 0)
		w.expectCode("change to an available option", w.Call("PATCH", path+"/responses/"+moved, w.ada, `{"answers": {"when": "am"}}`), 0)
		w.expectCode("at the limit again", w.Call("POST", public, "", `{"answers": {"when": "am"}}`), 422001)
		w.expectCode("change to another option", w.Call("PATCH", path+"/responses/"+moved, w.ada, `{"answers": {"when": "pm"}}`), 0)
		w.expectCode("available again", w.Call("POST", public, "", `{"answers": {"when": "am"}}`), 0)
		if f := w.Call("GET", path, w.ada, ""); f.Body["response_count"] != 5.0 {
			t.Errorf("%s", f.Text)
		}
	})
}

func TestSites(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		path := w.openForm(w.ada, order)
		public := "/f/" + strings.TrimPrefix(path, "/api/v1/forms/")
		allowed := func(origin string) string {
			preflight := w.Call("OPTIONS", public, "", "", "Origin: "+origin, "Access-Control-Request-Method: POST", "Access-Control-Request-Headers: content-type,idempotency-key")
			sent := w.Call("POST", public, "", `{"answers": {"email": "a@b.c"}}`, "Origin: "+origin)
			w.expectStatus("preflight", preflight, http.StatusNoContent)
			w.expectStatus("submission", sent, 201)
			w.expectHeader("preflight", preflight.Header, "Access-Control-Allow-Headers", "Idempotency-Key")
			w.expectEqual("Vary", sent.Header.Get("Vary"), "Origin")
			allowed := sent.Header.Get("Access-Control-Allow-Origin")
			w.expectEqual("allowed origin of the preflight", preflight.Header.Get("Access-Control-Allow-Origin"), allowed)
			return allowed
		}
		if got := allowed("https://any.example"); got != "https://any.example" {
			t.Errorf("by default: %q", got)
		}
		chosen := w.Call("PATCH", path, w.ada, `{"sites": ["https://Mine.example/", "http://localhost:3000"]}`)
		if got, _ := json.Marshal(chosen.Body["sites"]); string(got) != `["http://localhost:3000","https://mine.example"]` {
			t.Errorf("allowed sites: %s", chosen.Text)
		}
		if allowed("https://mine.example") != "https://mine.example" || allowed("https://any.example") != "" || allowed("null") != "" {
			t.Error("CORS headers for a site that is not allowed")
		}
		bad := w.Call("POST", public, "", `{"answers": {}}`, "Origin: https://mine.example")
		if bad.Code() != 422001 || bad.Header.Get("Access-Control-Allow-Origin") != "https://mine.example" {
			t.Errorf("an error that the page cannot read: %v", bad.Header)
		}
		w.expectCode("allow no site", w.Call("PATCH", path, w.ada, `{"sites": []}`), 0)
		if allowed("https://mine.example") != "" {
			t.Error("no site is allowed, but one can submit")
		}
		for _, site := range []string{"example.com", "https://a.example/path", "javascript:x", "https://a b.example", "https://x.example; script-src *", "https://*.example"} {
			body, _ := json.Marshal(map[string]any{"sites": []string{site}})
			w.expectCode(site, w.Call("PATCH", path, w.ada, string(body)), 422001)
		}
	})
}

func TestVersionsAndCopies(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		path := w.openForm(w.ada, order)
		w.Call("PATCH", path, w.ada, `{"title": "Order 2", "slug": "order", "fields": [{"key": "email", "kind": "email"}], "endings": [{"title": "Bye"}], "settings": {"submit_label": "Go"}}`)
		w.expectCode("published again", w.Call("POST", path+"/publish", w.ada, ""), 0)
		list := w.Call("GET", path+"/versions?per_page=1", w.ada, "")
		newest := list.Body["data"].([]any)[0].(map[string]any)
		w.expectFields("versions", list, map[string]any{"total_items": 2.0, "total_pages": 2.0})
		w.expectEqual("newest version", []any{newest["version"], newest["title"]}, []any{2.0, "Order 2"})
		w.expectHeader("versions", list.Header, "Link", `rel="next"`)
		first := w.Call("GET", path+"/versions/1", w.ada, "")
		if len(first.Body["fields"].([]any)) != 3 || first.String("title") != "Order" || len(first.Body["endings"].([]any)) != 0 {
			t.Errorf("the first version: %s", first.Text)
		}
		for _, odd := range []string{"0", "3", "x", "01", "-1", "99999999999999999999"} {
			w.expectCode("version "+odd, w.Call("GET", path+"/versions/"+odd, w.ada, ""), 404002)
			w.expectCode("restore version "+odd, w.Call("POST", path+"/versions/"+odd+"/restore", w.ada, ""), 404002)
		}
		copied := w.Call("POST", path+"/duplicate", w.ada, "", "Idempotency-Key: once")
		again := w.Call("POST", path+"/duplicate", w.ada, "", "Idempotency-Key: once")
		w.expectStatus("copy", copied, 201)
		w.expectFields("copy", copied, map[string]any{"title": "Order 2 (copy)", "status": "draft"})
		w.expectEqual("custom link of the copy", copied.String("slug"), "")
		w.expectEqual("questions of the copy", len(copied.Body["fields"].([]any)), 1)
		w.expectEqual("settings of the copy", copied.Body["settings"].(map[string]any)["submit_label"], "Go")
		w.expectEqual("Location", copied.Header.Get("Location"), w.URL+"/api/v1/forms/"+copied.String("id"))
		w.expectEqual("repeated request", again.String("id"), copied.String("id"))
		long := w.create(w.ada, strings.Repeat("ü", 200))
		w.expectCode("a copy of a long title", w.Call("POST", "/api/v1/forms/"+long+"/duplicate", w.ada, ""), 0)
		restored := w.Call("POST", path+"/versions/1/restore", w.ada, "")
		w.expectFields("restored", restored, map[string]any{"title": "Order", "version": 2.0})
		w.expectEqual("questions of the restored version", len(restored.Body["fields"].([]any)), 3)
		w.expectCode("restored elsewhere", w.Call("POST", path+"/versions/1/restore", w.ada, "", `If-Match: "1"`), 409001)
	})
}

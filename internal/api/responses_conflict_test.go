package api_test

import (
	"fmt"
	"strings"
	"testing"
)

// With If-Match, a change of answers that somebody else has changed since is refused.
func TestResponseIfMatch(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		path := w.openForm(w.ada, order)
		response := path + "/responses/" + w.Call("POST", path+"/responses", w.ada, `{"answers": {"email": "mara@example.com"}}`).String("id")
		seen := w.Call("GET", response, w.ada, "").Header.Get("ETag")
		if len(seen) < 10 || seen[0] != '"' {
			t.Fatalf("ETag %q", seen)
		}
		// Marks and notes leave the tag as it is.
		w.Call("POST", response+"/notes", w.ada, `{"text": "Left-handed"}`)
		marked := w.Call("PATCH", response, w.ada, `{"status": "done", "tags": ["x"]}`, "If-Match: "+seen)
		if marked.StatusCode != 200 || marked.Header.Get("ETag") != seen {
			t.Errorf("marks: %d %s, want %s", marked.StatusCode, marked.Header.Get("ETag"), seen)
		}
		first := w.Call("PATCH", response, w.ada, `{"answers": {"email": "first@example.com"}}`, "If-Match: "+seen)
		if next := first.Header.Get("ETag"); first.StatusCode != 200 || next == seen || next != w.Call("GET", response, w.ada, "").Header.Get("ETag") {
			t.Errorf("the first edit: %d, ETag %s after %s", first.StatusCode, next, seen)
		}
		for _, tag := range []string{seen, `""`, `"`, "none", `W/` + first.Header.Get("ETag"), strings.Trim(first.Header.Get("ETag"), `"`)} {
			w.expectCode("answers with "+tag, w.Call("PATCH", response, w.ada, `{"answers": {"email": "second@example.com"}, "status": "new"}`, "If-Match: "+tag), 409001)
			w.expectCode("marks with "+tag, w.Call("PATCH", response, w.ada, `{"status": "new"}`, "If-Match: "+tag), 409001)
		}
		if now := w.Call("GET", response, w.ada, ""); !strings.Contains(now.Text, "first@example.com") || !strings.Contains(now.Text, `"status":"done"`) {
			t.Errorf("after refused changes: %s", now.Text)
		}
		for _, tag := range []string{"*", first.Header.Get("ETag")} {
			w.expectStatus("with "+tag, w.Call("PATCH", response, w.ada, `{"status": "read"}`, "If-Match: "+tag), 200)
		}
		w.expectCode("of another account", w.Call("PATCH", response, w.bob, `{"status": "read"}`, "If-Match: "+seen), 404002)
	})
}

func TestMarkManyResponses(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		path, other := w.openForm(w.ada, order), w.openForm(w.ada, order)
		var ids []string
		for range 3 {
			ids = append(ids, w.Call("POST", path+"/responses", w.ada, `{"answers": {"email": "mara@example.com"}}`).String("id"))
		}
		foreign := w.Call("POST", other+"/responses", w.ada, `{"answers": {"email": "mara@example.com"}}`).String("id")
		list := `"` + strings.Join(ids, `","`) + `"`
		mark := func(token, responses, change string) (int, any) {
			a := w.Call("PATCH", path+"/responses/marks", token, `{"responses": [`+responses+`], `+change+`}`)
			if a.StatusCode == 200 {
				return 200, a.Body["changed"]
			}
			return a.Code(), nil
		}
		for _, step := range []struct {
			responses, change string
			want              string
		}{
			{list, `"status": "done", "starred": true, "tags": ["A", "B"]`, "200 3"},
			{list, `"status": "done"`, "200 0"},
			{list + `,"` + foreign + `","rsp_01k9z8m7q3e4r5t6y7v8w9x0a1","x"`, `"add_tags": ["c"], "remove_tags": ["a"]`, "200 3"},
			{`"` + ids[0] + `","` + ids[0] + `"`, `"status": "new"`, "200 1"},
			{`"` + foreign + `"`, `"status": "read"`, "200 0"},
			{list, `"tags": ["a,b"]`, "422001 <nil>"},
			{list, `"status": "open"`, "422001 <nil>"},
			{list, `"remove_tags": ["` + strings.Repeat(`x","`, 30) + `"]`, "422001 <nil>"},
			{``, `"status": "new"`, "422001 <nil>"},
			{strings.Repeat(`"`+ids[0]+`",`, 200) + list, `"status": "new"`, "422001 <nil>"},
		} {
			code, changed := mark(w.ada, step.responses, step.change)
			if got := fmt.Sprint(code, " ", changed); got != step.want {
				t.Errorf("%s: %s, want %s", step.change, got, step.want)
			}
		}
		if totals := w.Call("GET", path+"/responses/marks", w.ada, ""); totals.Text != `{"new":1,"read":0,"done":2,"starred":3,"tags":[{"name":"B","responses":3},{"name":"c","responses":3}]}` {
			t.Errorf("totals: %s", totals.Text)
		}
		if totals := w.Call("GET", other+"/responses/marks", w.ada, ""); !strings.Contains(totals.Text, `"new":1,"read":0`) {
			t.Errorf("totals of the other form: %s", totals.Text)
		}
		if code, _ := mark(w.ada, list, `"colour": "red"`); code != 400002 {
			t.Errorf("an unknown property: %d", code)
		}
		w.expectCode("nothing to change", w.Call("PATCH", path+"/responses/marks", w.ada, `{"responses": [`+list+`]}`), 422001)
		if code, _ := mark(w.bob, list, `"status": "new"`); code != 404002 {
			t.Errorf("another account: %d", code)
		}
	})
}

package api_test

import (
	"strings"
	"testing"
)

func TestResponseMarks(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		path := w.openForm(w.ada, order)
		id := w.Call("POST", path+"/responses", w.ada, `{"answers": {"email": "mara@example.com"}}`).String("id")
		response := path + "/responses/" + id
		read := w.Call("GET", response, w.ada, "")
		if !strings.Contains(read.Text, `"status":"new","starred":false,"tags":[],"note_count":0`) {
			t.Fatalf("a new response: %s", read.Text)
		}
		marked := w.Call("PATCH", response, w.ada, `{"status": "done", "starred": true, "tags": ["Deposit", "  gift "]}`)
		if marked.StatusCode != 200 || !strings.Contains(marked.Text, `"status":"done","starred":true,"tags":["Deposit","gift"],"note_count":0`) || strings.Contains(marked.Text, "edited_at") {
			t.Errorf("marked: %s", marked.Text)
		}
		if list := w.Call("GET", path+"/responses", w.ada, ""); !strings.Contains(list.Text, `"tags":["Deposit","gift"]`) {
			t.Errorf("the list: %s", list.Text)
		}
		if feed := w.Call("GET", path+"/responses?after=", w.ada, ""); strings.Contains(feed.Text, `"status"`) {
			t.Errorf("the feed: %s", feed.Text)
		}
		// Answers and marks change together or not at all.
		w.expectCode("invalid answers", w.Call("PATCH", response, w.ada, `{"status": "new", "answers": {"email": "no"}}`), 422001)
		w.expectCode("an invalid tag", w.Call("PATCH", response, w.ada, `{"answers": {"email": "lena@example.com"}, "tags": ["a,b"]}`), 422001)
		both := w.Call("PATCH", response, w.ada, `{"answers": {"email": "lena@example.com"}, "status": "read", "tags": []}`)
		if both.StatusCode != 200 || !strings.Contains(both.Text, `"status":"read","starred":true,"tags":[]`) || !strings.Contains(both.Text, "lena@") || !strings.Contains(both.Text, "edited_at") {
			t.Errorf("answers and marks: %s", both.Text)
		}
		for body, code := range map[string]int{
			`{}`: 422001, `{"status": "open"}`: 422001, `{"tags": null}`: 422001, `{"tags": [1]}`: 422001, `{"colour": "red"}`: 400002,
			`{"tags": ["` + strings.Repeat("x", 41) + `"]}`: 422001, `{"tags": ["` + strings.Repeat(`x","`, 30) + `"]}`: 422001,
		} {
			w.expectCode(body, w.Call("PATCH", response, w.ada, body), code)
		}
		totals := w.Call("GET", path+"/responses/marks", w.ada, "")
		if totals.Text != `{"new":0,"read":1,"done":0,"starred":1,"tags":[]}` {
			t.Errorf("totals: %q", totals.Text)
		}

		w.Call("PATCH", response, w.ada, `{"tags": ["Gift", "=cmd()"]}`)
		for query, want := range map[string]string{
			"format=csv&header=keys&marks=true": "id,submitted_at,version,status,starred,tags,email", "format=csv&header=keys": "id,submitted_at,version,email",
			"format=csv&marks=true": `read,true,"Gift, =cmd()",lena@`, "format=jsonl&marks=true": `"status":"read","starred":true,"tags":["Gift","=cmd()"]}`,
		} {
			if file := w.Call("GET", path+"/responses/export?"+query, w.ada, ""); !strings.Contains(file.Text, want) {
				t.Errorf("export with %s: %s", query, file.Text)
			}
		}

		note := w.Call("POST", response+"/notes", w.ada, `{"text": "Left-handed"}`, "Idempotency-Key: one")
		again := w.Call("POST", response+"/notes", w.ada, `{"text": "Left-handed"}`, "Idempotency-Key: one")
		if note.StatusCode != 201 || again.Text != note.Text || note.String("author_id") == "" {
			t.Errorf("a note: %s\n%s", note.Text, again.Text)
		}
		w.expectCode("another body", w.Call("POST", response+"/notes", w.ada, `{"text": "Right-handed"}`, "Idempotency-Key: one"), 409002)
		w.expectCode("an empty note", w.Call("POST", response+"/notes", w.ada, `{"text": " "}`), 422001)
		one := response + "/notes/" + note.String("id")
		if changed := w.Call("PATCH", one, w.ada, `{"text": "Wheel 4"}`); changed.String("text") != "Wheel 4" {
			t.Errorf("changed: %s", changed.Text)
		}
		w.expectCode("a note of Ada, by Bob", w.Call("PATCH", one, w.bob, `{"text": "Mine"}`), 404002)
		w.expectCode("deleted by Bob", w.Call("DELETE", one, w.bob, ""), 404002)
		if list := w.Call("GET", response+"/notes", w.ada, ""); list.Body["total_items"] != 1.0 || !strings.Contains(list.Text, "Wheel 4") {
			t.Errorf("notes: %s", list.Text)
		}
		w.expectStatus("deleted", w.Call("DELETE", one, w.ada, ""), 204)
		w.expectCode("deleted again", w.Call("DELETE", one, w.ada, ""), 404002)
		if read := w.Call("GET", response, w.ada, ""); !strings.Contains(read.Text, `"note_count":0`) {
			t.Errorf("after the note: %s", read.Text)
		}
	})
}

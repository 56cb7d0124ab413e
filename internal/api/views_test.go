package api_test

import (
	"fmt"
	"strings"
	"testing"
)

func TestViews(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		path, sent := w.fill()
		all := path + "/views"
		body := `{"name": " Guests ", "filter": {"search": "soup", "days": 7, "status": "new", "starred": true, "tags": ["vip"], "answers": [{"field": "guests", "op": "at_least", "value": "2"}, {"field": "song", "op": "answered"}], "sort": "-guests", "columns": ["who.given", "guests"]}}`
		made := w.Call("POST", all, w.ada, body, "Idempotency-Key: v1")
		w.expectCode("create", made, 0)
		if made.StatusCode != 201 || !strings.HasPrefix(made.String("id"), "viw_") || made.String("name") != "Guests" || !strings.HasSuffix(made.Header.Get("Location"), all+"/"+made.String("id")) {
			t.Errorf("created: %s %v", made.Text, made.Header)
		}
		if again := w.Call("POST", all, w.ada, body, "Idempotency-Key: v1"); again.String("id") != made.String("id") {
			t.Errorf("repeated: %s", again.Text)
		}
		w.expectCode("another body", w.Call("POST", all, w.ada, `{"name": "X", "filter": {}}`, "Idempotency-Key: v1"), 409002)
		one := all + "/" + made.String("id")
		read := w.Call("GET", one, w.ada, "")
		if fmt.Sprint(read.Body["filter"]) != fmt.Sprint(made.Body["filter"]) || !strings.Contains(read.Text, `{"field":"song","op":"answered"}`) {
			t.Errorf("read: %s", read.Text)
		}
		if renamed := w.Call("PATCH", one, w.ada, `{"name": "VIP"}`); renamed.String("name") != "VIP" || !strings.Contains(renamed.Text, `"search":"soup"`) {
			t.Errorf("renamed: %s", renamed.Text)
		}
		if changed := w.Call("PATCH", one, w.ada, `{"filter": {"since": "2026-01-31"}}`); changed.String("name") != "VIP" || strings.Contains(changed.Text, "soup") {
			t.Errorf("changed: %s", changed.Text)
		}
		for field, filter := range map[string]string{
			"answers[0]": `{"answers": [{"field": "nothing", "op": "equals", "value": "1"}]}`, "answers[1]": `{"answers": [{"field": "song", "op": "answered"}, {"field": "guests", "op": "less", "value": "few"}]}`,
			"since": `{"since": "soon"}`, "until": `{"until": "2026-02-31"}`,
			"answers[0].value": `{"answers": [{"field": "song", "op": "contains", "value": "` + strings.Repeat("é", 1001) + `"}]}`,
			"answers[0].field": `{"answers": [{"field": "guests.` + strings.Repeat("x", 400) + `", "op": "answered"}]}`,
		} {
			a := w.Call("POST", all, w.ada, `{"name": "a", "filter": `+filter+`}`)
			w.expectCode(filter, a, 422001)
			if !strings.Contains(a.Text, `"field":"`+field+`"`) {
				t.Errorf("%s: %s", filter, a.Text)
			}
		}
		if longest := w.Call("POST", all, w.ada, `{"name": "a", "filter": {"answers": [{"field": "song", "op": "contains", "value": "`+strings.Repeat("é", 1000)+`"}]}}`); longest.StatusCode != 201 {
			t.Errorf("the longest value: %s", longest.Text)
		} else {
			w.Call("DELETE", all+"/"+longest.String("id"), w.ada, "")
		}
		w.expectCode("a blank name", w.Call("POST", all, w.ada, `{"name": " ", "filter": {}}`), 422001)
		w.expectCode("a large view", w.Call("POST", all, w.ada, `{"name": "a", "filter": {"columns": ["`+strings.Repeat("x", 17<<10)+`"]}}`), 422001)
		w.expectCode("unknown field", w.Call("POST", all, w.ada, `{"name": "a", "filters": {}}`), 400002)

		for method, body := range map[string]string{"GET": "", "PATCH": `{"name": "Mine"}`, "DELETE": ""} {
			w.expectCode(method+" somebody else's", w.Call(method, one, w.bob, body), 404002)
		}
		w.expectCode("somebody else's list", w.Call("GET", all, w.bob, ""), 404002)
		w.expectCode("somebody else's form", w.Call("POST", all, w.bob, `{"name": "a", "filter": {}}`), 404002)
		w.expectCode("somebody else's form and no name", w.Call("POST", all, w.bob, `{"name": "", "filter": {}}`), 404002)
		other := w.openForm(w.ada, party)
		w.expectCode("another form", w.Call("GET", other+"/views/"+made.String("id"), w.ada, ""), 404002)
		reads, writes := w.Token(ada, w.app, "responses:read").Access, w.Token(ada, w.app, "responses:write").Access
		w.expectCode("list with the wrong scope", w.Call("GET", all, writes, ""), 403001)
		for method, path := range map[string]string{"POST": all, "PATCH": one, "DELETE": one} {
			w.expectCode(method+" with the wrong scope", w.Call(method, path, reads, body), 403001)
		}
		for range 49 {
			w.Call("POST", all, w.ada, `{"name": "More", "filter": {}}`)
		}
		w.expectCode("too many", w.Call("POST", all, w.ada, `{"name": "More", "filter": {}}`), 409004)
		list := w.Call("GET", all+"?per_page=20&page=3", w.ada, "")
		if list.Body["total_items"] != 50.0 || list.Body["total_pages"] != 3.0 || len(list.Body["data"].([]any)) != 10 || list.Header.Get("Link") == "" {
			t.Errorf("the list is %s", list.Text)
		}
		if gone := w.Call("DELETE", one, w.ada, ""); gone.StatusCode != 204 {
			t.Errorf("deleted: %d", gone.StatusCode)
		}
		w.expectCode("deleted", w.Call("GET", one, w.ada, ""), 404002)

		// Marks are filters of the list.
		w.Call("PATCH", path+"/responses/"+sent[1].String("id"), w.ada, `{"status": "done", "starred": true, "tags": ["VIP"]}`)
		for query, want := range map[string]float64{"status=done": 1, "status=new": 2, "starred=true": 1, "tag=vip": 1, "tag=other": 0, "status=done&answers[coming]=true": 0} {
			if a := w.Call("GET", path+"/responses?"+query, w.ada, ""); a.Body["total_items"] != want {
				t.Errorf("%s: %s", query, a.Text)
			}
		}
		w.expectCode("an unknown status", w.Call("GET", path+"/responses?status=lost", w.ada, ""), 400001)
	})
}

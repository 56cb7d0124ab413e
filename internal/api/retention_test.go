package api_test

import "testing"

func TestRetention(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		path := w.openForm(w.ada, order)
		retention := path + "/retention"
		if a := w.Call("GET", retention, w.ada, ""); a.StatusCode != 200 || a.Text != `{"days":0,"deleted":0}` {
			t.Errorf("at first: %d %s", a.StatusCode, a.Text)
		}
		set := w.Call("PUT", retention, w.ada, `{"days": 30}`)
		starts := set.String("starts_at")
		if set.StatusCode != 200 || set.Body["days"] != 30.0 || starts == "" {
			t.Errorf("set: %d %s", set.StatusCode, set.Text)
		}
		if a := w.Call("PUT", retention, w.ada, `{"days": 30}`); a.String("starts_at") != starts {
			t.Errorf("the same again starts anew: %s, then %s", starts, a.Text)
		}
		for body, code := range map[string]int{
			`{}`: 422001, `{"days": -1}`: 422001, `{"days": 3651}`: 422001, `{"days": 1.5}`: 422001, `{"days": "30"}`: 422001, `{"days": 1e30}`: 422001,
			`{"days": 9223372036854775808}`: 422001, `{"days": null}`: 422001, `{"days": 1, "starts_at": "2020-01-01T00:00:00Z"}`: 400002, ` `: 400002,
		} {
			w.expectCode(body, w.Call("PUT", retention, w.ada, body), code)
		}
		reader := w.PersonalToken(ada, "Reader", "forms:read", "responses:write")
		w.expectCode("without forms:write", w.Call("PUT", retention, reader, `{"days": 1}`), 403001)
		w.expectCode("read by Bob", w.Call("GET", retention, w.bob, ""), 404002)
		w.expectCode("set by Bob", w.Call("PUT", retention, w.bob, `{"days": 1}`), 404002)
		copied := w.Call("POST", path+"/duplicate", w.ada, "")
		if a := w.Call("GET", "/api/v1/forms/"+copied.String("id")+"/retention", w.ada, ""); a.Body["days"] != 30.0 {
			t.Errorf("of a copy: %s", a.Text)
		}
		if a := w.Call("PUT", retention, w.ada, `{"days": 0}`); a.Text != `{"days":0,"deleted":0}` {
			t.Errorf("at the end: %s", a.Text)
		}
	})
}

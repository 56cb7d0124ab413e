package api_test

import (
	"fmt"
	"net/url"
	"testing"
)

// A search matches the content of answers and not their encoding; a choice matches
// exactly. Deletion by filter deletes what the filter finds.
func TestSearchAndFilter(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		path := w.openForm(w.ada, `{"title": "Sought", "fields": [{"key": "email", "kind": "short_text"}, {"key": "n", "kind": "number"}, {"key": "who", "kind": "name"},
			{"key": "multi", "kind": "multiple_choice", "other": true, "options": [{"value": "a", "label": "Ape"}, {"value": "A", "label": "Apple"}, {"value": "b", "label": "Bee"}]},
			{"key": "grid", "kind": "matrix", "several": true, "rows": [{"value": "r1", "label": "One"}], "options": [{"value": "x", "label": "X"}, {"value": "X", "label": "Big X"}, {"value": "y", "label": "Y"}]}]}`)
		for _, answers := range []string{
			`{"email": "one", "multi": ["a", "b"], "n": 42.5}`,
			`{"email": "He said \"hi\" back\\slash", "multi": ["A"], "grid": {"r1": ["x", "y"]}}`,
			`{"email": "İstanbul ΟΔΟΣ ÄRGER", "multi": ["A", "a,b"], "grid": {"r1": ["X"]}}`,
			`{"email": "50% <of> it_all", "who": {"given": "Ada", "family": "Null"}, "n": 7}`,
		} {
			w.expectCode("send", w.Call("POST", path+"/responses", w.ada, `{"answers": `+answers+`}`), 0)
		}
		for query, want := range map[string]float64{
			"search=email": 0, "search=multi": 0, "search=given": 0, "search=%22": 1, "search=:": 0, "search={": 0, "search=%5B": 0, "search=null": 1,
			`search="hi"`: 1, `search=back\slash`: 1, "search=HE+SAID": 1, "search=42.5": 1, "search=42": 1, "search=ada": 1,
			"search=İstanbul": 1, "search=ΟΔΟΣ": 1, "search=ärger": 1, "search=50%": 1, "search=_all": 1, "search=0_": 0, "search=<of>": 1, "search=,": 1,
			"search=true": 0, "search=bee": 1,
			"answers[multi]=a": 1, "answers[multi]=A": 2, "answers[multi]=b": 1, "answers[multi]=,": 0, "answers[multi]=, ": 0, "answers[multi]=a,b": 1,
			"answers[grid.r1]=x": 1, "answers[grid.r1]=X": 1, "answers[grid.r1]=,": 0, "answers[n]=7": 1, "answers[n]=4": 0, "answers[who.given]=Ada": 1, "answers[email]=one": 1,
		} {
			// Names and values with all special characters escaped.
			values := url.Values{}
			for i := range query {
				if query[i] == '=' {
					value, err := url.QueryUnescape(query[i+1:])
					if err != nil {
						value = query[i+1:]
					}
					values.Set(query[:i], value)
					break
				}
			}
			if a := w.Call("GET", path+"/responses?"+values.Encode(), w.ada, ""); a.Body["total_items"] != want {
				t.Errorf("%s finds %v, want %v: %s", query, a.Body["total_items"], want, a.Text)
			}
		}
		for _, query := range []string{"answers[multi=a", "answers[multi]x=a", "answers[]=a", "since=2020-01-01T00:00:00Z&answers[multi=a"} {
			w.expectCode("GET "+query, w.Call("GET", path+"/responses?"+query, w.ada, ""), 400001)
			w.expectCode("DELETE "+query, w.Call("DELETE", path+"/responses?"+query, w.ada, ""), 400001)
		}
		w.expectCode("a slash in a name", w.Call("DELETE", path+"%2Fresponses?all=true", w.ada, ""), 404001)
		if a := w.Call("DELETE", path+"/responses?search=email", w.ada, ""); a.Body["deleted"] != 0.0 {
			t.Errorf("deleted: %s", a.Text)
		}
		if a := w.Call("DELETE", path+"/responses?answers[multi]=a", w.ada, ""); a.Body["deleted"] != 1.0 {
			t.Errorf("deleted: %s", a.Text)
		}
	})
}

// A question with a new key is still the same question; another question that reuses
// its old key is not.
func TestFilterAcrossKeys(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		const definition = `{"title": "Renamed", "fields": [{"id": "f1", "key": "%s", "kind": "short_text"}, {"id": "f2", "key": "%s", "kind": "short_text"}]}`
		path := w.openForm(w.ada, fmt.Sprintf(definition, "q", "other"))
		send := func(key string) {
			w.expectCode("send", w.Call("POST", path+"/responses", w.ada, fmt.Sprintf(`{"answers": {%q: "a"}}`, key)), 0)
		}
		publish := func(first, second string) {
			w.expectCode("rename", w.Call("PATCH", path, w.ada, fmt.Sprintf(definition, first, second)), 0)
			w.expectCode("publish", w.Call("POST", path+"/publish", w.ada, ""), 0)
		}
		send("q")
		send("q")
		publish("r", "other")
		send("r")
		found := func(key string, want float64) {
			t.Helper()
			if a := w.Call("GET", path+"/responses?answers["+key+"]=a", w.ada, ""); a.Body["total_items"] != want {
				t.Errorf("%s: %v, want %v", key, a.Body["total_items"], want)
			}
		}
		found("r", 3)
		found("q", 3)
		publish("r", "q") // the other question has the key q now
		send("q")
		found("r", 3)
		found("q", 1)
		found("other", 1)
	})
}

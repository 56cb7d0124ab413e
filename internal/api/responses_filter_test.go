package api_test

import (
	"archive/zip"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"formulary/internal/cli/clitest"
)

const party = `{"title": "Party", "fields": [
	{"key": "who", "kind": "name", "label": "Who?"},
	{"key": "food", "kind": "multiple_choice", "label": "Food", "options": [{"value": "rice", "label": "Rice"}, {"value": "soup", "label": "Soup"}], "other": true},
	{"key": "guests", "kind": "number", "label": "Guests"},
	{"key": "song", "kind": "short_text", "label": "=Song"},
	{"key": "coming", "kind": "yes_no", "label": "Coming?"},
	{"key": "nps", "kind": "scale", "label": "Would you?"},
	{"key": "day", "kind": "matrix", "label": "Days", "rows": [{"value": "sat", "label": "Saturday"}], "options": [{"value": "am", "label": "Morning"}, {"value": "pm", "label": "Evening"}]},
	{"key": "order", "kind": "ranking", "label": "Order", "options": [{"value": "x", "label": "X"}, {"value": "y", "label": "Y"}]},
	{"key": "cost", "kind": "calculated", "label": "Cost", "expression": "guests * 2.5"}]}`

var guests = []string{
	`{"who": {"given": "Ada", "family": "Lovelace"}, "food": ["rice", "soup"], "guests": 2, "song": "=1+1", "coming": true, "nps": 10, "day": {"sat": "am"}, "order": ["x", "y"]}`,
	`{"who": {"given": "Bob"}, "food": ["Käse \"alt\""], "guests": 0.1, "song": "ÜBER <den> Wolken & mehr", "coming": false, "nps": 0, "order": ["y", "x"]}`,
	`{"food": ["soup"], "guests": 0.2, "song": "100% _sure_", "coming": true, "nps": 9, "day": {"sat": "pm"}}`,
}

// fill creates the party form and submits the responses of the guests.
func (w *fixture) fill() (path string, sent []clitest.Response) {
	w.t.Helper()
	path = w.openForm(w.ada, party)
	for _, answers := range guests {
		a := w.Call("POST", path+"/responses", w.ada, `{"answers": `+answers+`}`)
		if a.StatusCode != 201 {
			w.t.Fatalf("%s", a.Text)
		}
		sent = append(sent, a)
	}
	return path, sent
}

func TestResponseFilters(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		path, sent := w.fill()
		second := url.QueryEscape(sent[1].String("submitted_at"))
		for query, want := range map[string]string{
			"": "3 2 1", "search=wolken": "2", "search=%C3%BCber": "2", "search=100%25+_": "3", "search=%3Cden%3E": "2", "search=nobody": "", "search=%25": "3",
			"answers[food]=soup": "3 1", "answers[food]=rice": "1", "answers[food]=sou": "", "answers[food]=K%C3%A4se+%22alt%22": "2", "answers[coming]=true": "3 1", "answers[guests]=0.1": "2", "answers[guests]=2.0": "1",
			"answers[who.given]=Ada": "1", "answers[day.sat]=pm": "3", "answers[coming]=true&answers[food]=rice": "1", "answers[cost]=5": "1", "answers[order]=y&search=bob": "2",
			"answers[song]=" + url.QueryEscape("ÜBER <den> Wolken & mehr"): "2", "version=1": "3 2 1", "version=2": "",
			"since=" + second: "3 2", "until=" + second: "1", "since=" + second + "&until=" + second: "", "since=2020-01-01T00:00:00%2B02:00": "3 2 1", "until=2020-01-01T00:00:00Z": "",
			"answers[coming]=true&per_page=1&page=2": "1",
			"answers[guests:at_least]=0.2":           "3 1", "answers[guests:at_least]=0.2&answers[guests:less]=2": "3", "answers[food:not_contains]=soup": "2", "answers[song:contains]=WOLKEN": "2",
			"answers[who:not_answered]=": "3", "answers[day.sat:not_equals]=pm": "2 1", "answers[coming:equals]=false": "2",
		} {
			a := w.Call("GET", path+"/responses?"+query, w.ada, "")
			var got []string
			data, _ := a.Body["data"].([]any)
			for _, r := range data {
				for i, s := range sent {
					if r.(map[string]any)["id"] == s.String("id") {
						got = append(got, fmt.Sprint(i+1))
					}
				}
			}
			total := float64(len(strings.Fields(want)))
			if strings.Contains(query, "page=2") {
				total = 2
			}
			if strings.Join(got, " ") != want || a.Body["total_items"] != total {
				t.Errorf("%s: %v of %v, want %s\n%s", query, got, a.Body["total_items"], want, a.Text)
			}
		}
		for _, query := range []string{"since=yesterday", "until=1", "version=-1", "version=x", "answers[nothing]=1", "answers[guests]=many", "answers[coming]=perhaps", "answers[food]=a&answers[food]=b", "answers[day.$x]=a", "search=%00", "answers[guests:like]=1", "answers[guests:less]=few", "answers[:less]=1"} {
			w.expectCode(query, w.Call("GET", path+"/responses?"+query, w.ada, ""), 400001)
		}
		// The feed takes the same filters.
		for query, n := range map[string]int{"answers[coming]=true": 2, "version=9": 0, "since=2100-01-01T00:00:00Z": 0, "search=": len(sent)} {
			if data, _ := w.Call("GET", path+"/responses?after=&"+query, w.ada, "").Body["data"].([]any); len(data) != n {
				t.Errorf("feed with %s: %d, want %d", query, len(data), n)
			}
		}
		w.expectCode("feed", w.Call("GET", path+"/responses?after=&answers[nothing]=1", w.ada, ""), 400001)
		link := w.Call("GET", path+"/responses?per_page=1&answers[coming]=true", w.ada, "").Header.Get("Link")
		if !strings.Contains(link, "answers%5Bcoming%5D=true&page=2&per_page=1>; rel=\"next\"") {
			t.Errorf("Link is %s", link)
		}
		// Deletion by filter deletes what the filter selects, and requires one.
		w.expectCode("delete without a filter", w.Call("DELETE", path+"/responses", w.ada, ""), 400001)
		if a := w.Call("DELETE", path+"/responses?answers[coming]=true", w.ada, ""); a.Body["deleted"] != 2.0 {
			t.Errorf("deleted: %s", a.Text)
		}
		if a := w.Call("GET", path+"/responses", w.ada, ""); a.Body["total_items"] != 1.0 {
			t.Errorf("remaining: %s", a.Text)
		}
		// A misspelled filter is an error, so it deletes nothing.
		for _, query := range []string{"version=1&answer[coming]=true", "until=2100-01-01T00:00:00Z&serach=x", "all=true&x=", "version=1&answers=x"} {
			w.expectCode(query, w.Call("DELETE", path+"/responses?"+query, w.ada, ""), 400001)
		}
		if a := w.Call("DELETE", path+"/responses?all=true", w.ada, ""); a.Body["deleted"] != 1.0 {
			t.Errorf("deleted: %s", a.Text)
		}
	})
}

func TestExport(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		path, sent := w.fill()
		file := w.Call("GET", path+"/responses/export", w.ada, "")
		rows, err := csv.NewReader(strings.NewReader(file.Text)).ReadAll()
		if err != nil || len(rows) != 4 {
			t.Fatalf("%v\n%s", err, file.Text)
		}
		w.expectEqual("Content-Type", file.Header.Get("Content-Type"), "text/csv; charset=utf-8")
		w.expectHeader("export", file.Header, "Content-Disposition", ".csv")
		if got := strings.Join(rows[0], "|"); got != "Response ID|Submitted at|Version|Who?: First name|Who?: Last name|Food|Guests|'=Song|Coming?|Would you?|Days: Saturday|Order|Cost" {
			t.Errorf("header %s", got)
		}
		if got := strings.Join(rows[1], "|"); got != sent[0].String("id")+"|"+sent[0].String("submitted_at")+"|1|Ada|Lovelace|Rice; Soup|2|'=1+1|true|10|Morning|X; Y|5" {
			t.Errorf("row %s", got)
		}
		keys := w.Call("GET", path+"/responses/export?header=keys&answers[coming]=true", w.ada, "")
		rows, err = csv.NewReader(strings.NewReader(keys.Text)).ReadAll()
		if err != nil || len(rows) != 3 {
			t.Fatalf("%v %s", err, keys.Text)
		}
		w.expectEqual("header with keys", strings.Join(rows[0][3:], "|"), "who.given|who.family|food|guests|song|coming|nps|day.sat|order|cost")
		w.expectEqual("cells with values", []string{rows[1][5], rows[2][10]}, []string{"rice; soup", "pm"})
		lines := strings.Split(strings.TrimSpace(w.Call("GET", path+"/responses/export?format=jsonl", w.ada, "").Text), "\n")
		for i, line := range lines {
			var r struct {
				ID       string
				Answers  map[string]any
				Metadata map[string]any
			}
			if err := json.Unmarshal([]byte(line), &r); err != nil || r.Answers["nps"] == nil {
				t.Errorf("%v %s", err, line)
			}
			w.expectEqual("line", []any{r.ID, r.Metadata["source"]}, []any{sent[i].String("id"), "api"})
		}
		book := w.Call("GET", path+"/responses/export?format=xlsx", w.ada, "")
		files, err := zip.NewReader(strings.NewReader(book.Text), int64(len(book.Text)))
		if err != nil || len(files.File) < 5 || len(lines) != 3 {
			t.Errorf("%v %d lines", err, len(lines))
		}
		if a := w.Call("GET", path+"/responses/export?format=&header=", w.ada, ""); a.StatusCode != 200 || !strings.HasPrefix(a.Header.Get("Content-Type"), "text/csv") {
			t.Errorf("no format: %d %v", a.StatusCode, a.Header)
		}
		w.expectCode("unknown format", w.Call("GET", path+"/responses/export?format=pdf", w.ada, ""), 400001)
		w.expectCode("Bob", w.Call("GET", path+"/responses/export", w.bob, ""), 404002)
		w.expectCode("without the scope", w.Call("GET", path+"/responses/export", w.Token(ada, w.app, "forms:read").Access, ""), 403001)
		// An export contains questions that a later version removed, and a renamed key
		// stays one column.
		var f struct{ Fields []map[string]any }
		if err := json.Unmarshal([]byte(w.Call("GET", path, w.ada, "").Text), &f); err != nil {
			t.Fatal(err)
		}
		f.Fields[3]["key"] = "music"
		body, _ := json.Marshal(map[string]any{"fields": f.Fields[2:4]})
		w.expectCode("changed", w.Call("PATCH", path, w.ada, string(body)), 0)
		w.expectCode("published", w.Call("POST", path+"/publish", w.ada, ""), 0)
		w.expectCode("sent", w.Call("POST", path+"/responses", w.ada, `{"answers": {"music": "new"}}`), 0)
		all := w.Call("GET", path+"/responses/export?header=keys", w.ada, "").Text
		rows, err = csv.NewReader(strings.NewReader(all)).ReadAll()
		if err != nil || len(rows) != 5 {
			t.Fatalf("%v %s", err, all)
		}
		w.expectEqual("header of all versions", strings.Join(rows[0][3:7], "|"), "guests|music|who.given|who.family")
		w.expectEqual("cells of all versions", []string{rows[1][4], rows[1][5], rows[4][4]}, []string{"'=1+1", "Ada", "new"})
	})
}

func TestChangeResponse(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		path, sent := w.fill()
		one := path + "/responses/" + sent[0].String("id")
		changed := w.Call("PATCH", one, w.ada, `{"answers": {"guests": 4, "song": null}}`)
		answers := changed.Body["answers"].(map[string]any)
		got := []any{answers["guests"], answers["song"], answers["cost"], answers["nps"]}
		w.expectEqual("guests, song, cost and nps", got, []any{4.0, nil, 10.0, 10.0})
		if changed.Body["metadata"].(map[string]any)["edited_at"] == nil {
			t.Errorf("no time of the edit: %s", changed.Text)
		}
		if read := w.Call("GET", one, w.ada, ""); !reflect.DeepEqual(read.Body, changed.Body) {
			t.Errorf("read: %s", read.Text)
		}
		w.expectCode("wrong answer", w.Call("PATCH", one, w.ada, `{"answers": {"guests": "many"}}`), 422001)
		w.expectCode("unknown question", w.Call("PATCH", one, w.ada, `{"answers": {"x": 1}}`), 422001)
		w.expectCode("Bob", w.Call("PATCH", one, w.bob, `{"answers": {}}`), 404002)
		w.expectCode("unknown response", w.Call("PATCH", path+"/responses/rsp_01k9z8m7q3e4r5t6y7v8w9x0a1", w.ada, `{"answers": {}}`), 404002)
	})
}

func TestSummary(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		path, sent := w.fill()
		question := func(a clitest.Response, key string) map[string]any {
			for _, q := range a.Body["questions"].([]any) {
				if q := q.(map[string]any); q["key"] == key {
					return q
				}
			}
			return nil
		}
		choice := func(q map[string]any, value string) map[string]any {
			for _, c := range q["choices"].([]any) {
				if c := c.(map[string]any); c["value"] == value {
					return c
				}
			}
			return map[string]any{}
		}
		sum := w.Call("GET", path+"/summary", w.ada, "")
		food := question(sum, "food")
		got := map[string]any{
			"responses":      sum.Body["responses"],
			"average guests": question(sum, "guests")["average"],
			"nps":            question(sum, "nps")["nps"],
			"songs":          question(sum, "song")["answered"],
			"names":          question(sum, "who")["answered"],
			"soup":           choice(food, "soup")["count"],
			"other food":     choice(food, "_other")["count"],
			"label of rice":  choice(food, "rice")["label"],
			"share coming":   choice(question(sum, "coming"), "true")["share"],
			"row":            choice(question(sum, "day"), "am")["row"],
			"average rank":   choice(question(sum, "order"), "x")["average_place"],
		}
		w.expectEqual("summary", got, map[string]any{
			"responses": 3.0, "average guests": 2.3000000000000003 / 3, "nps": 33.0, "songs": 3.0, "names": 2.0,
			"soup": 2.0, "other food": 1.0, "label of rice": "Rice", "share coming": 2.0 / 3, "row": "sat", "average rank": 1.5,
		})
		if len(sum.Body["days"].([]any)) == 0 {
			t.Errorf("no days: %s", sum.Text)
		}
		w.expectCode("Bob", w.Call("GET", path+"/summary", w.bob, ""), 404002)
		// Edited and deleted answers no longer count.
		w.expectCode("deleted", w.Call("DELETE", path+"/responses/"+sent[1].String("id"), w.ada, ""), 0)
		w.expectCode("changed", w.Call("PATCH", path+"/responses/"+sent[0].String("id"), w.ada, `{"answers": {"coming": false}}`), 0)
		sum = w.Call("GET", path+"/summary", w.ada, "")
		coming := question(sum, "coming")
		counts := []any{sum.Body["responses"], choice(coming, "true")["count"], choice(coming, "false")["count"], question(sum, "guests")["average"]}
		w.expectEqual("responses, coming, not coming and average guests", counts, []any{2.0, 1.0, 1.0, 1.1})
	})
}

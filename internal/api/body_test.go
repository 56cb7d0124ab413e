package api

import (
	"reflect"
	"runtime"
	"strings"
	"testing"

	"formulary/internal/fault"
)

// Submissions use the same strict parser as all other bodies.
func TestParseSubmission(t *testing.T) {
	accepted := map[string]Answers{
		`{"answers":{}}`: {},
		`{"answers": {"name": "Ada Lovelace", "score": 9, "size": "medium"}}`: {"name": "Ada Lovelace", "score": 9.0, "size": "medium"},
		`{"answers":{"a":-0.5,"c":[true,false,null],"d":{"e":["x"],"f":{}},"":[]}}`: {
			"a": -0.5, "c": []any{true, false, nil}, "d": map[string]any{"e": []any{"x"}, "f": map[string]any{}}, "": []any{},
		},
		" {\n\t\"answers\" :\r{ \"größe\" : \"für 10 €\" } } \n": {"größe": "für 10 €"},
		`{"answers":{"n":"\u00e4 a\"b","m":1e3,"o":null}}`:       {"n": `ä a"b`, "m": 1000.0, "o": nil},
	}
	for text, want := range accepted {
		var got Submission
		if err := parseBody([]byte(text), &got); err != nil || !reflect.DeepEqual(got.Answers, want) {
			t.Errorf("%s is read as %#v, %v", text, got.Answers, err)
		}
	}
	refused := []string{
		``, ` `, `[]`, `null`, `"x"`, `{"answers"}`, `{"answers":null}`, `{"answers":[1]}`, `{"answers":{"n":1}`, `{"answers":{"n":1}}}`, `{"answers":{"n":1}} 1`,
		`{"answers":{"n":1,"n":2}}`, `{"answers":{"n":{"m":1,"m":1}}}`, `{"answers":{},"answers":{}}`, // duplicate keys
		`{"answers":{"n":1},"x":2}`, `{"x":1,"answers":{}}`, `{"Answers":{}}`, // unknown fields
		`{"answers":{"n":01}}`, `{"answers":{"n":-}}`, `{"answers":{"n":1.}}`, `{"answers":{"n":.5}}`, `{"answers":{"n":+1}}`, `{"answers":{"n":1e400}}`,
		`{"answers":{"n":0x1}}`, `{"answers":{"n":truely}}`, `{"answers":{"n":nul}}`, `{"answers":{"n":NaN}}`,
		`{"answers":{"n":1,}}`, `{"answers":{,"n":1}}`, `{"answers":{"n" 1}}`, `{"answers":{n:1}}`, `{"answers":{"n":[1,]}}`, `{"answers":{"n":[1 2]}}`,
		`{"answers":{"n":"x`, "{\"answers\":{\"n\":\"\x01\"}}", "{\"answers\":{\"n\":\"\xff\"}}", `{"answers":{"n":"\ud800"}}`, "\ufeff{\"answers\":{}}",
		`{"answers":{"n":` + strings.Repeat(`[`, maxDepth) + strings.Repeat(`]`, maxDepth) + `}}`,
	}
	for _, text := range refused {
		var got Submission
		err := parseBody([]byte(text), &got)
		if code := fault.Wrap(err).Code; err == nil || code != fault.BadJSON && code != fault.Invalid {
			t.Errorf("%s is read as %#v, %v", text, got.Answers, err)
		}
	}
}

// null is allowed inside answers. Anywhere else, the error names its position.
func TestParseNull(t *testing.T) {
	for text, field := range map[string]string{
		`{"title": null}`:                          "title",
		`{"title": "answers", "language": null}`:   "language",
		`{"fields": [{"key": "a", "kind": null}]}`: "fields.0.kind",
		`{"fields": [{"key": "answers"}, null]}`:   "fields.1",
	} {
		err := rejectNull([]byte(text))
		if e := fault.Wrap(err); e.Code != fault.Invalid || len(e.Details) != 1 || e.Details[0].Field != field {
			t.Errorf("%s: %v", text, err)
		}
	}
	if err := rejectNull([]byte(`{"x": {"y": 1}, "answers": {"a": null, "b": [null, {"c": null}]}}`)); err != nil {
		t.Error(err)
	}
}

// Many nulls below a long name: the name must not be copied for each of them.
func TestParseManyNulls(t *testing.T) {
	const nulls = 20_000
	text := []byte(`{"answers":{"` + strings.Repeat("n", 100_000) + `":[` + strings.Repeat("null,", nulls) + `null]}}`)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if err := rejectNull(text); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 16<<20 {
		t.Errorf("%d bytes allocated for a body of %d", used, len(text))
	}
}

func BenchmarkParseSubmission(b *testing.B) {
	text := []byte(`{"answers": {"name": "Ada Lovelace", "mail": "ada@example.com", "score": 9, "size": "medium", "remark": "On Tuesday, if you can."}}`)
	for b.Loop() {
		if err := parseBody(text, new(Submission)); err != nil {
			b.Fatal(err)
		}
	}
}

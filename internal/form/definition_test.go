package form

import (
	"encoding/json"
	"net/url"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"formulary/internal/fault"
)

func define(t testing.TB, text string) *Definition {
	t.Helper()
	var d Definition
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		t.Fatal(err)
	}
	if err := d.Normalize(); err != nil {
		t.Fatal(err)
	}
	return &d
}

// check returns the answers to store.
func (d *Definition) check(sent map[string]any) (map[string]any, error) {
	e, err := d.Validate(sent)
	if err != nil {
		return nil, err
	}
	return e.Answers, nil
}

// sample has one field of every kind.
const sample = `{"fields": [
	{"kind": "short_text", "label": "Your nickname?", "max_length": 20, "required": true},
	{"kind": "long_text", "key": "story"},
	{"kind": "email", "key": "mail"}, {"kind": "url", "key": "site"}, {"kind": "phone", "key": "tel"},
	{"kind": "number", "key": "age", "min": 0, "max": 150, "step": 1}, {"kind": "slider", "key": "loud"},
	{"kind": "rating", "key": "stars"}, {"kind": "scale", "key": "nps"},
	{"kind": "yes_no", "key": "shirt"}, {"kind": "consent", "key": "terms", "required": true},
	{"kind": "single_choice", "key": "size", "options": [{"label": "Small"}, {"value": "m", "label": "Medium"}], "show_if": {"field": "shirt", "op": "equals", "value": true}},
	{"kind": "multiple_choice", "key": "tags", "options": [{"value": "a"}, {"value": "b"}, {"value": "c"}], "other": true, "max_picks": 3},
	{"kind": "dropdown", "key": "city", "options": [{"value": "bonn", "label": "Bonn"}]},
	{"kind": "ranking", "key": "order", "options": [{"value": "x"}, {"value": "y"}]},
	{"kind": "matrix", "key": "grid", "rows": [{"value": "r1"}, {"value": "r2"}], "options": [{"value": "good"}, {"value": "bad"}]},
	{"kind": "page_break", "label": "Second page", "key": "second"},
	{"kind": "date", "key": "day", "earliest": "2020-01-01"}, {"kind": "time", "key": "hour"}, {"kind": "datetime", "key": "start"},
	{"kind": "name", "key": "who"}, {"kind": "address", "key": "home"}, {"kind": "country", "key": "land"},
	{"kind": "file", "key": "cv", "accept": ["pdf", "image"], "max_files": 2}, {"kind": "signature", "key": "sign"},
	{"kind": "picture_choice", "key": "dish", "several": true, "options": [{"value": "pie", "image": "fil_01kgd4rh5vf69b91fnpw8qc2zt", "alt": "A pie"}, {"value": "cake"}]},
	{"kind": "hidden", "key": "source"}, {"kind": "calculated", "key": "twice", "expression": "age * 2 + len(tags)"}, {"kind": "statement", "text": "**Thanks**"}
]}`

func TestKeysOfLabels(t *testing.T) {
	for label, key := range map[string]string{
		"Your nickname?": "your_nickname", "Straße & Größe": "strasse_grosse", "Où êtes-vous né ?": "ou_etes_vous_ne", "İsim ılık": "isim_ilik",
		"2 guests": "guests", "ﬁnal": "final", "اسم": "none", "???": "none",
	} {
		if got := slug(label, "none"); got != key {
			t.Errorf("%q is %q, want %q", label, got, key)
		}
	}
}

func TestEveryKindIsSampled(t *testing.T) {
	d := define(t, sample)
	for _, k := range Kinds() {
		if !slices.ContainsFunc(d.Fields, func(f *Field) bool { return f.Kind == k.Name() }) {
			t.Errorf("no %s in the sample", k.Name())
		}
	}
	if d.Fields[0].Key != "your_nickname" || d.Fields[11].Options[0].Value != "small" {
		t.Errorf("key %q, value %q", d.Fields[0].Key, d.Fields[11].Options[0].Value)
	}
	// Normalizing twice changes nothing.
	before, _ := json.Marshal(d)
	if err := d.Normalize(); err != nil {
		t.Fatal(err)
	}
	if after, _ := json.Marshal(d); string(before) != string(after) {
		t.Errorf("normalized twice:\n%s\n%s", before, after)
	}
}

func TestDefinitionMistakes(t *testing.T) {
	for _, c := range []struct{ text, field string }{
		{`{"fields": [{"kind": "nonsense"}]}`, "fields.0.kind"},
		{`{"fields": [{"kind": "short_text", "key": "A"}]}`, "fields.0.key"},
		{`{"fields": [{"kind": "short_text", "key": "a"}, {"kind": "email", "key": "a"}]}`, "fields.1.key"},
		{`{"fields": [{"kind": "short_text", "options": [{"label": "x"}]}]}`, "fields.0.options"},
		{`{"fields": [{"kind": "single_choice"}]}`, "fields.0.options"},
		{`{"fields": [{"kind": "single_choice", "options": [{"value": "a"}, {"value": "a"}]}]}`, "fields.0.options.1.value"},
		{`{"fields": [{"kind": "single_choice", "options": [{}]}]}`, "fields.0.options.0.label"},
		{`{"fields": [{"kind": "number", "min": 2, "max": 1}]}`, "fields.0.max"},
		{`{"fields": [{"kind": "number", "step": 0}]}`, "fields.0.step"},
		{`{"fields": [{"kind": "rating", "max": 11}]}`, "fields.0.max"},
		{`{"fields": [{"kind": "date", "earliest": "yesterday"}]}`, "fields.0.earliest"},
		{`{"fields": [{"kind": "statement"}]}`, "fields.0.text"},
		{`{"fields": [{"kind": "statement", "text": "x", "required": true}]}`, "fields.0.required"},
		{`{"fields": [{"kind": "short_text", "label": "a\u0000"}]}`, "fields.0.label"},
		{`{"fields": [{"kind": "email", "key": "a", "default": "nonsense"}]}`, "fields.0.default"},
		{`{"fields": [{"kind": "email", "key": "a", "show_if": {"field": "b", "op": "answered"}}, {"kind": "email", "key": "b"}]}`, "fields.0.show_if"},
		{`{"fields": [{"kind": "email", "key": "a", "show_if": {"field": "a", "op": "answered"}}]}`, "fields.0.show_if"},
		{`{"fields": [{"kind": "email", "key": "a"}, {"kind": "email", "key": "b", "show_if": {"field": "a", "op": "like", "value": "x"}}]}`, "fields.1.show_if"},
		{`{"fields": [{"kind": "email", "key": "a"}, {"kind": "email", "key": "b", "show_if": {"field": "a", "op": "equals"}}]}`, "fields.1.show_if"},
		{`{"fields": [{"kind": "email", "key": "a"}, {"kind": "email", "key": "b", "show_if": {}}]}`, "fields.1.show_if"},
		{`{"fields": [{"kind": "statement", "text": "x", "key": "a"}, {"kind": "email", "key": "b", "show_if": {"field": "a", "op": "answered"}}]}`, "fields.1.show_if"},
		{`{"fields": [{"kind": "file", "accept": ["svg"]}]}`, "fields.0.accept"},
		{`{"fields": [{"kind": "file", "accept": ["pdf", "pdf"]}]}`, "fields.0.accept"},
		{`{"fields": [{"kind": "file", "max_files": 21}]}`, "fields.0.max_files"},
		{`{"fields": [{"kind": "file", "max_size_mb": 0}]}`, "fields.0.max_size_mb"},
		{`{"fields": [{"kind": "signature", "max_files": 2}]}`, "fields.0.max_files"},
		{`{"fields": [{"kind": "picture_choice"}]}`, "fields.0.options"},
		{`{"fields": [{"kind": "picture_choice", "options": [{"value": "a", "image": "frm_1"}]}]}`, "fields.0.options.0.image"},
		{`{"fields": [{"kind": "picture_choice", "options": [{"value": "a", "alt": "a\nb"}]}]}`, "fields.0.options.0.alt"},
		{`{"fields": [{"kind": "picture_choice", "max_picks": 1, "options": [{"value": "a"}]}]}`, "fields.0.max_picks"},
		{`{"fields": [{"kind": "single_choice", "options": [{"value": "a", "alt": "A pie"}]}]}`, "fields.0.options.0.image"},
		{`{"fields": [null]}`, "fields.0"},
		{`{"fields": [{"kind": "dropdown", "options": [` + strings.Repeat(`{"label": "x"},`, 1000) + `{"label": "x"}]}]}`, "fields.0.options"},
		{`{"fields": [` + strings.Repeat(`{"kind": "email"},`, 500) + `{"kind": "email"}]}`, "fields"},
		{`{"fields": [` + strings.Repeat(`{"kind": "statement", "text": "`+strings.Repeat("x", 19_000)+`"},`, 14) + `{"kind": "email"}]}`, "fields"},
	} {
		var d Definition
		if err := json.Unmarshal([]byte(c.text), &d); err != nil {
			t.Fatal(err)
		}
		e := fault.Wrap(d.Normalize())
		if e.Code != fault.Invalid || len(e.Details) == 0 || e.Details[0].Field != c.field {
			t.Errorf("%.100s: %v, want %s", c.text, e, c.field)
		}
	}
}

func TestAnswers(t *testing.T) {
	d := define(t, sample)
	base := map[string]any{"your_nickname": "Ada", "terms": true}
	good := map[string][]any{ // by key: submitted, stored
		"story": {"a\r\nb ", "a\nb"}, "mail": {" a@b.c", "a@b.c"}, "site": {"https://x.example/y", "https://x.example/y"}, "tel": {"+49 228 123-45", "+49 228 123-45"},
		"age": {36.0, 36.0}, "loud": {0.0, 0.0}, "stars": {5.0, 5.0}, "nps": {0.0, 0.0}, "shirt": {false, false},
		"tags": {[]any{"c", "own words", "a", "c"}, []string{"a", "c", "own words"}}, "city": {"bonn", "bonn"}, "order": {[]any{"y", "x"}, []string{"y", "x"}},
		"grid": {map[string]any{"r1": "bad"}, map[string]any{"r1": "bad"}}, "day": {"2026-02-28", "2026-02-28"}, "hour": {"23:59", "23:59"},
		"start": {"2026-05-31T17:30", "2026-05-31T17:30"}, "who": {map[string]any{"given": "Ada", "family": " L "}, map[string]any{"given": "Ada", "family": "L"}},
		"home": {map[string]any{"line1": "Here 1", "country": "DE"}, map[string]any{"line1": "Here 1", "country": "DE"}}, "land": {"FR", "FR"}, "source": {"mail", "mail"},
	}
	for key, pair := range good {
		sent := map[string]any{key: pair[0]}
		for k, v := range base {
			sent[k] = v
		}
		got, err := d.check(sent)
		if err != nil || !reflect.DeepEqual(got[key], pair[1]) {
			t.Errorf("%s: %v is stored as %v (%v)", key, pair[0], got[key], err)
		}
	}
	bad := map[string][]any{
		"your_nickname": {5.0, "a\nb", strings.Repeat("x", 21), "", "\x00", "\xff"}, "story": {true, "\x07", strings.Repeat("x", 20_001)},
		"mail": {"nonsense", "ada@example", "a@b, c@d", "Ada <a@b.c>"}, "site": {"javascript:alert(1)", "example.com", "https://", "https://u:p@x"}, "tel": {"call me", "123", "++49228123"},
		"age": {"36", -1.0, 151.0, 1.5}, "loud": {101.0}, "stars": {0.0, 6.0, 2.5}, "nps": {-1.0, 11.0}, "shirt": {"yes", 1.0}, "terms": {false, "on"},
		"tags": {"a", []any{"x", "y"}, []any{1.0}, []any{"a", "b", "c", "d"}, []any{""}}, "city": {"koeln", []any{"bonn"}}, "order": {[]any{"x", "y", "x"}, []any{"x", "x"}, []any{"x", "z"}, "x"},
		"grid": {map[string]any{"r9": "bad"}, map[string]any{"r1": "ugly"}, "bad"}, "day": {"2026-02-30", "31.12.2026", "2019-12-31", "2026-2-1"}, "hour": {"24:00", "9:00"},
		"start": {"2026-05-31", "2026-05-31T25:00"}, "who": {"Ada", map[string]any{"nick": "x"}, map[string]any{"given": 1.0}}, "home": {map[string]any{"country": "XX"}},
		"land": {"Germany", "de", "ZZ", "EU"}, "source": {strings.Repeat("x", 1001)}, "unknown": {"x"}, "twice": {1.0}, "second": {"x"},
	}
	for key, values := range bad {
		for _, value := range values {
			sent := map[string]any{"your_nickname": "Ada", "terms": true, key: value}
			_, err := d.check(sent)
			e := fault.Wrap(err)
			if err == nil || e.Code != fault.Invalid || e.Details[0].Field != key {
				t.Errorf("%s: %v is accepted (%v)", key, value, err)
			}
		}
	}
}

// Errors for numbers and dates name the nearest valid values.
func TestNearestAnswers(t *testing.T) {
	d := define(t, `{"fields": [
		{"kind": "number", "key": "n", "min": 1, "max": 10, "step": 4}, {"kind": "number", "key": "small", "step": 0.1},
		{"kind": "date", "key": "day", "earliest": "2020-01-02"}, {"kind": "datetime", "key": "start", "latest": "2020-12-31T18:00"}, {"kind": "time", "key": "hour", "earliest": "08:00"}]}`)
	for _, c := range []struct {
		key   string
		value any
		want  string
	}{
		{"n", 6.0, "enter a nearby value, such as 5 or 9"}, {"n", 9.5, "enter a nearby value, such as 9"}, {"small", 0.25, "enter a nearby value, such as 0.2 or 0.3"},
		{"small", -0.05, "enter a nearby value, such as -0.1 or 0"}, {"day", "2020-01-01", "enter 2 January 2020 or later"},
		{"start", "2021-01-01T00:00", "enter 31 December 2020, 18:00 or earlier"}, {"hour", "07:00", "enter 08:00 or later"},
	} {
		_, err := d.check(map[string]any{c.key: c.value})
		if got := fault.Wrap(err).Details; len(got) != 1 || got[0].Message != c.want {
			t.Errorf("%s %v: %v", c.key, c.value, got)
		}
	}
}

func TestConditions(t *testing.T) {
	d := define(t, sample)
	// A question that is not shown is not required, and an answer to it is dropped.
	got, err := d.check(map[string]any{"your_nickname": "A", "terms": true, "shirt": false, "size": "m"})
	if err != nil || got["size"] != nil {
		t.Errorf("%v (%v)", got, err)
	}
	got, err = d.check(map[string]any{"your_nickname": "A", "terms": true, "shirt": true, "size": "m"})
	if err != nil || got["size"] != "m" {
		t.Errorf("%v (%v)", got, err)
	}
	// The questions of a page that is not shown are not shown either.
	pages := define(t, `{"fields": [{"kind": "yes_no", "key": "more"}, {"kind": "page_break", "show_if": {"field": "more", "op": "equals", "value": true}},
		{"kind": "short_text", "key": "a", "required": true}, {"kind": "page_break", "key": "p3"}, {"kind": "short_text", "key": "b"}]}`)
	if got, err := pages.check(map[string]any{"more": false, "a": "x", "b": "y"}); err != nil || got["a"] != nil || got["b"] != "y" {
		t.Errorf("%v (%v)", got, err)
	}
	if _, err := pages.check(map[string]any{"more": true}); err == nil {
		t.Error("the question of the second page is not shown")
	}
}

// The same cases run in a browser, against the same logic in JavaScript.
func TestConditionCases(t *testing.T) {
	text, err := os.ReadFile("testdata/conditions.json")
	if err != nil {
		t.Fatal(err)
	}
	var shared struct {
		Answers map[string]any
		Cases   []struct {
			Condition Condition `json:"if"`
			Holds     bool
		}
	}
	if err := json.Unmarshal(text, &shared); err != nil {
		t.Fatal(err)
	}
	for key, answer := range shared.Answers {
		if list, ok := answer.([]any); ok {
			shared.Answers[key] = StringSlice(list)
		}
	}
	if len(shared.Cases) < 25 {
		t.Fatalf("only %d cases", len(shared.Cases))
	}
	for _, c := range shared.Cases {
		if c.Condition.Matches(shared.Answers) != c.Holds {
			text, _ := json.Marshal(c.Condition)
			t.Errorf("%s is %v", text, !c.Holds)
		}
	}
}

// A form post results in the same answers as JSON.
func TestParseForm(t *testing.T) {
	d := define(t, sample)
	in := url.Values{
		"your_nickname": {" Ada "}, "terms": {"on"}, "age": {"36"}, "loud": {"7,0"}, "shirt": {"no"}, "loud.none": {""}, "tags": {"a", "_other"}, "tags.other": {" mine "},
		"order.x": {"2"}, "order.y": {"1"}, "grid.r1": {"good"}, "who.given": {"Ada"}, "home.city": {"Bonn"}, "city": {""}, "mail": {" "}, "unknown": {"dropped"},
	}
	got, err := d.check(d.ParseForm(in))
	want := map[string]any{
		"your_nickname": "Ada", "terms": true, "twice": 74.0, "age": 36.0, "loud": 7.0, "shirt": false, "tags": []string{"a", "mine"}, "order": []string{"y", "x"},
		"grid": map[string]any{"r1": "good"}, "who": map[string]any{"given": "Ada"}, "home": map[string]any{"city": "Bonn"},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v (%v)", got, err)
	}
	// Text for "other" does not count if the box beside it is not checked.
	in["tags"] = []string{"a"}
	if got := d.ParseForm(in)["tags"]; !reflect.DeepEqual(got, []any{"a"}) {
		t.Errorf("text for other, not checked: %v", got)
	}
	choice := &Field{Key: "c", Kind: "single_choice", Other: true, Options: []Option{{Value: "a"}}}
	for own, want := range map[string]any{"mine": "mine", " ": nil} {
		if got := KindOf(choice.Kind).ParseForm(choice, url.Values{"c.other": {own}}); got != want {
			t.Errorf("%q, other not checked: %v", own, got)
		}
	}
	if got := KindOf(choice.Kind).ParseForm(choice, url.Values{"c": {"a"}, "c.other": {"mine"}}); got != "a" {
		t.Errorf("checked together with an option: %v", got)
	}
	for _, bad := range []url.Values{{"age": {"old"}}, {"shirt": {"maybe"}}, {"tags": {"_other"}}, {"order.x": {"1"}, "order.y": {"1"}}, {"order.x": {"0"}}, {"order.x": {"first"}}, {"terms": {"no"}}} {
		for _, key := range []string{"your_nickname", "terms"} {
			if bad[key] == nil {
				bad[key] = in[key]
			}
		}
		if got, err := d.check(d.ParseForm(bad)); err == nil {
			t.Errorf("%v is accepted as %v", bad, got)
		}
	}
}

// Any input is either accepted or rejected without a panic, and accepted answers are
// accepted again unchanged.
func FuzzAnswers(f *testing.F) {
	f.Add(`{"your_nickname": "Ada", "terms": true, "tags": ["a", "x"], "grid": {"r1": "good"}}`)
	f.Add(`{"your_nickname": null, "terms": [], "age": 1e400}`)
	f.Add(`{"who": {"given": ""}, "home": {"country": "DE"}, "order": ["x", "y"], "day": "2026-01-01"}`)
	d := define(f, sample)
	f.Fuzz(func(t *testing.T, text string) {
		var sent map[string]any
		if json.Unmarshal([]byte(text), &sent) != nil {
			return
		}
		got, err := d.check(sent)
		if err != nil {
			if fault.Wrap(err).Code != fault.Invalid {
				t.Fatal(err)
			}
			return
		}
		stored, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		var again map[string]any
		if err := json.Unmarshal(stored, &again); err != nil {
			t.Fatal(err)
		}
		delete(again, "twice") // calculated, so it cannot be submitted
		twice, err := d.check(again)
		if err != nil || !reflect.DeepEqual(got, twice) {
			t.Fatalf("%s: %v then %v (%v)", text, got, twice, err)
		}
	})
}

// Any definition is either accepted or rejected without a panic.
func FuzzDefinition(f *testing.F) {
	f.Add(sample)
	f.Add(`{"fields": [{"kind": "email", "key": "a", "show_if": {"not": {"all": [{"any": []}]}}}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		var d Definition
		if json.Unmarshal([]byte(text), &d) != nil {
			return
		}
		if err := d.Normalize(); err != nil {
			return
		}
		if _, err := json.Marshal(d.Schema()); err != nil {
			t.Fatal(err)
		}
		d.Validate(map[string]any{})
		d.Validate(d.ParseForm(url.Values{}))
	})
}

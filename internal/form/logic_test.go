package form

import (
	"encoding/json"
	"maps"
	"reflect"
	"strings"
	"testing"
	"time"

	"formulary/internal/fault"
)

// order is a form with jumps, endings and calculations.
const order = `{"fields": [
	{"kind": "single_choice", "key": "what", "options": [{"value": "tea"}, {"value": "cake"}, {"value": "nothing"}],
	 "jumps": [{"if": {"field": "what", "op": "equals", "value": "nothing"}, "to": "bye"}, {"if": {"field": "what", "op": "equals", "value": "cake"}, "to": "cakes"}]},
	{"kind": "page_break", "key": "teas"}, {"kind": "short_text", "key": "leaf", "required": true, "jumps": [{"to": "last"}]},
	{"kind": "page_break", "key": "cakes"}, {"kind": "number", "key": "pieces", "required": true}, {"kind": "calculated", "key": "price", "expression": "pieces * 2.5"},
	{"kind": "calculated", "key": "size", "expression": "price > 10 ? \"big\" : \"small\""},
	{"kind": "page_break", "key": "last"}, {"kind": "name", "key": "who", "label": "Who gets {{ leaf }}?"}, {"kind": "statement", "text": "That is {{price}}, a {{size}} order."}],
	"endings": [{"key": "thanks", "title": "Thanks, {{who}}", "show_if": {"field": "price", "op": "greater", "value": 10}}, {"title": "Fine"}, {"key": "bye", "redirect": "https://example.com/bye?w={{what}}"}]}`

func TestJumpsAndEndings(t *testing.T) {
	d := define(t, order)
	if d.Endings[1].Key != "fine" {
		t.Errorf("the second ending is %q", d.Endings[1].Key)
	}
	for _, c := range []struct {
		name         string
		sent, stored map[string]any
		ending       string
	}{
		{"to an ending", map[string]any{"what": "nothing", "leaf": "x", "pieces": 3.0}, map[string]any{"what": "nothing"}, "bye"},
		{"over a page", map[string]any{"what": "cake", "leaf": "x", "pieces": 8.0}, map[string]any{"what": "cake", "pieces": 8.0, "price": 20.0, "size": "big"}, "thanks"},
		{"by the ending's condition", map[string]any{"what": "cake", "pieces": 1.0}, map[string]any{"what": "cake", "pieces": 1.0, "price": 2.5, "size": "small"}, "fine"},
		{"without a condition", map[string]any{"what": "tea", "leaf": "green", "pieces": 3.0}, map[string]any{"what": "tea", "leaf": "green"}, "fine"},
	} {
		e, err := d.Validate(c.sent)
		if err != nil || !reflect.DeepEqual(e.Answers, c.stored) || d.EndingOf(e).Key != c.ending {
			t.Errorf("%s: %v, %s (%v)", c.name, e.Answers, d.EndingOf(e).Key, err)
		}
	}
	if _, err := d.Validate(map[string]any{"what": "tea"}); err == nil || fault.Wrap(err).Details[0].Field != "leaf" {
		t.Errorf("a page that is not skipped is not required: %v", err)
	}
	if required := d.Schema()["required"].([]string); len(required) != 0 {
		t.Errorf("questions after a jump are required: %v", required)
	}
	changed, err := d.Revalidate(map[string]any{"what": "cake", "pieces": 2.0, "price": 20.0, "size": "big"})
	if err != nil || changed.Answers["price"] != 5.0 || changed.Answers["size"] != "small" {
		t.Errorf("calculated again: %v (%v)", changed.Answers, err)
	}
}

func TestReferenceMistakes(t *testing.T) {
	for _, c := range []struct{ text, field string }{
		{`{"fields": [{"kind": "short_text", "key": "a", "jumps": [{"to": "nowhere"}]}]}`, "fields.0.jumps"},
		{`{"fields": [{"kind": "page_break", "key": "p"}, {"kind": "short_text", "key": "a", "jumps": [{"to": "p"}]}]}`, "fields.1.jumps"},
		{`{"fields": [{"kind": "short_text", "key": "a", "jumps": [null]}]}`, "fields.0.jumps"},
		{`{"fields": [{"kind": "short_text", "key": "a", "jumps": [{"to": "p", "if": {"field": "b", "op": "answered"}}]}, {"kind": "page_break", "key": "p"}, {"kind": "email", "key": "b"}]}`, "fields.0.jumps"},
		{`{"fields": [{"kind": "short_text", "key": "a", "label": "{{b}}"}, {"kind": "email", "key": "b"}]}`, "fields.0.label"},
		{`{"fields": [{"kind": "short_text", "key": "a", "help": "{{a}}"}]}`, "fields.0.help"},
		{`{"fields": [{"kind": "calculated", "key": "a"}]}`, "fields.0.expression"},
		{`{"fields": [{"kind": "calculated", "key": "a", "expression": "a + 1"}]}`, "fields.0.expression"},
		{`{"fields": [{"kind": "calculated", "key": "a", "expression": "b + 1"}, {"kind": "number", "key": "b"}]}`, "fields.0.expression"},
		{`{"fields": [{"kind": "number", "key": "b"}, {"kind": "calculated", "key": "a", "expression": "b > 1"}]}`, "fields.1.expression"},
		{`{"fields": [{"kind": "calculated", "key": "a", "expression": "let x = 1; x"}]}`, "fields.0.expression"},
		{`{"fields": [{"kind": "number", "key": "b"}, {"kind": "calculated", "key": "a", "expression": "b > 1 ? 1 : \"x\""}]}`, "fields.1.expression"},
		{`{"fields": [{"kind": "dropdown", "key": "b", "options": [{"value": "x"}]}, {"kind": "calculated", "key": "a", "expression": "b == \"y\" ? 1 : 2"}]}`, "fields.1.expression"},
		{`{"fields": [{"kind": "multiple_choice", "key": "b", "options": [{"value": "x"}]}, {"kind": "calculated", "key": "a", "expression": "\"y\" in b ? 1 : 2"}]}`, "fields.1.expression"},
		{`{"fields": [{"kind": "calculated", "key": "a", "expression": "len(1..1000000000)"}]}`, "fields.0.expression"},
		{`{"fields": [{"kind": "calculated", "key": "a", "expression": "sum(map([1], # + 1))"}]}`, "fields.0.expression"},
		{`{"fields": [{"kind": "calculated", "key": "a", "expression": "repeat(\"x\", 1000000)"}]}`, "fields.0.expression"},
		{`{"fields": [{"kind": "calculated", "key": "a", "expression": "` + strings.Repeat("1+", 400) + `1"}]}`, "fields.0.expression"},
		{`{"fields": [{"kind": "calculated", "key": "a", "required": true, "expression": "1"}]}`, "fields.0.required"},
		{`{"fields": [{"kind": "ranking", "key": "a", "options": [{"value": "x", "cap": 1}, {"value": "y"}]}]}`, "fields.0.options"},
		{`{"fields": [{"kind": "dropdown", "key": "a", "options": [{"value": "x", "cap": -1}]}]}`, "fields.0.options.0.cap"},
		{`{"fields": [], "endings": [{"redirect": "javascript:alert(1)"}]}`, "endings.0.redirect"},
		{`{"fields": [{"kind": "short_text", "key": "a"}], "endings": [{"redirect": "https://{{a}}.example/"}]}`, "endings.0.redirect"},
		{`{"fields": [{"kind": "short_text", "key": "a"}], "endings": [{"redirect": "https://{{a}}"}]}`, "endings.0.redirect"},
		{`{"fields": [{"kind": "short_text", "key": "a"}], "endings": [{"redirect": "https://example.com{{a}}?b"}]}`, "endings.0.redirect"},
		{`{"fields": [{"kind": "short_text", "key": "a"}], "endings": [{"key": "a"}]}`, "endings.0.key"},
		{`{"fields": [], "endings": [{"title": "{{x}}"}]}`, "endings.0.title"},
		{`{"fields": [], "endings": [{"show_if": {"field": "x", "op": "answered"}}]}`, "endings.0.show_if"},
		{`{"fields": [], "settings": {"submit_label": "a\nb"}}`, "settings.submit_label"},
	} {
		var d Definition
		if err := json.Unmarshal([]byte(c.text), &d); err != nil {
			t.Fatal(err)
		}
		err := d.Normalize()
		if err == nil || fault.Wrap(err).Details[0].Field != c.field {
			t.Errorf("%s: %v %v", c.text, err, fault.Wrap(err).Details)
		}
	}
}

// Lists are equal regardless of order, except for rankings.
func TestEqualLists(t *testing.T) {
	d := define(t, `{"fields": [{"key": "r", "kind": "ranking", "options": [{"value": "a"}, {"value": "b"}]}, {"key": "m", "kind": "multiple_choice", "options": [{"value": "a"}, {"value": "b"}]},
		{"key": "first", "kind": "short_text", "show_if": {"field": "r", "op": "equals", "value": ["a", "b"]}},
		{"key": "both", "kind": "short_text", "show_if": {"not": {"field": "m", "op": "not_equals", "value": ["b", "a"]}}},
		{"key": "twice", "kind": "short_text", "show_if": {"field": "m", "op": "equals", "value": ["a", "a"]}}]}`)
	for order, first := range map[string]bool{"a": true, "b": false} {
		other := map[string]string{"a": "b", "b": "a"}[order]
		e := d.Evaluate(map[string]any{"r": []any{order, other}, "m": []any{order, other}})
		if e.Shown["first"] != first || !e.Shown["both"] || e.Shown["twice"] {
			t.Errorf("%s first: %v", order, e.Shown)
		}
	}
}

func TestExpressions(t *testing.T) {
	fields := `{"fields": [{"kind": "number", "key": "n"}, {"kind": "short_text", "key": "t"}, {"kind": "multiple_choice", "key": "l", "options": [{"value": "a"}, {"value": "b"}]}, {"kind": "yes_no", "key": "b"},
		{"kind": "name", "key": "who"}, {"kind": "number", "key": "price"}, {"kind": "dropdown", "key": "kind", "options": [{"value": "gold"}, {"value": "tin"}]},
		{"kind": "matrix", "key": "grid", "rows": [{"value": "r"}, {"value": "q"}], "options": [{"value": "x"}]}, {"kind": "calculated", "key": "c", "expression": %s}]}`
	answers := map[string]any{"price": 19.9, "kind": "gold", "grid": map[string]any{"r": "x"}, "n": 4.0, "t": "Ada", "l": []any{"a", "b"}, "b": true, "who": map[string]any{"given": "Grace", "family": "H"}}
	for text, want := range map[string]any{
		`n * 2 + 1`: 9.0, `n / 0`: nil, `0 / n`: 0.0, `"Hi " + t`: "Hi Ada", `b ? 1 : 2`: 1.0, `len(l)`: 2.0, `"a" in l ? "yes" : "no"`: "yes", `upper(t)`: "ADA",
		`round(n / 3)`: 1.0, `max(n, 10)`: 10.0, `n ^ 2`: 16.0, `n ** 500`: nil, `t + string(n)`: "Ada4", `""`: nil, `1 % 0`: nil, `string(who.given)`: "Grace",
		`price * 3`: 59.7, `0.1 + 0.2`: 0.3, `0 - 0 * n`: 0.0, `n * 2251799813685247.0`: 9007199254740988.0, `string(price * 3) + " EUR"`: "59.7 EUR", `string(n / 0)`: nil,
		`b ? price : 0`: 19.9, `b ? 250 : 99.5`: 250.0, `kind == "gold" ? 250 * n : 0`: 1000.0, `n >= 3 ? 0.9 : 1`: 0.9, `b ? (n > 9 ? price : 1) : -1`: 1.0, `b ? len(l) : price`: 2.0, `(b ? price : 0) * 2`: 39.8,
		`round(price * 1.077, 2)`: 21.43, `round(2.675, 2)`: 2.68, `round(n)`: 4.0, `round(price, 99)`: 19.9, `who.given + " " + who.family`: "Grace H", `grid.r + grid.q`: "x", `len(who)`: 2.0,
	} {
		quoted, _ := json.Marshal(text)
		d := define(t, strings.Replace(fields, "%s", string(quoted), 1))
		e, err := d.Validate(answers)
		if got := e.Answers["c"]; err != nil || got != want {
			t.Errorf("%s is %v, not %v (%v)", text, got, want, err)
		}
		if _, err := d.Validate(map[string]any{}); err != nil {
			t.Errorf("%s without answers: %v", text, err)
		}
	}
}

// Compiling any expression terminates, and running it results in a number, a short text
// or nil.
func FuzzExpression(f *testing.F) {
	for _, text := range []string{`n * 2`, `t + "x"`, `b ? 1 : "x"`, `l[0]`, `who.given`, `"a" in l`, `n ?? 1`, `t matches "a+"`, `1..9`, `filter(l, # == "a")`, `-n ** 2 % 3`} {
		f.Add(text)
	}
	d := define(f, strings.Replace(sample, `{"kind": "statement"`, `{"kind": "number", "key": "n"}, {"kind": "short_text", "key": "t"}, {"kind": "statement"`, 1))
	answers := map[string]any{"n": 3.0, "t": strings.Repeat("long ", 200), "tags": []string{"a"}, "shirt": true, "who": map[string]any{"given": "x"}}
	scope, variables := newScope(len(d.Fields)), map[string]any{}
	for _, field := range d.Fields {
		scope.add(field, false)
		if field.HasAnswer() {
			variables[field.Key] = scope.missing(field.Key)
		}
	}
	l := &logic{variables: variables}
	for key, answer := range answers {
		(&calculation{env: variables}).set(l, key, answer)
	}
	f.Fuzz(func(t *testing.T, text string) {
		formula, err := compileExpression(text, scope)
		if err != nil {
			return
		}
		isText, budget := formula.isText, newBudget()
		c := calculation{env: maps.Clone(variables)}
		switch got := c.run(formula, &budget).(type) {
		case nil:
		case float64:
			if isText {
				t.Fatalf("%s is a number, not a text", text)
			}
		case string:
			if !isText || len([]rune(got)) > maxResult {
				t.Fatalf("%s is a text of %d characters", text, len(got))
			}
		default:
			t.Fatalf("%s is %T", text, got)
		}
	})
}

func TestPiping(t *testing.T) {
	d := define(t, order)
	answers := map[string]any{"who": map[string]any{"given": "Ada", "family": "L"}, "leaf": "<green>", "price": 2.5}
	format := func(f *Field, key string) string {
		return f.FormatAnswer(answers[key], func(word string) string { return word })
	}
	for text, want := range map[string]string{
		"Who gets {{ leaf }}?": "Who gets <green>?", "{{who}}": "Ada L", "{{price}} {{size}}.": "2.5.", "{{7*7}} {{}} {{ UPPER }}": "{{7*7}} {{}} {{ UPPER }}",
	} {
		if got := d.Interpolate(text, format); got != want {
			t.Errorf("%q is %q", text, got)
		}
	}
	sampled := define(t, sample)
	for key, c := range map[string]struct {
		answer any
		want   string
	}{
		"shirt": {true, "Yes"}, "size": {"m", "Medium"}, "tags": {[]any{"a", "mine"}, "a, mine"}, "grid": {map[string]any{"r2": "bad", "r1": "good"}, "r1: good, r2: bad"},
		"age": {3.0, "3"}, "home": {map[string]any{"city": "Bonn", "line1": "Here 1"}, "Here 1, Bonn"},
		"day": {"2026-05-31", "31 May 2026"}, "start": {"2026-05-03T07:30", "3 May 2026, 07:30"}, "hour": {"07:30", "07:30"},
	} {
		if got := sampled.Field(key).FormatAnswer(c.answer, func(word string) string { return word }); got != c.want {
			t.Errorf("%s is formatted as %q", key, got)
		}
	}
}

// ParseForm reads back what FormValues writes.
func TestFormValues(t *testing.T) {
	d := define(t, sample)
	answers := map[string]any{
		"your_nickname": "Ada", "terms": true, "age": 36.5, "shirt": false, "tags": []any{"a", "mine"}, "order": []any{"y", "x"}, "size": "m",
		"grid": map[string]any{"r1": "good"}, "who": map[string]any{"given": "Ada"}, "day": "2026-05-31",
	}
	for key, answer := range answers {
		f := d.Field(key)
		if got := KindOf(f.Kind).ParseForm(f, FormValues(f, answer)); !reflect.DeepEqual(got, answer) {
			t.Errorf("%s: %v is read back as %v", key, answer, got)
		}
	}
}

// A form published before a check existed keeps working.
func TestPublishedComparisonKeepsWorking(t *testing.T) {
	var d Definition // as the store reads it, without validation
	if err := json.Unmarshal([]byte(`{"fields": [{"key": "kind", "kind": "dropdown", "options": [{"value": "gold"}]}, {"key": "c", "kind": "calculated", "expression": "kind == \"tin\" ? 1 : 2"}]}`), &d); err != nil {
		t.Fatal(err)
	}
	if e := d.Evaluate(map[string]any{"kind": "gold"}); e.Answers["c"] != 2.0 {
		t.Errorf("%v", e.Answers)
	}
}

// Numbers can be typed in several notations.
func TestNormalizeNumber(t *testing.T) {
	for _, c := range []struct{ text, sign, want string }{
		{"12,50", ",", "12.50"}, {"12.50", ",", "12.50"}, {"1.234,50", ",", "1234.50"}, {"1,234.50", ",", "1234.50"}, {"1.234", ",", "1234"}, {"1,234", ",", "1.234"}, {"1.234.567", ",", "1234567"},
		{"12,50", ".", "12.50"}, {"12.50", ".", "12.50"}, {"1,234", ".", "1234"}, {"1.234", ".", "1.234"}, {"1,234,567.8", ".", "1234567.8"}, {"-1,5", ".", "-1.5"}, {"−5", ".", "-5"},
		{"1 234,5", ",", "1234.5"}, {"1'234.50", ".", "1234.50"}, {"\u0661\u0662\u066b\u0665", ".", "12.5"}, {"x", ".", "x"}, {"", ".", ""}, {"1e3", ".", "1e3"}, {"1,2,3", ".", "1.2,3"},
	} {
		if got := NormalizeNumber(c.text, c.sign); got != c.want {
			t.Errorf("%q with %q is %q, not %q", c.text, c.sign, got, c.want)
		}
	}
}

func TestSummary(t *testing.T) {
	d := define(t, sample)
	day := time.Date(2026, 5, 31, 23, 0, 0, 0, time.FixedZone("", -7200))
	first := map[string]any{"nps": 10.0, "age": 0.1, "shirt": true, "tags": []any{"a", "mine"}, "grid": map[string]any{"r1": "good"}, "order": []any{"y", "x"}, "land": "DE"}
	second := map[string]any{"nps": 3.0, "age": 0.2, "shirt": false, "tags": []any{"a"}, "order": []any{"y", "x"}}
	s := NewSummary()
	s.Add(d, first, day, 1)
	once, _ := json.Marshal(s)
	s.Add(d, second, day, 1)
	of := func(key string) *QuestionStats { return s.Fields[d.Field(key).ID] }
	type number struct {
		name      string
		got, want float64
	}
	for _, n := range []number{
		{"responses", float64(s.Responses), 2},
		{"responses of the day", float64(s.Days["2026-06-01"]), 2},
		{"nps", float64(of("nps").NPS()), 0},
		{"average age", of("age").Average(), 0.15000000000000002},
		{"tag a", float64(of("tags").Counts["a"]), 2},
		{"other tags", float64(of("tags").Counts["_other"]), 1},
		{"good in row 1", float64(of("grid").Counts["r1\tgood"]), 1},
		{"grids", float64(of("grid").Answered), 1},
		{"rankings with x", float64(of("order").Counts["x"]), 2},
		{"position of x", of("order").AveragePosition("x"), 2},
		{"position of y", of("order").AveragePosition("y"), 1},
		{"shirts", float64(of("shirt").Counts["true"]), 1},
		{"Germany", float64(of("land").Counts["DE"]), 1},
	} {
		if n.got != n.want {
			t.Errorf("%s: %v, want %v", n.name, n.got, n.want)
		}
	}
	// A summary survives encoding, and subtraction is exact.
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var read Summary
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	read.Add(d, second, day, -1)
	if text, _ := json.Marshal(&read); string(text) != string(once) {
		t.Errorf("after subtraction: %s\nbefore:            %s", text, once)
	}
}

func TestColumns(t *testing.T) {
	old := define(t, `{"fields": [{"kind": "email", "key": "mail", "id": "f1"}, {"kind": "short_text", "key": "gone", "id": "f2", "label": "Gone"}]}`)
	now := define(t, `{"fields": [{"kind": "matrix", "key": "grid", "id": "f3", "label": "Grid", "rows": [{"value": "r1", "label": "Row 1"}], "options": [{"value": "g", "label": "Good"}]}, {"kind": "email", "key": "email", "id": "f1", "label": "E-mail"}, {"kind": "statement", "text": "x"}]}`)
	columns := Columns([]*Definition{old, now})
	var names []string
	for _, c := range columns {
		names = append(names, c.Key+"="+c.Label)
	}
	if got := strings.Join(names, "|"); got != "grid.r1=Grid: Row 1|email=E-mail|gone=Gone" {
		t.Errorf("columns are %s", got)
	}
	answers := map[string]any{"grid": map[string]any{"r1": "g"}, "email": "a@b.c"}
	fields := now.ByID()
	cells := []any{
		columns[0].Cell(fields["f3"], answers, true), columns[0].Cell(fields["f3"], answers, false),
		columns[1].Cell(old.ByID()["f1"], map[string]any{"mail": "old@b.c"}, true), columns[2].Cell(fields["f2"], answers, true),
	}
	if want := []any{"Good", "g", "old@b.c", nil}; !reflect.DeepEqual(cells, want) {
		t.Errorf("cells %v, want %v", cells, want)
	}
}

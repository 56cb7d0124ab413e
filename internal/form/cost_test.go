package form

import (
	"fmt"
	"net/url"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"formulary/internal/fault"
)

// These tests count bytes, normalizations and steps for inputs that were expensive in
// the past. They do not measure time.

// allocated returns how many bytes the function allocates.
func allocated(work func()) int64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	work()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}

func sameText(text string) string { return text }

// Lists with more values than can be selected are rejected before they are read.
func TestLongListsAreRejected(t *testing.T) {
	long := make([]any, 100_000)
	row := map[string]any{}
	post := url.Values{}
	for i := range long {
		text := fmt.Sprintf("w%d", i)
		long[i] = text
		row[text] = "x"
		post.Add("k", text)
	}
	options := []Option{{Value: "x", Label: "X"}, {Value: "y", Label: "Y"}}
	for _, c := range []struct {
		field *Field
		value any
		most  int64
	}{
		{&Field{Kind: "multiple_choice", Options: options}, long, 32 << 10},
		{&Field{Kind: "multiple_choice", Options: options, Other: true}, long, 32 << 10},
		{&Field{Kind: "ranking", Options: options}, long, 32 << 10},
		{&Field{Kind: "matrix", Options: options, Rows: options, Several: true}, map[string]any{"x": long}, 32 << 10},
		{&Field{Kind: "matrix", Options: options, Rows: options}, row, 32 << 10},
		{&Field{Kind: "name"}, row, 32 << 10},
		{&Field{Kind: "address"}, row, 32 << 10},
		{&Field{Kind: "url"}, "https://example.com/" + strings.Repeat("x", 1<<20), 32 << 10},
		{&Field{Kind: "phone"}, strings.Repeat("1", 1<<20), 32 << 10},
		{&Field{Kind: "country"}, strings.Repeat("D", 1<<20), 32 << 10},
		{&Field{Kind: "date"}, strings.Repeat("2", 1<<20), 32 << 10},
	} {
		c.field.Key = "k"
		d := &Definition{Fields: []*Field{c.field}}
		d.prepared()
		bytes := allocated(func() {
			if _, err := d.Validate(map[string]any{"k": c.value}); fault.Wrap(err).Code != fault.Invalid {
				t.Errorf("%s accepts it: %v", c.field.Kind, err)
			}
		})
		if bytes > c.most {
			t.Errorf("%s allocates %d bytes to reject it", c.field.Kind, bytes)
		}
		hasParts := slices.Contains([]string{"name", "address", "matrix"}, c.field.Kind)
		if _, err := d.Validate(d.ParseForm(post)); err == nil && !hasParts {
			t.Errorf("%s accepts a long form post", c.field.Kind)
		}
	}
}

// Long lists are looked up in an index: the number of comparisons grows linearly.
func TestLongestList(t *testing.T) {
	options := make([]Option, MaxOptions)
	list := make([]any, MaxOptions, MaxOptions+1)
	for i := range options {
		options[i] = Option{Value: fmt.Sprintf("v%d", i), Label: "L"}
		list[len(list)-1-i] = options[i].Value
	}
	f := &Field{Key: "k", Kind: "multiple_choice", Options: options, Other: true}
	got, err := multipleChoice{}.Validate(f, append(list, " my own "))
	if err != nil {
		t.Fatal(err)
	}
	chosen := got.([]string)
	if len(chosen) != MaxOptions+1 {
		t.Fatalf("%d chosen", len(chosen))
	}
	ends := []string{chosen[0], chosen[MaxOptions-1], chosen[MaxOptions]}
	if want := []string{"v0", options[MaxOptions-1].Value, "my own"}; !slices.Equal(ends, want) {
		t.Errorf("the first, last and free selections are %q, want %q", ends, want)
	}
	if newLookup(options, len(list)).index == nil || newLookup(options, 1).index != nil {
		t.Error("an index is built for one value, or not for many")
	}
	if _, err := (multipleChoice{}).Validate(f, []any{"one", "two"}); err == nil {
		t.Error("two free texts are accepted")
	}
	if got, err := (multipleChoice{}).Validate(f, []any{" v1 ", "v1", "v0"}); err != nil || strings.Join(got.([]string), ",") != "v0,v1" {
		t.Errorf("%v (%v)", got, err)
	}
}

// The error for 100,000 unknown keys does not list all of them.
func TestUnknownKeys(t *testing.T) {
	d := &Definition{Fields: []*Field{{Key: "a", Kind: "short_text", Required: true}}}
	sent := map[string]any{}
	for i := range 100_000 {
		sent[fmt.Sprintf("x%d", i)] = "y"
	}
	_, err := d.Validate(sent)
	details := fault.Wrap(err).Details
	if len(details) != maxUnknown+1 || details[0].Field != "a" || details[1].Field != "x0" {
		t.Errorf("%d details", len(details))
	}
}

// Concatenation is part of the budget: formulas that repeat a long answer have no
// result and cost almost nothing. Short formulas still have theirs.
func TestFormulaBudget(t *testing.T) {
	d, sent := concatenations(450)
	d.Fields = append(d.Fields, &Field{Key: "short", Kind: "calculated", Expression: `len(s) > 5 ? "long" : "short"`})
	d.prepared()
	var e Evaluation
	if bytes := allocated(func() { e = d.Evaluate(sent) }); bytes > 1<<20 {
		t.Errorf("%d bytes allocated", bytes)
	}
	if e.Answers["f0"] != nil || e.Answers["short"] != "long" {
		t.Errorf("results: %v and %v", e.Answers["f0"], e.Answers["short"])
	}
	if used := maxWork - e.facts.budget.left; used < 0 || used > maxWork {
		t.Errorf("%d used", used)
	}
	sent["s"] = "ab"
	if e := d.Evaluate(sent); e.Answers["f99"] != strings.Repeat("ab", 100) {
		t.Errorf("repetition of a short answer: %v", e.Answers["f99"])
	}
}

// The work of a text function is charged before it runs.
func TestFormulaWork(t *testing.T) {
	long := strings.Repeat("é", 10_000)
	fields := []*Field{{Key: "s", Kind: "long_text"}, {Key: "n", Kind: "number"}, {Key: "l", Kind: "multiple_choice", Other: true, Options: []Option{{Value: "a"}}}}
	for expression, least := range map[string]int64{
		"s + s": 40_000, "upper(lower(upper(s)))": 60_000, "len(s)": 20_000, `indexOf(s, "x")`: 20_000, `s contains "x" ? 1 : 2`: 20_000, `s == s ? 1 : 2`: 40_000,
		"string(l)": 100, "trim(s)": 20_000, "string(string(string(s)))": 60_000, `n * 2 + 1`: 1, `s[0:4]`: 1, `max(n, len(s))`: 20_000,
	} {
		d := &Definition{Fields: append(fields[:3:3], &Field{Key: "c", Kind: "calculated", Expression: expression})}
		e := d.Evaluate(map[string]any{"s": long, "n": 4.0, "l": []any{strings.Repeat("x", 100)}})
		if used := maxWork - e.facts.budget.left; used < least || used > 20*least+5000 {
			t.Errorf("%s: charged %d, at least %d", expression, used, least)
		}
		if e.Answers["c"] == nil {
			t.Errorf("%s has no result: %v", expression, e.Problems)
		}
	}
	// trim compares every character with every character to remove.
	d := &Definition{Fields: append(fields[:3:3], &Field{Key: "c", Kind: "calculated", Expression: "trim(s, s)"})}
	if e := d.Evaluate(map[string]any{"s": long}); e.Answers["c"] != nil {
		t.Errorf("trimmed: %v", e.Answers["c"])
	}
}

// Calculated texts are stored, so their total size is limited.
func TestCalculatedTextsAreBounded(t *testing.T) {
	d := &Definition{Fields: []*Field{{Key: "s", Kind: "long_text"}}}
	for i := range 450 {
		d.Fields = append(d.Fields, &Field{Key: fmt.Sprintf("f%d", i), Kind: "calculated", Expression: "s"})
	}
	e := d.Evaluate(map[string]any{"s": strings.Repeat("日", 2000)})
	total, results := 0, 0
	for key, answer := range e.Answers {
		if key != "s" {
			total += len(answer.(string))
			results++
		}
	}
	if total > maxResults || results < 50 {
		t.Errorf("%d results of %d bytes", results, total)
	}
}

// Each formula sees all answers before it, including those after the first formula.
func TestFormulasSeeAnswersBetween(t *testing.T) {
	d := define(t, `{"fields": [{"key": "a", "kind": "number"}, {"key": "x", "kind": "calculated", "expression": "a + 1"}, {"key": "b", "kind": "number"},
		{"key": "who", "kind": "name"}, {"key": "y", "kind": "calculated", "expression": "x * b"}, {"key": "z", "kind": "calculated", "expression": "who.given + string(y)"}]}`)
	e := d.Evaluate(map[string]any{"a": 1.0, "b": 5.0, "who": map[string]any{"given": "Ada"}})
	if e.Answers["x"] != 2.0 || e.Answers["y"] != 10.0 || e.Answers["z"] != "Ada10" {
		t.Errorf("%v", e.Answers)
	}
	if e := d.Evaluate(map[string]any{}); e.Answers["y"] != 0.0 {
		t.Errorf("without answers: %v", e.Answers)
	}
}

// An answer is normalized once, however many conditions refer to it.
func TestAnswersAreNormalizedOnce(t *testing.T) {
	for _, each := range []int{1, 40} {
		d, sent := manyComparisons(50, each)
		d.prepared()
		var e Evaluation
		bytes := allocated(func() { e = d.Evaluate(sent) })
		if e.facts.normalized != 2 {
			t.Errorf("%d conditions: normalized %d times", 50*each, e.facts.normalized)
		}
		if bytes > 512<<10 {
			t.Errorf("%d conditions: %d bytes allocated", 50*each, bytes)
		}
	}
}

// Conditions of endings reuse the normalized answers of the evaluation.
func TestEndingsReuseNormalizedAnswers(t *testing.T) {
	d := define(t, `{"fields": [{"key": "s", "kind": "long_text"}], "endings": [
		{"key": "a", "show_if": {"field": "s", "op": "contains", "value": "NO"}}, {"key": "b", "show_if": {"field": "s", "op": "contains", "value": "YES"}}]}`)
	e, _ := d.Validate(map[string]any{"s": "well, yes"})
	if ending := d.EndingOf(e); ending == nil || ending.Key != "b" {
		t.Errorf("%v", ending)
	}
	if ending := d.EndingOf(Evaluation{Answers: map[string]any{"s": "Yes"}}); ending == nil || ending.Key != "b" {
		t.Errorf("without an evaluation: %v", ending)
	}
}

// A page of {{key}} references stays within its budget, and each answer is formatted
// once.
func TestPipingBudget(t *testing.T) {
	d, sent := piped(300)
	e := d.Evaluate(sent)
	calls := 0
	pipes := d.NewInterpolator(func(f *Field, key string) string { calls++; return f.FormatAnswer(e.Answers[key], sameText) })
	total, template := 0, 0
	bytes := allocated(func() {
		for i, f := range d.Fields {
			text := pipes.Text(f.Label, nil)
			total += len(text)
			template += len(f.Label)
			if i == 1 && (len(text) > maxPipedText+len(f.Label) || !strings.HasSuffix(text, "…")) {
				t.Errorf("a text of %d bytes", len(text))
			}
		}
	})
	if total > maxPipedPage+template || bytes > 8<<20 {
		t.Errorf("%d bytes of labels, %d allocated", total, bytes)
	}
	if calls != 1 {
		t.Errorf("the answer was formatted %d times", calls)
	}
	long := d.Interpolate("{{s}}", func(*Field, string) string { return strings.Repeat("日", 20_000) })
	if len(long) > maxPipedValue+len(ellipsis) || !strings.HasSuffix(long, "日…") {
		t.Errorf("one value of %d bytes ends with %q", len(long), long[len(long)-8:])
	}
	to := d.InterpolateURL("https://example.com/?a="+strings.Repeat("{{s}}", 300), func(*Field, string) string { return strings.Repeat("日", 5000) })
	if _, err := url.Parse(to); err != nil || len(to) > maxPipedURL+300*9+100 {
		t.Errorf("an address of %d bytes (%v)", len(to), err)
	}
}

// Definitions that are known to be too expensive cannot be saved.
func TestTotals(t *testing.T) {
	many := func(n int, item string) string { return strings.TrimSuffix(strings.Repeat(item+",", n), ",") }
	for name, c := range map[string]struct{ text, field string }{
		"terms":      {`{"fields": [{"key": "n", "kind": "number"},` + many(60, `{"kind": "calculated", "label": "x", "expression": "`+strings.Repeat("n+", 99)+`n"}`) + `]}`, "fields.51.expression"},
		"conditions": {`{"fields": [{"key": "n", "kind": "number"},` + many(51, `{"kind": "email", "label": "x", "show_if": {"any": [`+many(40, `{"field": "n", "op": "answered"}`)+`]}}`) + `]}`, "fields"},
		"countries":  {`{"fields": [` + many(450, `{"kind": "country", "label": "x"}`) + `]}`, "fields.148"},
		"matrices":   {`{"fields": [` + many(10, `{"kind": "matrix", "label": "x", "rows": [`+many(100, `{"label": "a"}`)+`], "options": [`+many(100, `{"label": "a"}`)+`]}`) + `]}`, "fields.1"},
		"length":     {`{"fields": [` + many(200, `{"kind": "statement", "text": "`+strings.Repeat("x", 2000)+`"}`) + `]}`, "fields"},
	} {
		err := parseDefinition(t, c.text).Normalize()
		if details := fault.Wrap(err).Details; fault.Wrap(err).Code != fault.Invalid || details[0].Field != c.field {
			t.Errorf("%s: %v %v", name, err, details)
		}
	}
	if err := parseDefinition(t, `{"fields": [`+many(30, `{"kind": "country", "label": "x"}`)+`, {"kind": "matrix", "label": "x", "rows": [`+many(100, `{"label": "a"}`)+`], "options": [`+many(50, `{"label": "a"}`)+`]}]}`).Normalize(); err != nil {
		t.Errorf("a large form is rejected: %v", err)
	}
}

// Validating a definition twice as long allocates about twice as much, not four times.
func TestNormalizeIsLinear(t *testing.T) {
	list := func(n int, item func(i int) string) string {
		items := make([]string, n)
		for i := range items {
			items[i] = item(i)
		}
		return strings.Join(items, ",")
	}
	for name, make := range map[string]func(n int) string{
		"equal labels of fields": func(n int) string {
			return `{"fields": [` + list(n, func(int) string { return `{"kind": "email", "label": "Same"}` }) + `]}`
		},
		"equal labels of options": func(n int) string {
			return `{"fields": [{"kind": "dropdown", "label": "Same", "options": [` + list(2*n, func(int) string { return `{"label": "Same"}` }) + `]}]}`
		},
		"formulas": func(n int) string {
			return `{"fields": [` + list(n/2, func(i int) string { return fmt.Sprintf(`{"kind": "number", "key": "n%d"}`, i) }) + `,` +
				list(n/2, func(i int) string {
					return fmt.Sprintf(`{"kind": "calculated", "label": "c", "expression": "n%d + 1"}`, i)
				}) + `]}`
		},
		"mistakes": func(n int) string {
			return `{"fields": [{"kind": "email", "show_if": {"any": [` + list(4*n, func(int) string { return `{"field": "zz", "op": "answered"}` }) + `]}}]}`
		},
	} {
		t.Run(name, func(t *testing.T) {
			cost := func(n int) float64 {
				return testing.AllocsPerRun(1, func() { parseDefinition(t, make(n)).Normalize() })
			}
			half, whole := cost(200), cost(400)
			if whole > 2.5*half {
				t.Errorf("%.0f allocations for half of it, %.0f for the whole", half, whole)
			}
		})
	}
}

// Hosts are sent in headers, so only unambiguous ones are accepted.
func TestSites(t *testing.T) {
	for address, want := range map[string]string{
		"https://example.com/thanks?a={{b}}": "https://example.com", "http://LOCALHOST:8080": "http://localhost:8080", "https://[::1]:8443/x": "https://[::1]:8443", "https://xn--mller-kva.example/": "https://xn--mller-kva.example",
		"https://192.0.2.1/": "https://192.0.2.1", "https://a-b.c1.example": "https://a-b.c1.example",
		"https://a.example;script-src-elem/": "", "https://a.example,b/": "", "https://a'b/": "", "https://*.example/": "", "https://a_b.example/": "", "https://müller.example/": "", "https://-a.example/": "",
		"https://a.example:0/": "", "https://a.example:99999/": "", "https://a.example:/": "", "https://u@a.example/": "", "https:a.example": "", "ftp://a.example": "", "https://": "", "https://a..b/": "",
		"https://[::1;x]/": "", "https://{{a}}/": "", "https://a.example%3bx/": "", "https://[fe80::1%25eth0]/": "",
	} {
		if got, ok := SiteOf(address); got != want || ok != (want != "") {
			t.Errorf("%s is %q, %v", address, got, ok)
		}
	}
	for _, host := range []string{"a.example;script-src-elem *", "a.example;x", "a.example%3b", "a.example,b"} {
		d := Definition{Endings: []*Ending{{Redirect: "https://" + host + "/"}}}
		if err := d.Normalize(); err == nil {
			t.Errorf("an ending redirects to %s", host)
		}
		o := Availability{Sites: "https://" + strings.ReplaceAll(host, " ", "")}
		if err := o.Normalize(); err == nil {
			t.Errorf("the site %s is accepted", host)
		}
	}
}

// The hand-written parser finds the same references as this regular expression.
func TestFindReferences(t *testing.T) {
	pattern := regexp.MustCompile(`\{\{\s*([a-z][a-z0-9_]{0,63})\s*(?:\|([^{}\r\n]{0,400}))?\}\}`)
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"{", "}", "{{", "}}", "a", "b_1", "9", "_", " ", "|", "\n", "é", "A", strings.Repeat("k", 64)}), 0, 30).Draw(t, "parts"), "")
		want := pattern.ReplaceAllStringFunc(text, func(match string) string {
			m := pattern.FindStringSubmatch(match)
			return "<" + m[1] + "|" + strings.Trim(m[2], " \t\n\f\r") + ">"
		})
		if got := replacePipes(text, func(p pipe) string { return "<" + p.key + "|" + p.fallback + ">" }); got != want {
			t.Fatalf("%q is %q, not %q", text, got, want)
		}
	})
}

// Pages ask for what each row of a matrix can be compared with.
func TestComparisonsOfLongMatrix(t *testing.T) {
	cost := func(rows int) float64 {
		f := &Field{Kind: "matrix", Options: []Option{{Value: "a"}, {Value: "b"}}}
		for i := range rows {
			f.Rows = append(f.Rows, Option{Value: fmt.Sprint("r", i)})
		}
		if got := f.Comparisons("r1"); len(got) == 0 || f.IsNumeric() || f.IsBoolean() {
			t.Fatalf("%d rows are compared with %q", rows, got)
		}
		return testing.AllocsPerRun(10, func() { f.Comparisons("r1") })
	}
	if few, many := cost(2), cost(1000); many > few {
		t.Errorf("%.0f allocations with 2 rows, %.0f with 1,000", few, many)
	}
}

package form

import (
	"fmt"
	"strings"
	"testing"
)

// Inputs that were expensive in the past. The benchmarks here measure time and memory;
// cost_test.go counts operations.

// longList is a multiple choice question with 120,000 different answers (991 KB of
// JSON).
func longList() (*Definition, map[string]any) {
	d := &Definition{Fields: []*Field{{Key: "c", Kind: "multiple_choice", Label: "C", Other: true, Options: []Option{{Value: "a", Label: "A"}}}}}
	list := make([]any, 120_000)
	for i := range list {
		list[i] = fmt.Sprintf("w%d", i)
	}
	return d, map[string]any{"c": list}
}

// piped has a page of labels that consist of {{key}} references, and one long answer.
func piped(fields int) (*Definition, map[string]any) {
	d := &Definition{Fields: []*Field{{Key: "s", Kind: "long_text", Label: "S"}}}
	for i := range fields {
		d.Fields = append(d.Fields, &Field{Key: fmt.Sprintf("f%d", i), Kind: "short_text", Label: strings.Repeat("{{s}}", 90)})
	}
	return d, map[string]any{"s": strings.Repeat("x", 19_000)}
}

// concatenations has formulas that repeat one long answer.
func concatenations(fields int) (*Definition, map[string]any) {
	d := &Definition{Fields: []*Field{{Key: "s", Kind: "long_text", Label: "S"}}}
	for i := range fields {
		d.Fields = append(d.Fields, &Field{Key: fmt.Sprintf("f%d", i), Kind: "calculated", Label: "F", Expression: strings.Repeat("s+", 99) + "s"})
	}
	return d, map[string]any{"s": strings.Repeat("x", 19_000)}
}

// manyComparisons has conditions that all refer to the same answers.
func manyComparisons(fields, each int) (*Definition, map[string]any) {
	options := make([]Option, 1000)
	chosen := make([]any, len(options))
	values := make([]any, len(options))
	for i := range options {
		options[i] = Option{Value: fmt.Sprintf("option %d", i), Label: "O"}
		chosen[i], values[i] = options[i].Value, options[i].Value
	}
	values[0] = "another"
	d := &Definition{Fields: []*Field{
		{Key: "s", Kind: "long_text", Label: "S"},
		{Key: "c", Kind: "multiple_choice", Label: "C", Options: options},
	}}
	for i := range fields {
		all := &Condition{Any: []*Condition{{Field: "c", Op: "equals", Value: values}}}
		for range each {
			all.Any = append(all.Any, &Condition{Field: "s", Op: "contains", Value: "Not There"})
		}
		d.Fields = append(d.Fields, &Field{Key: fmt.Sprintf("f%d", i), Kind: "short_text", Label: "F", ShowIf: all})
	}
	return d, map[string]any{"s": strings.Repeat("É", 20_000), "c": chosen}
}

func BenchmarkLongList(b *testing.B) {
	d, sent := longList()
	b.ReportAllocs()
	for b.Loop() {
		d.Evaluate(sent)
	}
}

func BenchmarkPipes(b *testing.B) {
	d, sent := piped(300)
	e := d.Evaluate(sent)
	b.ReportAllocs()
	for b.Loop() {
		length := 0
		pipes := d.NewInterpolator(func(f *Field, key string) string { return f.FormatAnswer(e.Answers[key], sameText) })
		for _, f := range d.Fields {
			length += len(pipes.Text(f.Label, nil))
		}
		b.ReportMetric(float64(length), "page-bytes")
	}
}

func BenchmarkConcatenations(b *testing.B) {
	d, sent := concatenations(450)
	d.prepared()
	b.ReportAllocs()
	for b.Loop() {
		d.Evaluate(sent)
	}
}

func BenchmarkComparisons(b *testing.B) {
	d, sent := manyComparisons(100, 40)
	d.prepared()
	b.ReportAllocs()
	for b.Loop() {
		d.Evaluate(sent)
	}
}

// BenchmarkWholeBudget spends the budget of an evaluation on the slowest operation.
func BenchmarkWholeBudget(b *testing.B) {
	d := &Definition{Fields: []*Field{{Key: "s", Kind: "long_text", Label: "S"}}}
	for i := range 450 {
		d.Fields = append(d.Fields, &Field{Key: fmt.Sprintf("f%d", i), Kind: "calculated", Label: "F", Expression: strings.Repeat("upper(lower(", 20) + "s" + strings.Repeat("))", 20)})
	}
	d.prepared()
	sent := map[string]any{"s": strings.Repeat("ß", 1000)}
	b.ReportAllocs()
	for b.Loop() {
		e := d.Evaluate(sent)
		b.ReportMetric(float64(maxWork-e.facts.budget.left), "work")
	}
}

// BenchmarkNormalize validates definitions that are large in different ways.
func BenchmarkNormalize(b *testing.B) {
	for name, text := range hugeDefinitions() {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				d := parseDefinition(b, text)
				d.Normalize()
			}
			b.ReportMetric(float64(len(text)), "json-bytes")
		})
	}
}

// hugeDefinitions are up to 1 MB of JSON, which is more than can be saved.
func hugeDefinitions() map[string]string {
	list := func(n int, item func(i int) string) string {
		items := make([]string, n)
		for i := range items {
			items[i] = item(i)
		}
		return strings.Join(items, ",")
	}
	text := `{"key": "s", "kind": "short_text", "label": "S"}`
	return map[string]string{
		"fields": `{"fields": [` + list(500, func(i int) string {
			return fmt.Sprintf(`{"kind": "short_text", "label": "Same", "help": "%s"}`, strings.Repeat("help ", 380))
		}) + `]}`,
		"options": `{"fields": [` + list(30, func(i int) string {
			return `{"kind": "multiple_choice", "label": "Same", "options": [` + list(1000, func(j int) string { return `{"label": "Same label"}` }) + `]}`
		}) + `]}`,
		"conditions": `{"fields": [` + text + "," + list(498, func(i int) string {
			return `{"kind": "short_text", "label": "Same", "show_if": {"any": [` + list(40, func(j int) string { return `{"field": "s", "op": "contains", "value": "x"}` }) + `]}}`
		}) + `]}`,
		"missing": `{"fields": [` + list(498, func(i int) string {
			return `{"kind": "short_text", "label": "Same", "show_if": {"any": [` + list(40, func(j int) string { return `{"field": "zz", "op": "contains", "value": "x"}` }) + `]}}`
		}) + `]}`,
		"jumps": `{"fields": [` + text + "," + list(400, func(i int) string {
			return `{"kind": "page_break", "label": "Same", "jumps": [` + list(50, func(j int) string { return `{"if": {"field": "s", "op": "answered"}, "to": "last"}` }) + `]}`
		}) + `,{"key": "last", "kind": "page_break"}]}`,
		"formulas": `{"fields": [` + text + "," + list(450, func(i int) string {
			return fmt.Sprintf(`{"key": "c%d", "kind": "calculated", "expression": "%ss"}`, i, strings.Repeat("s+", 99))
		}) + `]}`,
		"formulas of many": `{"fields": [` + list(250, func(i int) string {
			return fmt.Sprintf(`{"key": "n%d", "kind": "number", "label": "N"}`, i)
		}) + `,` + list(240, func(i int) string {
			return fmt.Sprintf(`{"key": "c%d", "kind": "calculated", "expression": "%s1"}`, i, strings.Repeat(fmt.Sprintf("n%d + ", i), 90))
		}) + `]}`,
		"pipes": `{"fields": [` + text + "," + list(498, func(i int) string {
			return fmt.Sprintf(`{"kind": "statement", "label": "L", "text": "%s"}`, strings.Repeat("{{s}}", 380))
		}) + `]}`,
		"default": `{"fields": [` + list(10, func(i int) string {
			return `{"kind": "multiple_choice", "label": "Same", "other": true, "options": [{"label": "A"}], "default": [` + list(8000, func(j int) string { return fmt.Sprintf(`"w%d"`, j) }) + `]}`
		}) + `]}`,
		"endings": `{"fields": [` + list(499, func(i int) string { return `{"kind": "short_text", "label": "Same"}` }) + `, ` + text + `], "endings": [` + list(50, func(i int) string {
			return `{"title": "Same", "show_if": {"any": [` + list(400, func(j int) string { return `{"field": "s", "op": "contains", "value": "x"}` }) + `]}}`
		}) + `]}`,
	}
}

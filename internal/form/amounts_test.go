package form

import (
	"testing"

	"formulary/internal/fault"
)

// Totals add up the options that were chosen before them, in questions that are shown.
func TestAmounts(t *testing.T) {
	d := parse(t, `{"fields": [
		{"key": "early", "kind": "calculated", "total": "prices"},
		{"key": "size", "kind": "single_choice", "unit": "€", "other": true, "options": [{"value": "s", "label": "S", "price": 10.1, "points": 1}, {"value": "m", "label": "M", "price": 20}]},
		{"key": "extras", "kind": "multiple_choice", "options": [{"value": "a", "label": "A", "price": 0.2, "points": -3}, {"value": "b", "label": "B", "points": 2.5}],
			"show_if": {"field": "size", "op": "answered"}},
		{"key": "sum", "kind": "calculated", "total": "prices"}, {"key": "score", "kind": "calculated", "total": "points"},
		{"key": "grade", "kind": "calculated", "expression": "score < 0 ? \"low\" : string(sum * 2)"}]}`)
	if err := d.Normalize(); err != nil {
		t.Fatal(fault.Wrap(err).Details)
	}
	for _, c := range []struct {
		answers map[string]any
		sum     float64
		score   float64
		grade   any
	}{
		{map[string]any{}, 0, 0, "0"},
		{map[string]any{"size": "s", "extras": []any{"a", "b"}}, 10.3, 0.5, "20.6"},
		{map[string]any{"size": "m", "extras": []any{"a"}}, 20.2, -3, "low"},
		{map[string]any{"extras": []any{"a"}}, 0, 0, "0"}, // not shown
		{map[string]any{"size": "my own"}, 0, 0, "0"},
	} {
		e := d.Evaluate(c.answers)
		if e.Answers["early"] != 0.0 || e.Answers["sum"] != c.sum || e.Answers["score"] != c.score || e.Answers["grade"] != c.grade {
			t.Errorf("%v: %v, want %v %v %v", c.answers, e.Answers, c.sum, c.score, c.grade)
		}
	}
	if got := d.Field("size").FormatPrice(d.Field("size").Options[0], func(text string) string { return "," }); got != "10,10\u00a0€" {
		t.Errorf("price: %q", got)
	}
	if advice := d.Advice(); len(advice) == 0 || advice[0].Field != "fields.0.total" {
		t.Errorf("advice: %v", advice)
	}
}

// Each row of a matrix counts the points of its columns.
func TestMatrixPoints(t *testing.T) {
	for _, several := range []string{"false", "true"} {
		d := parse(t, `{"fields": [
			{"key": "m", "kind": "matrix", "label": "M", "several": `+several+`, "rows": [{"value": "A", "label": "A"}, {"value": "B", "label": "B"}, {"value": "C", "label": "C"}],
				"options": [{"value": "no", "label": "No"}, {"value": "some", "label": "Some", "points": 0.1}, {"value": "much", "label": "Much", "points": -2}]},
			{"key": "score", "kind": "calculated", "total": "points"}]}`)
		if err := d.Normalize(); err != nil {
			t.Fatal(err)
		}
		if advice := d.Advice(); len(advice) > 0 {
			t.Errorf("advice: %v", advice)
		}
		answers, want := map[string]any{"A": "some", "B": "some", "C": "some"}, 0.3
		if several == "true" {
			answers, want = map[string]any{"A": []any{"some", "much"}, "B": []any{"no"}}, -1.9
		}
		if got := d.Evaluate(map[string]any{"m": answers}).Answers["score"]; got != want {
			t.Errorf("several %s: %v, want %v", several, got, want)
		}
	}
}

func TestAmountsAreChecked(t *testing.T) {
	for definition, want := range map[string]string{
		`{"fields": [{"key": "a", "kind": "ranking", "options": [{"label": "A", "points": 1}, {"label": "B"}]}]}`:             "fields.0.options",
		`{"fields": [{"key": "a", "kind": "matrix", "rows": [{"label": "R"}], "options": [{"label": "A", "price": 1}]}]}`:     "fields.0.options",
		`{"fields": [{"key": "a", "kind": "matrix", "rows": [{"label": "R", "points": 1}], "options": [{"label": "A"}]}]}`:    "fields.0.options",
		`{"fields": [{"key": "a", "kind": "matrix", "rows": [{"label": "R"}], "options": [{"label": "A", "points": 1e10}]}]}`: "fields.0.options.0.points",
		`{"fields": [{"key": "a", "kind": "dropdown", "options": [{"label": "A", "price": -1}]}]}`:                            "fields.0.options.0.price",
		`{"fields": [{"key": "a", "kind": "dropdown", "options": [{"label": "A", "points": 1e10}]}]}`:                         "fields.0.options.0.points",
		`{"fields": [{"key": "a", "kind": "calculated", "total": "nonsense"}]}`:                                               "fields.0.total",
		`{"fields": [{"key": "a", "kind": "calculated", "total": "points", "expression": "1"}]}`:                              "fields.0.total",
		`{"fields": [{"key": "a", "kind": "short_text", "total": "points"}]}`:                                                 "fields.0.total",
	} {
		details := fault.Wrap(parse(t, definition).Normalize()).Details
		if len(details) != 1 || details[0].Field != want {
			t.Errorf("%s: %v, want %s", definition, details, want)
		}
	}
}

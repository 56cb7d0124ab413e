package form

import (
	"strings"
	"testing"
)

// A trial gives a result for sample answers, or says where the mistake is.
func TestTryFormula(t *testing.T) {
	d := parse(t, `{"fields": [{"key": "n", "kind": "number", "label": "N", "min": 2, "max": 2}, {"key": "size", "kind": "dropdown", "options": [{"value": "s", "label": "S"}]},
		{"key": "double", "kind": "calculated", "expression": "n * 2", "show_if": {"field": "n", "op": "equals", "value": 99}}, {"key": "who", "kind": "short_text"}]}`)
	if err := d.Normalize(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		formula string
		result  any
		used    string
		wrong   string // the part with the mistake
	}{
		{"double + n", nil, "n double", ""},
		{`size == "s" ? "small" : "large"`, "small", "size", ""},
		{"1 / 0", nil, "", ""},
		{"n * nonsense + 1", nil, "", "nonsense"},
		{"n *", nil, "", "*"},
		{"ü + n", nil, "", "ü"},
		{`size == "xl" ? 1 : 2`, nil, "", ""},
	} {
		trial := TryFormula(c.formula, d.Fields)
		if c.result != nil && trial.Result != c.result {
			t.Errorf("%s: %v, want %v", c.formula, trial.Result, c.result)
		}
		var used []string
		for _, s := range trial.Sample {
			used = append(used, s.Field.Key)
		}
		if got := strings.Join(used, " "); got != c.used {
			t.Errorf("%s uses %q, want %q", c.formula, got, c.used)
		}
		if got := string([]rune(c.formula)[trial.From:trial.To]); got != c.wrong {
			t.Errorf("%s: the mistake is in %q, want %q: %v", c.formula, got, c.wrong, trial.Err)
		}
		if isWrong := c.wrong != "" || strings.Contains(c.formula, "xl"); (trial.Err != nil) != isWrong {
			t.Errorf("%s: %v", c.formula, trial.Err)
		}
	}
	if sum, ok := TryFormula("double + n", d.Fields).Result.(float64); !ok || sum < 6 {
		t.Errorf("the sample of a number: %v", sum)
	}
}

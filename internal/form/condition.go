package form

import (
	"slices"
	"strings"
)

// Condition says when something is shown: one comparison with an earlier answer,
// or several conditions together.
type Condition struct {
	Field string `json:"field,omitempty" doc:"Key of an earlier field"`
	Op    string `json:"op,omitempty" enum:"equals,not_equals,contains,greater,less,at_least,at_most,answered,not_answered"`
	Value any    `json:"value,omitempty"`

	All []*Condition `json:"all,omitempty" nullable:"false"`
	Any []*Condition `json:"any,omitempty" nullable:"false"`
	Not *Condition   `json:"not,omitempty"`

	ranked bool // the field is a ranking, where the order matters
}

// prepare looks at the fields that the condition is about, once.
func (c *Condition) prepare(fields map[string]*Field) {
	if c == nil {
		return
	}
	f := fields[c.Field]
	c.ranked = f != nil && f.Kind == (ranking{}).Name()
	for _, part := range slices.Concat(c.All, c.Any) {
		part.prepare(fields)
	}
	c.Not.prepare(fields)
}

const maxConditions = 10 // levels

var ops = []string{"equals", "not_equals", "contains", "greater", "less", "at_least", "at_most", "answered", "not_answered"}

// check says what is wrong with a condition on the fields that stand before it.
func (c *Condition) check(before []*Field, wrong func(format string, args ...any), depth int) {
	if c == nil {
		return
	}
	if depth > maxConditions {
		wrong("conditions are nested more than %d levels deep", maxConditions)
		return
	}
	forms := 0
	for _, is := range []bool{c.Field != "" || c.Op != "", c.All != nil, c.Any != nil, c.Not != nil} {
		if is {
			forms++
		}
	}
	if forms != 1 {
		wrong("a condition has field and op, or all, or any, or not")
		return
	}
	for _, part := range slices.Concat(c.All, c.Any) {
		if part == nil {
			wrong("a condition is an object")
			return
		}
		part.check(before, wrong, depth+1)
	}
	c.Not.check(before, wrong, depth+1)
	if c.Field == "" && c.Op == "" {
		return
	}
	if !slices.Contains(ops, c.Op) {
		wrong("%q is not a comparison; there are %s", c.Op, strings.Join(ops, ", "))
	}
	i := slices.IndexFunc(before, func(f *Field) bool { return f.Key == c.Field })
	if i < 0 {
		wrong("%q is not the key of an earlier field", c.Field)
		return
	}
	if !before[i].asked() {
		wrong("%q has no answer to compare with", c.Field)
	}
	if c.Op != "answered" && c.Op != "not_answered" && c.Value == nil {
		wrong("%s needs a value", c.Op)
	}
}

// Holds says whether the condition is true of the answers. None is always true.
func (c *Condition) Holds(answers map[string]any) bool {
	switch {
	case c == nil:
		return true
	case c.All != nil:
		return !slices.ContainsFunc(c.All, func(p *Condition) bool { return !p.Holds(answers) })
	case c.Any != nil:
		return slices.ContainsFunc(c.Any, func(p *Condition) bool { return p.Holds(answers) })
	case c.Not != nil:
		return !c.Not.Holds(answers)
	}
	answer, answered := answers[c.Field]
	switch c.Op {
	case "answered":
		return answered
	case "not_answered":
		return !answered
	case "equals":
		return answered && c.same(answer)
	case "not_equals":
		return !answered || !c.same(answer)
	case "contains":
		return answered && holds(answer, c.Value)
	}
	order, ok := compare(answer, c.Value)
	switch {
	case !answered || !ok:
		return false
	case c.Op == "greater":
		return order > 0
	case c.Op == "less":
		return order < 0
	case c.Op == "at_least":
		return order >= 0
	default: // at_most
		return order <= 0
	}
}

// same compares an answer with the value; several answers are equal to a list of
// the same ones, and a ranking to one in the same order.
func (c *Condition) same(answer any) bool {
	switch a := answer.(type) {
	case []string:
		list, ok := c.Value.([]any)
		if !ok || len(list) != len(a) {
			return false
		}
		value := Strings(list)
		if !c.ranked {
			a = slices.Sorted(slices.Values(a))
			slices.Sort(value)
		}
		return slices.Equal(a, value)
	case string, float64, bool:
		return answer == c.Value
	}
	return false
}

func holds(answer, value any) bool {
	text, ok := value.(string)
	if !ok {
		return false
	}
	switch a := answer.(type) {
	case string:
		return strings.Contains(strings.ToLower(a), strings.ToLower(text))
	case []string:
		return slices.Contains(a, text)
	}
	return false
}

// compare orders numbers by size, and texts (so also dates and times) as text.
func compare(answer, value any) (int, bool) {
	switch a := answer.(type) {
	case float64:
		if v, ok := value.(float64); ok {
			switch {
			case a < v:
				return -1, true
			case a > v:
				return 1, true
			}
			return 0, true
		}
	case string:
		if v, ok := value.(string); ok {
			return strings.Compare(a, v), true
		}
	}
	return 0, false
}

// Asks says whether the condition depends on the answer to a field.
func (c *Condition) Asks(key string) bool {
	if c == nil {
		return false
	}
	among := func(list []*Condition) bool {
		return slices.ContainsFunc(list, func(c *Condition) bool { return c.Asks(key) })
	}
	return c.Field == key || among(c.All) || among(c.Any) || c.Not.Asks(key)
}

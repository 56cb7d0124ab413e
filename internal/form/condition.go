package form

import (
	"slices"
	"strings"
)

// Condition decides whether something is shown: a comparison with an earlier answer, or
// a combination of conditions.
type Condition struct {
	Field string `json:"field,omitempty" doc:"Key of an earlier field"`
	Op    string `json:"op,omitempty" enum:"equals,not_equals,contains,greater,less,at_least,at_most,answered,not_answered"`
	Value any    `json:"value,omitempty"`

	All []*Condition `json:"all,omitempty" nullable:"false"`
	Any []*Condition `json:"any,omitempty" nullable:"false"`
	Not *Condition   `json:"not,omitempty"`

	ranked  bool // the field is a ranking, so the order of values matters
	ready   bool // the fields below are set
	lower   string
	members []string // list to compare with, sorted unless ranked
}

// prepare resolves the field of the condition and normalizes its value, once.
func (c *Condition) prepare(fields map[string]*Field) {
	if c == nil {
		return
	}
	f := fields[c.Field]
	c.ranked = f != nil && f.Traits().Ordered
	c.lower, c.members = c.normalized()
	c.ready = true
	for _, part := range c.All {
		part.prepare(fields)
	}
	for _, part := range c.Any {
		part.prepare(fields)
	}
	c.Not.prepare(fields)
}

// normalized returns the value in the form in which answers are compared with it.
func (c *Condition) normalized() (lower string, members []string) {
	if c.ready {
		return c.lower, c.members
	}
	switch value := c.Value.(type) {
	case string:
		lower = strings.ToLower(value)
	case []any:
		if members = StringSlice(value); !c.ranked {
			slices.Sort(members)
		}
	}
	return lower, members
}

const maxConditions = 10 // nesting depth

var ops = []string{"equals", "not_equals", "contains", "greater", "less", "at_least", "at_most", "answered", "not_answered"}

// check reports what is wrong with a condition on the fields before it.
func (c *Condition) check(before map[string]*Field, problem func(format string, args ...any), depth int) {
	if c == nil {
		return
	}
	if depth > maxConditions {
		problem("conditions can be nested up to %d levels", maxConditions)
		return
	}
	forms := 0
	for _, is := range []bool{c.Field != "" || c.Op != "", c.All != nil, c.Any != nil, c.Not != nil} {
		if is {
			forms++
		}
	}
	if forms != 1 {
		problem("a condition must have field and op, or one of all, any and not")
		return
	}
	for _, list := range [][]*Condition{c.All, c.Any} {
		for _, part := range list {
			if part == nil {
				problem("a condition must be an object")
				return
			}
			part.check(before, problem, depth+1)
		}
	}
	c.Not.check(before, problem, depth+1)
	if c.Field == "" && c.Op == "" {
		return
	}
	if !slices.Contains(ops, c.Op) {
		problem("%q is not an operator; use one of %s", c.Op, strings.Join(ops, ", "))
	}
	f := before[c.Field]
	if f == nil {
		problem("%q is not the key of an earlier question", c.Field)
		return
	}
	if !f.HasAnswer() {
		problem("%q has no answer, so it cannot be used in a condition", c.Field)
	}
	if c.Op != "answered" && c.Op != "not_answered" && c.Value == nil {
		problem("%s requires a value", c.Op)
	}
}

// answerFacts caches normalized answers, so that each answer is normalized once however
// many conditions compare it.
type answerFacts struct {
	answers    map[string]any
	lower      map[string]string   // lowercase texts, by key
	sorted     map[string][]string // sorted lists, by key
	budget     budget
	normalized int // number of normalizations, for tests
}

func newAnswerFacts(answers map[string]any) answerFacts {
	return answerFacts{answers: answers, budget: newBudget()}
}

// lowercased returns the text of an answer in lower case.
func (k *answerFacts) lowercased(key, text string) string {
	lower, ok := k.lower[key]
	if !ok {
		if k.lower == nil {
			k.lower = map[string]string{}
		}
		lower = strings.ToLower(text)
		k.lower[key] = lower
		k.normalized++
	}
	return lower
}

// ordered returns the values of an answer, sorted.
func (k *answerFacts) ordered(key string, list []string) []string {
	sorted, ok := k.sorted[key]
	if !ok {
		if k.sorted == nil {
			k.sorted = map[string][]string{}
		}
		sorted = slices.Sorted(slices.Values(list))
		k.sorted[key] = sorted
		k.normalized++
	}
	return sorted
}

// Matches reports whether the answers fulfill the condition. A nil condition always
// matches.
func (c *Condition) Matches(answers map[string]any) bool {
	known := newAnswerFacts(answers)
	return c.matches(&known)
}

func (c *Condition) matches(known *answerFacts) bool {
	switch {
	case c == nil:
		return true
	case c.All != nil:
		return !slices.ContainsFunc(c.All, func(p *Condition) bool { return !p.matches(known) })
	case c.Any != nil:
		return slices.ContainsFunc(c.Any, func(p *Condition) bool { return p.matches(known) })
	case c.Not != nil:
		return !c.Not.matches(known)
	}
	answer, answered := known.answers[c.Field]
	switch c.Op {
	case "answered":
		return answered
	case "not_answered":
		return !answered
	case "equals":
		return answered && c.same(answer, known)
	case "not_equals":
		return !answered || !c.same(answer, known)
	case "contains":
		return answered && c.contains(answer, known)
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

// same reports whether an answer equals the value. Lists are equal if they have the
// same members; rankings also need the same order.
func (c *Condition) same(answer any, known *answerFacts) bool {
	switch a := answer.(type) {
	case []string:
		list, ok := c.Value.([]any)
		if !ok || len(list) != len(a) {
			return false
		}
		if !c.ranked {
			a = known.ordered(c.Field, a)
		}
		_, members := c.normalized()
		return slices.Equal(a, members)
	case string, float64, bool:
		return answer == c.Value
	}
	return false
}

// searchBytes is the number of bytes that a text search reads per unit of work.
const searchBytes = 16

// contains reports whether an answer contains the value.
func (c *Condition) contains(answer any, known *answerFacts) bool {
	text, ok := c.Value.(string)
	if !ok {
		return false
	}
	switch a := answer.(type) {
	case string:
		lower, _ := c.normalized()
		return known.budget.take(1+int64(len(a))/searchBytes) && strings.Contains(known.lowercased(c.Field, a), lower)
	case []string:
		return known.budget.take(1+int64(len(a))) && slices.Contains(a, text)
	}
	return false
}

// compare orders numbers by value, and texts (including dates and times) as text.
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

// Fields calls found with the key of every field that the condition refers to.
func (c *Condition) Fields(found func(key string)) {
	if c == nil {
		return
	}
	if c.Field != "" {
		found(c.Field)
	}
	for _, list := range [][]*Condition{c.All, c.Any} {
		for _, part := range list {
			part.Fields(found)
		}
	}
	c.Not.Fields(found)
}

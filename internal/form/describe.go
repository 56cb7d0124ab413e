package form

import (
	"encoding/json"
	"strings"
)

// operatorPhrases are the comparisons as people say them.
var operatorPhrases = map[string]string{
	"equals": "is", "not_equals": "is not", "contains": "contains", "greater": "is greater than", "less": "is less than",
	"at_least": "is at least", "at_most": "is at most", "answered": "is answered", "not_answered": "is not answered",
}

// DescribeCondition says a condition as people would: A shirt too? is yes. word puts the
// words of it into a language.
func (d *Definition) DescribeCondition(c *Condition, word func(string) string) string {
	join := func(list []*Condition, between string) string {
		parts := make([]string, len(list))
		for i, part := range list {
			parts[i] = d.DescribeCondition(part, word)
			if part.All != nil || part.Any != nil {
				parts[i] = "(" + parts[i] + ")"
			}
		}
		return strings.Join(parts, " "+word(between)+" ")
	}
	switch {
	case c == nil:
		return word("always")
	case c.All != nil:
		return join(c.All, "and")
	case c.Any != nil:
		return join(c.Any, "or")
	case c.Not != nil:
		return word("not") + " (" + d.DescribeCondition(c.Not, word) + ")"
	}
	name, value := c.Field, ""
	f := d.field(c.Field)
	if f != nil && f.Label != "" {
		name = f.Label
	}
	if c.Value != nil && f != nil {
		if value = f.FormatAnswer(c.Value, word); value == "" {
			text, err := json.Marshal(c.Value)
			if err == nil {
				value = string(text)
			}
		}
	}
	return strings.TrimSpace(word("“") + name + word("”") + " " + word(operatorPhrases[c.Op]) + " " + value)
}

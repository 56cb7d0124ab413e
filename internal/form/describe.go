package form

import (
	"encoding/json"
	"strings"
)

// operatorPhrases are the operators in words.
var operatorPhrases = map[string]string{
	"equals": "is", "not_equals": "is not", "contains": "contains", "greater": "is greater than", "less": "is less than",
	"at_least": "is at least", "at_most": "is at most", "answered": "is answered", "not_answered": "is not answered",
}

// DescribeCondition returns a condition in words, such as: A shirt too? is yes.
func (d *Definition) DescribeCondition(c *Condition, translate func(string) string) string {
	join := func(list []*Condition, between string) string {
		parts := make([]string, len(list))
		for i, part := range list {
			parts[i] = d.DescribeCondition(part, translate)
			if part.All != nil || part.Any != nil {
				parts[i] = "(" + parts[i] + ")"
			}
		}
		return strings.Join(parts, " "+translate(between)+" ")
	}
	switch {
	case c == nil:
		return translate("always")
	case c.All != nil:
		return join(c.All, "and")
	case c.Any != nil:
		return join(c.Any, "or")
	case c.Not != nil:
		return translate("not") + " (" + d.DescribeCondition(c.Not, translate) + ")"
	}
	name, value := c.Field, ""
	f := d.field(c.Field)
	if f != nil && f.Label != "" {
		name = f.Label
	}
	if c.Value != nil && f != nil {
		if value = f.FormatAnswer(c.Value, translate); value == "" {
			text, err := json.Marshal(c.Value)
			if err == nil {
				value = string(text)
			}
		}
	}
	return strings.TrimSpace(translate("“") + name + translate("”") + " " + translate(operatorPhrases[c.Op]) + " " + value)
}

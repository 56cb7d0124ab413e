package form

import (
	"encoding/json"
	"strings"
)

// opWords are the comparisons as people say them.
var opWords = map[string]string{
	"equals": "is", "not_equals": "is not", "contains": "contains", "greater": "is greater than", "less": "is less than",
	"at_least": "is at least", "at_most": "is at most", "answered": "is answered", "not_answered": "is not answered",
}

// Sentence says a condition as people would: A shirt too? is yes. word puts the
// words of it into a language.
func (d *Definition) Sentence(c *Condition, word func(string) string) string {
	join := func(list []*Condition, between string) string {
		parts := make([]string, len(list))
		for i, part := range list {
			parts[i] = d.Sentence(part, word)
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
		return word("not") + " (" + d.Sentence(c.Not, word) + ")"
	}
	name, value := c.Field, ""
	f := d.field(c.Field)
	if f != nil && f.Label != "" {
		name = f.Label
	}
	if c.Value != nil && f != nil {
		if value = f.Say(c.Value, word); value == "" {
			text, err := json.Marshal(c.Value)
			if err == nil {
				value = string(text)
			}
		}
	}
	return strings.TrimSpace(word("“") + name + word("”") + " " + word(opWords[c.Op]) + " " + value)
}

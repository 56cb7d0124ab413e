package form

// isNever reports whether a condition can be shown to be always false: it compares with an
// option that does not exist or a number that is out of range, or its parts contradict each
// other. If in doubt, it is false.
func (d *Definition) isNever(c *Condition) bool {
	if c == nil {
		return false
	}
	switch {
	case len(c.Any) > 0:
		for _, part := range c.Any {
			if !d.isNever(part) {
				return false
			}
		}
		return true
	case c.All != nil:
		wanted := map[string]any{} // by key: the answer that a part requires
		for _, part := range c.All {
			if d.isNever(part) {
				return true
			}
			if part.Op != "equals" || !isScalar(part.Value) {
				continue
			}
			if earlier, ok := wanted[part.Field]; ok && earlier != part.Value {
				return true
			}
			wanted[part.Field] = part.Value
		}
		for _, part := range c.All {
			value, isWanted := wanted[part.Field]
			if isWanted && (part.Op == "not_answered" || part.Op == "not_equals" && isScalar(part.Value) && part.Value == value) {
				return true
			}
		}
		return false
	case c.Field == "":
		return false
	}
	f := d.Field(c.Field)
	return f != nil && f.isNeverAnswered(c)
}

func isScalar(value any) bool {
	switch value.(type) {
	case string, float64, bool:
		return true
	}
	return false
}

// isNeverAnswered reports whether no answer to the field can fulfill the comparison.
func (f *Field) isNeverAnswered(c *Condition) bool {
	switch value := c.Value.(type) {
	case string:
		hasList := f.Options != nil && f.Rows == nil && !f.Other
		return hasList && (c.Op == "equals" || c.Op == "contains" && f.IsList()) && !hasOption(f.Options, value)
	case float64:
		if !f.IsNumeric() {
			return false
		}
		isAbove, isBelow := f.Max != nil && value > *f.Max, f.Min != nil && value < *f.Min
		switch c.Op {
		case "equals":
			return isAbove || isBelow
		case "at_least":
			return isAbove
		case "at_most":
			return isBelow
		case "greater":
			return f.Max != nil && value >= *f.Max
		case "less":
			return f.Min != nil && value <= *f.Min
		}
	}
	return false
}

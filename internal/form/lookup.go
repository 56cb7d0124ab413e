package form

// lookup finds options by their value. One request may ask for as many values as a
// question has options, so a lookup that is used often has an index.
type lookup struct {
	options []Option
	index   map[string]int // nil: scan
}

// scanCost is how many comparisons scanning may take before an index is cheaper.
const scanCost = 1024

// newLookup prepares to look up the given number of values.
func newLookup(options []Option, values int) lookup {
	l := lookup{options: options}
	if values <= 1 || values*len(options) <= scanCost {
		return l
	}
	l.index = make(map[string]int, len(options))
	for i, o := range options {
		if _, ok := l.index[o.Value]; !ok {
			l.index[o.Value] = i
		}
	}
	return l
}

// find is the position of the option with the value, or -1.
func (l lookup) find(value string) int {
	if l.index != nil {
		if i, ok := l.index[value]; ok {
			return i
		}
		return -1
	}
	for i := range l.options {
		if l.options[i].Value == value {
			return i
		}
	}
	return -1
}

// label is the label of the option with the value; any other value is its own.
func (l lookup) label(value string) string {
	if i := l.find(value); i >= 0 {
		return l.options[i].Label
	}
	return value
}

// labels are the values by their labels.
func labels(options []Option, values []string) []string {
	l := newLookup(options, len(values))
	out := make([]string, len(values))
	for i, value := range values {
		out[i] = l.label(value)
	}
	return out
}

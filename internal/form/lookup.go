package form

// lookup finds options by value. A request may contain as many values as a question has
// options, so a lookup that is used often builds an index.
type lookup struct {
	options []Option
	index   map[string]int // nil: scan
}

// scanCost is the number of comparisons above which an index is cheaper than scanning.
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

// find returns the position of the option with the value, or -1.
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

// label returns the label of the option with the value, or the value itself if there is
// none.
func (l lookup) label(value string) string {
	if i := l.find(value); i >= 0 {
		return l.options[i].Label
	}
	return value
}

// labels replaces values by their labels.
func labels(options []Option, values []string) []string {
	l := newLookup(options, len(values))
	out := make([]string, len(values))
	for i, value := range values {
		out[i] = l.label(value)
	}
	return out
}

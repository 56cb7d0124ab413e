package form

// maxWork limits the work of all formulas and conditions of one evaluation, in bytes of
// text read or created. Evaluating a real form takes a few thousand.
const maxWork = 4 << 20

// maxResults limits the total size of the texts that one evaluation calculates, in
// bytes. They are stored with the response.
const maxResults = 256 << 10

// budget is the work that one evaluation may still do. Without enough budget, a formula
// has no result and a condition does not match.
type budget struct {
	left    int64
	results int // bytes of calculated texts
}

func newBudget() budget { return budget{left: maxWork, results: maxResults} }

// take subtracts work from the budget and reports whether there was enough. If not, the
// budget stays as it is, so that cheaper work can still run.
func (b *budget) take(work int64) bool {
	if work > b.left || work < 0 {
		return false
	}
	b.left -= work
	return true
}

// textBytes returns the size of the texts in a value, in bytes.
func textBytes(value any) int64 {
	switch v := value.(type) {
	case string:
		return int64(len(v))
	case []string:
		size := int64(16 * len(v))
		for _, text := range v {
			size += int64(len(text))
		}
		return size
	case map[string]string:
		size := int64(32 * len(v))
		for part, text := range v {
			size += int64(len(part) + len(text))
		}
		return size
	case map[string][]string:
		size := int64(32 * len(v))
		for part, list := range v {
			size += int64(len(part)) + textBytes(list)
		}
		return size
	}
	return 8
}

package form

// maxWork is how much work the formulas and conditions of one evaluation may take
// together, in bytes of text that are read or made. An evaluation of a real form
// takes some thousands.
const maxWork = 4 << 20

// maxResults is how many bytes the texts that one evaluation calculates may have
// together. They are stored with the response.
const maxResults = 256 << 10

// budget is what is left of the work of one evaluation. What would take more is not
// done: a formula has no result then, and a condition does not hold.
type budget struct {
	left    int64
	results int // bytes of calculated texts
}

func newBudget() budget { return budget{left: maxWork, results: maxResults} }

// take uses up some of the budget. It says whether there was enough; if not, nothing
// is used, so smaller work can still be done.
func (b *budget) take(work int64) bool {
	if work > b.left || work < 0 {
		return false
	}
	b.left -= work
	return true
}

// textBytes is how much text a value has, in bytes.
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

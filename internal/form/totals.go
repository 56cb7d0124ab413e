package form

import (
	"fmt"

	"formulary/internal/fault"
)

// Limits of a whole form. They bound the cost of a page and of a submission; limits of
// single fields would multiply.
const (
	maxComparisons = 2000    // comparisons with an answer, in all conditions
	maxPageSize    = 3 << 19 // estimated bytes of HTML of one page
)

// checkTotals rejects forms that are too expensive to show or to evaluate.
func (d *Definition) checkTotals() []fault.Detail {
	comparisons, size := 0, 0
	for i, f := range d.Fields {
		if f.isBreak() {
			size = 0
		}
		if size += f.pageSize(); size > maxPageSize {
			return []fault.Detail{fault.NewDetail(fmt.Sprintf("fields.%d", i), "the page has too many options, rows or countries; split it with a page break")}
		}
		comparisons += f.ShowIf.comparisons()
		for _, jump := range f.Jumps {
			comparisons += jump.If.comparisons()
		}
	}
	for _, e := range d.Endings {
		comparisons += e.ShowIf.comparisons()
	}
	if comparisons > maxComparisons {
		return []fault.Detail{fault.NewDetail("fields", "add no more than %d conditions", maxComparisons)}
	}
	return nil
}

// comparisons returns the number of comparisons in the condition.
func (c *Condition) comparisons() int {
	if c == nil {
		return 0
	}
	n := c.Not.comparisons()
	for _, list := range [][]*Condition{c.All, c.Any} {
		for _, part := range list {
			n += part.comparisons()
		}
	}
	if c.Field != "" || c.Op != "" {
		n++
	}
	return n
}

// Estimated bytes of HTML.
const (
	questionSize = 600 // around a question
	controlSize  = 130 // a control with its label, without the text of the label
)

// pageSize estimates the HTML of the field, in bytes.
func (f *Field) pageSize() int {
	size := questionSize + len(f.Label) + len(f.Help) + len(f.Text)
	options := textLength(f.Options)
	if f.Rows == nil {
		size += options + controlSize*len(f.Options)
	} else { // each cell repeats the labels of its row and column
		size += len(f.Rows)*options + len(f.Options)*textLength(f.Rows) + controlSize*len(f.Rows)*len(f.Options)
	}
	if extra := f.Traits().ExtraSize; extra != nil {
		size += extra(f)
	}
	return size
}

func textLength(options []Option) int {
	length := 0
	for _, o := range options {
		length += len(o.Label) + len(o.Value) + len(o.Image) + len(o.Alt)
	}
	return length
}

// countriesSize estimates the HTML of a list of all countries.
const countriesSize = 250 * 40

package form

import (
	"maps"
	"slices"
)

// CrossTab counts how often the answers to two questions occur together. A response with
// several options counts for each of them.
type CrossTab struct {
	Rows, Columns *Field
	Counts        map[[2]string]int64 // by value of the row and of the column
	Responses     int64               // with an answer to both questions
	Left          int64               // pairs and responses that were not counted, because they are too many

	fields map[*Definition][2]*Field // the questions in each version
}

const (
	maxPairs         = 10_000 // different pairs of answers that are counted
	maxResponsePairs = 2500   // pairs in one response
)

// CanCross reports whether the answers to a question can be counted together with those of
// another one.
func (f *Field) CanCross() bool {
	t := f.Traits()
	return t.Summary.CountsOptions() && f.Rows == nil && !t.Ordered
}

// NewCrossTab returns an empty table of two questions.
func NewCrossTab(rows, columns *Field) *CrossTab {
	return &CrossTab{Rows: rows, Columns: columns, Counts: map[[2]string]int64{}, fields: map[*Definition][2]*Field{}}
}

// Add adds a response.
func (c *CrossTab) Add(d *Definition, answers map[string]any) {
	both, ok := c.fields[d]
	if !ok {
		for _, f := range d.Fields {
			switch {
			case !f.CanCross(): // in this version
			case f.ID == c.Rows.ID:
				both[0] = f
			case f.ID == c.Columns.ID:
				both[1] = f
			}
		}
		c.fields[d] = both
	}
	if both[0] == nil || both[1] == nil {
		return
	}
	rows, columns := countedValues(both[0], answers), countedValues(both[1], answers)
	if len(rows) == 0 || len(columns) == 0 {
		return
	}
	c.Responses++
	if len(rows)*len(columns) > maxResponsePairs {
		c.Left++
		return
	}
	for _, row := range rows {
		for _, column := range columns {
			pair := [2]string{row, column}
			if c.Counts[pair] == 0 && len(c.Counts) >= maxPairs {
				c.Left++
				continue
			}
			c.Counts[pair]++
		}
	}
}

// countedValues returns the values as which an answer is counted.
func countedValues(f *Field, answers map[string]any) []string {
	answer, ok := answers[f.Key]
	if !ok {
		return nil
	}
	stats := QuestionStats{Counts: map[string]int64{}}
	stats.count(f, "", answer, 1)
	return slices.Sorted(maps.Keys(stats.Counts))
}

// CrossLine is a row or a column of a table of two questions.
type CrossLine struct {
	Value, Label string
	Total        int64
}

// Lines returns the rows and the columns in the order of the options: at most the given
// number of each, those with the most answers.
func (c *CrossTab) Lines(maxRows, maxColumns int) (rows, columns []CrossLine) {
	totals := [2]map[string]int64{{}, {}}
	for pair, n := range c.Counts {
		totals[0][pair[0]] += n
		totals[1][pair[1]] += n
	}
	return crossLines(c.Rows, totals[0], maxRows), crossLines(c.Columns, totals[1], maxColumns)
}

func crossLines(f *Field, totals map[string]int64, limit int) []CrossLine {
	var list []CrossLine
	for _, o := range OptionCounts(f, &QuestionStats{Counts: totals}) {
		list = append(list, CrossLine{o.Value, o.Label, o.Count})
	}
	if len(list) <= limit {
		return list
	}
	counts := make([]int64, len(list))
	for i, line := range list {
		counts[i] = line.Total
	}
	slices.Sort(counts)
	least := counts[len(counts)-limit]
	more := 0 // lines with more than the least number; the others fill up the rest
	for _, n := range counts {
		if n > least {
			more++
		}
	}
	equal := limit - more
	return slices.DeleteFunc(list, func(line CrossLine) bool {
		if line.Total == least {
			equal--
			return equal < 0
		}
		return line.Total < least
	})
}

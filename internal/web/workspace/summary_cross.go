package workspace

import (
	"cmp"
	"math"

	"formulary/internal/form"
)

const (
	maxCrossRows    = 30
	maxCrossColumns = 12
	heatLevels      = 10
)

// crossQuestion is a question that can be crossed with another one.
type crossQuestion struct{ Key, Label string }

// crossTable shows how often the answers to two questions occur together.
type crossTable struct {
	Rows, Columns string // labels of the questions
	Responses     int64  // with an answer to both
	Heads         []form.CrossLine
	Lines         []crossLine
	Cut           bool // there are more rows or columns
	Left          int64
}

type crossLine struct {
	Label string
	Cells []crossCell
	Total int64
}

type crossCell struct {
	Count int64
	Share float64 // of the row
	Heat  int     // from 0 to heatLevels
	Link  string  // to the responses
}

// readCross returns the table that the address asks for, still empty, or nil.
func (p *summaryPage) readCross() *form.CrossTab {
	var rows, columns *form.Field
	for _, f := range p.query.fields {
		if !f.CanCross() {
			continue
		}
		p.Crossable = append(p.Crossable, crossQuestion{f.Key, cmp.Or(f.Label, f.Key)})
		if f.Key == p.Kept.Get("rows") && rows == nil {
			rows = f
		}
		if f.Key == p.Kept.Get("columns") && columns == nil {
			columns = f
		}
	}
	if rows == nil || columns == nil || rows == columns {
		return nil
	}
	return form.NewCrossTab(rows, columns)
}

// showCross shows a table of two questions.
func (p *summaryPage) showCross(c *form.CrossTab) {
	if c == nil {
		return
	}
	rows, columns := c.Lines(maxCrossRows, maxCrossColumns)
	t := &crossTable{Rows: cmp.Or(c.Rows.Label, c.Rows.Key), Columns: cmp.Or(c.Columns.Label, c.Columns.Key), Responses: c.Responses, Left: c.Left}
	t.Cut = len(rows) == maxCrossRows || len(columns) == maxCrossColumns
	peak := int64(1)
	for _, n := range c.Counts {
		peak = max(peak, n)
	}
	for _, column := range columns {
		column.Label = p.optionText(c.Columns, column)
		t.Heads = append(t.Heads, column)
	}
	for _, row := range rows {
		line := crossLine{Label: p.optionText(c.Rows, row), Total: row.Total}
		for _, column := range columns {
			n := c.Counts[[2]string{row.Value, column.Value}]
			cell := crossCell{Count: n, Heat: int(math.Ceil(heatLevels * float64(n) / float64(peak)))}
			if row.Total > 0 {
				cell.Share = float64(n) / float64(row.Total)
			}
			if n > 0 && row.Value != form.OtherValue && column.Value != form.OtherValue {
				cell.Link = p.linkToResponses(answerCondition(c.Rows, "", row.Value), answerCondition(c.Columns, "", column.Value))
			}
			line.Cells = append(line.Cells, cell)
		}
		t.Lines = append(t.Lines, line)
	}
	p.Cross = t
}

// optionText is the label of an option. Those of the owner are not translated.
func (p *summaryPage) optionText(f *form.Field, line form.CrossLine) string {
	if f.Options != nil && line.Value != form.OtherValue {
		return p.country(f, line.Label)
	}
	return p.country(f, p.T(line.Label))
}

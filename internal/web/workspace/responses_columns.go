package workspace

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"formulary/internal/form"
	"formulary/internal/store"
	"formulary/internal/web/page"
)

// sortedBy reads the order of the table: the key of a question, with a minus for
// descending order.
func sortedBy(text string, fields []*form.Field) store.AnswerSort {
	text, down := strings.CutPrefix(text, "-")
	key, part, _ := strings.Cut(text, ".")
	for _, f := range fields {
		if f.Key == key && (part == "" || slices.ContainsFunc(f.Parts(), func(p form.Option) bool { return p.Value == part })) {
			return store.AnswerSort{Key: key, Part: part, Numbers: f.IsNumeric(), Down: down}
		}
	}
	return store.AnswerSort{}
}

// sorting sets how the table is sorted by a column, and the link that changes it.
func (p *responsesPage) sorting(c *responseColumn, unsorted string) {
	by := c.Key
	switch p.Kept.Get("by") {
	case c.Key:
		c.Sorted, by = "ascending", "-"+c.Key
	case "-" + c.Key:
		c.Sorted, by = "descending", ""
	}
	c.Sort = unsorted
	if by != "" {
		c.Sort += "by=" + url.QueryEscape(by)
	}
}

// maxShown limits the columns of the table: each has a link that names all of them.
const maxShown = 100

// chosenColumns returns the columns that the address names. Links contain only those, so
// a long address does not become a long page.
func (p *responsesPage) chosenColumns(columns []form.Column) map[string]bool {
	named := map[string]bool{}
	for _, key := range p.Kept["column"] {
		named[key] = true
	}
	shown := map[string]bool{}
	var kept []string
	for _, c := range columns {
		if named[c.Key] && len(kept) < maxShown {
			kept, shown[c.Key] = append(kept, c.Key), true
		}
	}
	if p.Kept.Del("column"); len(kept) > 0 {
		p.Kept["column"] = kept
	}
	return shown
}

// unsorted is the address of the table without an order, to which links add one.
func (p *responsesPage) unsorted() string {
	query := maps.Clone(p.Kept)
	query.Del("by")
	address := "/forms/" + p.Form.ID + "/responses?" + query.Encode()
	if len(query) > 0 {
		address += "&"
	}
	return address
}

// defaultColumns returns the columns that are shown at first. Questions without a
// condition come before those with one.
func defaultColumns(columns []form.Column, fields map[string]*form.Field) map[string]bool {
	shown := map[string]bool{}
	for _, always := range []bool{true, false} {
		for _, c := range columns {
			f := fields[c.ID]
			if len(shown) < defaultShown && (f != nil && f.ShowIf == nil) == always {
				shown[c.Key] = true
			}
		}
	}
	return shown
}

// responseRows fills the columns that are shown.
func (pages *Pages) responseRows(req *page.Request, p *responsesPage, versions []*form.Definition, list []form.Response) error {
	columns := form.Columns(versions)
	shown := p.chosenColumns(columns)
	if len(shown) == 0 && len(versions) > 0 {
		shown = defaultColumns(columns, versions[len(versions)-1].ByID())
	}
	p.HasFiles = slices.ContainsFunc(versions, func(d *form.Definition) bool { return d.HasFiles() })
	unsorted := p.unsorted()
	for _, c := range columns {
		column := responseColumn{Column: c, Shown: shown[c.Key]}
		if column.Shown {
			p.sorting(&column, unsorted)
		}
		p.Columns = append(p.Columns, column)
	}
	for _, r := range list {
		answers, err := r.Answers()
		if err != nil {
			return err
		}
		fields := versions[r.Version-1].ByID()
		var files map[string]store.File
		if p.HasFiles {
			if files, err = pages.fileRows(req, r); err != nil {
				return err
			}
		}
		row := responseRow{ID: r.ID, SubmittedAt: r.SubmittedAt}
		for _, c := range p.Columns {
			if c.Shown {
				row.Cells = append(row.Cells, pages.cell(req, c.Column, fields[c.ID], answers, files))
			}
		}
		p.Rows = append(p.Rows, row)
	}
	return nil
}

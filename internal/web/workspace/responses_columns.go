package workspace

import (
	"net/url"
	"slices"
	"strings"

	"formulary/internal/form"
	"formulary/internal/store"
	"formulary/internal/web/page"
)

type responseColumn struct {
	form.Column
	Shown  bool
	Sorted string // ascending, descending; empty: not sorted by this column
	Sort   string // address of the list sorted by this column, or empty
}

// sortedBy reads the order of the list: the key of a question, with a minus for
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

// sorting sets how the list is sorted by a column, and the link that changes it.
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

// maxShown limits the columns of the list: each has a link that names all of them.
const maxShown = 100

// knownColumns returns the keys that are columns, each once.
func knownColumns(keys []string, columns []form.Column) []string {
	known := map[string]bool{}
	for _, c := range columns {
		known[c.Key] = true
	}
	var list []string
	for _, key := range keys {
		if known[key] && len(list) < maxShown {
			list, known[key] = append(list, key), false
		}
	}
	return list
}

// arrangeColumns sets the columns in the order in which they are shown. The address comes
// before what the user last chose, and that before the first questions. Links contain only
// columns that exist, so a long address does not become a long page.
func (p *responsesPage) arrangeColumns(versions []*form.Definition, layout store.ResponseLayout) {
	columns := form.Columns(versions)
	shown := knownColumns(p.Kept["column"], columns)
	if p.Kept.Del("column"); len(shown) > 0 {
		p.Kept["column"] = shown
	} else {
		shown = knownColumns(layout.Columns, columns)
	}
	if len(shown) == 0 && len(versions) > 0 {
		shown = defaultColumns(columns, versions[len(versions)-1].ByID())
	}
	p.HasFiles = slices.ContainsFunc(versions, func(d *form.Definition) bool { return d.HasFiles() })
	byKey := map[string]form.Column{}
	for _, c := range columns {
		byKey[c.Key] = c
	}
	unsorted := p.unsorted()
	for _, key := range shown {
		column := responseColumn{Column: byKey[key], Shown: true}
		p.sorting(&column, unsorted)
		p.Columns = append(p.Columns, column)
	}
	for _, c := range columns {
		if !slices.Contains(shown, c.Key) {
			p.Columns = append(p.Columns, responseColumn{Column: c})
		}
	}
}

// unsorted is the address of the list without an order, to which links add one.
func (p *responsesPage) unsorted() string {
	query := url.Values{}
	for name, values := range p.Kept {
		if name != "by" {
			query[name] = values
		}
	}
	address := responsesAddress(p.Form.ID, query)
	if len(query) > 0 {
		return address + "&"
	}
	return address + "?"
}

// defaultColumns returns the columns that are shown at first. Questions without a
// condition come before those with one.
func defaultColumns(columns []form.Column, fields map[string]*form.Field) []string {
	var shown []string
	for _, always := range []bool{true, false} {
		for _, c := range columns {
			f := fields[c.ID]
			if len(shown) < defaultShown && (f != nil && f.ShowIf == nil) == always {
				shown = append(shown, c.Key)
			}
		}
	}
	// In the order of the questions.
	var list []string
	for _, c := range columns {
		if slices.Contains(shown, c.Key) {
			list = append(list, c.Key)
		}
	}
	return list
}

// ArrangeResponses remembers the columns of the list, their order, and whether it is a
// table. A list whose address has columns, such as that of a view, keeps them there.
func (pages *Pages) ArrangeResponses(req *page.Request) error {
	id := req.PathValue("id")
	kept := keptQuery(req.Field("kept"))
	versions, err := pages.Store.Definitions(req.Context(), req.Owner(), id)
	if err != nil {
		return err
	}
	layout, err := pages.Store.ResponseLayout(req.Context(), req.Owner(), id, req.User.ID)
	if err != nil {
		return err
	}
	switch req.Field("layout") {
	case "table":
		layout.Table = true
	case "list":
		layout.Table = false
	default:
		columns := moveColumn(knownColumns(req.PostForm["column"], form.Columns(versions)), req.Field("move"))
		if kept.Has("column") || kept.Has("view") {
			kept["column"] = columns
			return req.Redirect(responsesAddress(id, kept))
		}
		layout.Columns = columns
	}
	if err := pages.Store.SaveResponseLayout(req.Context(), req.Owner(), id, req.User.ID, layout); err != nil {
		return err
	}
	return req.Redirect(responsesAddress(id, kept))
}

// moveColumn moves a column one place: up:key or down:key.
func moveColumn(columns []string, move string) []string {
	direction, key, _ := strings.Cut(move, ":")
	at := slices.Index(columns, key)
	to := at + 1
	if direction == "up" {
		to = at - 1
	}
	if at >= 0 && to >= 0 && to < len(columns) {
		columns[at], columns[to] = columns[to], columns[at]
	}
	return columns
}

// keptQuery reads the query of a list that a form repeats. It contains nothing else.
func keptQuery(text string) url.Values {
	query, err := url.ParseQuery(text)
	if err != nil {
		return url.Values{}
	}
	kept := url.Values{}
	for _, name := range keptParameters {
		if values := query[name]; len(values) > 0 {
			kept[name] = values
		}
	}
	return kept
}

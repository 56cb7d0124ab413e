package form

import "strings"

// Column is one column of an export: a field, or a part of it such as a row.
type Column struct {
	ID    string // the field's, which stays when its key changes
	Key   string
	Label string
	part  string
}

// Columns are those of the newest definition, and after them what only earlier
// ones asked: no answer that was ever given is left out.
func Columns(versions []*Definition) []Column {
	var list []Column
	seen := map[[2]string]bool{}
	for i := len(versions) - 1; i >= 0; i-- {
		for _, f := range versions[i].Fields {
			if !f.HasAnswer() {
				continue
			}
			parts := f.Parts()
			if parts == nil {
				parts = []Option{{}}
			}
			for _, part := range parts {
				c := Column{ID: f.ID, Key: f.Key, Label: f.Label, part: part.Value}
				if part.Value != "" {
					c.Key, c.Label = c.Key+"."+part.Value, c.Label+": "+part.Label
				}
				if c.Label == "" {
					c.Label = c.Key
				}
				if place := [2]string{c.ID, c.part}; !seen[place] {
					seen[place] = true
					list = append(list, c)
				}
			}
		}
	}
	return list
}

// ByID are the fields of a definition by their ids.
func (d *Definition) ByID() map[string]*Field {
	byID := make(map[string]*Field, len(d.Fields))
	for _, f := range d.Fields {
		byID[f.ID] = f
	}
	return byID
}

// Cell is an answer in a column: a text, a number, yes or no, or nothing. Options
// are written by their labels where labels are wanted. f is the field as the
// answered version had it, or nil if it had none.
func (c Column) Cell(f *Field, answers map[string]any, asLabels bool) any {
	if f == nil {
		return nil
	}
	answer, ok := answers[f.Key]
	if !ok {
		return nil
	}
	if c.part != "" {
		parts, ok := answer.(map[string]any)
		if !ok {
			return nil
		}
		answer = parts[c.part]
	}
	switch a := answer.(type) {
	case string:
		if asLabels && len(f.Options) > 0 {
			return optionLabel(f.Options, a)
		}
		return answer
	case []any:
		texts := StringSlice(a)
		if asLabels {
			texts = labels(f.Options, texts)
		}
		return strings.Join(texts, "; ")
	case float64, bool:
		return answer
	}
	return nil
}

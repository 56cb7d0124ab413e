package form

import "strings"

// Column is one column of an export: a field, or a part of it such as a matrix row.
type Column struct {
	ID    string // ID of the field, which stays when its key changes
	Key   string
	Label string
	part  string
}

// Columns returns the columns of the newest definition, followed by those that only
// earlier versions have, so that an export contains every answer.
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
				if column := [2]string{c.ID, c.part}; !seen[column] {
					seen[column] = true
					list = append(list, c)
				}
			}
		}
	}
	return list
}

// ByID returns the fields of a definition by ID.
func (d *Definition) ByID() map[string]*Field {
	byID := make(map[string]*Field, len(d.Fields))
	for _, f := range d.Fields {
		byID[f.ID] = f
	}
	return byID
}

// Cell returns the value of a column: text, number, boolean or nil. asLabels replaces
// option values by their labels. f is the field in the version that was answered, or
// nil if that version does not have it.
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
		if files := FilesOf(a); files != nil {
			return strings.Join(fileNames(files), "; ")
		}
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

package form

import "net/url"

// matrix asks the same question for several rows, with one or several answers per row.
type matrix struct{}

func (matrix) Name() string         { return "matrix" }
func (matrix) Properties() []string { return []string{"rows", "options", "several"} }

const maxRows = 100

func (matrix) Check(f *Field, invalid func(property, format string, args ...any)) {
	if len(f.Rows) == 0 || len(f.Rows) > maxRows {
		invalid("rows", "add 1 to %d rows", maxRows)
	}
	if len(f.Options) == 0 || len(f.Options) > maxRows {
		invalid("options", "add 1 to %d columns", maxRows)
	}
}

func (matrix) ParseForm(f *Field, in url.Values) any {
	answer := map[string]any{}
	for _, row := range optionValues(f.Rows) {
		var list []any
		for _, text := range in[f.Key+"."+row] {
			if text != "" {
				list = append(list, text)
			}
		}
		switch {
		case list == nil:
		case f.Several:
			answer[row] = list
		default:
			answer[row] = list[0]
		}
	}
	if len(answer) == 0 {
		return nil
	}
	return answer
}

var (
	errRow  = answerError("this row does not exist")
	errRows = answerError("answer every row")
)

func (matrix) Validate(f *Field, value any) (any, error) {
	given, ok := value.(map[string]any)
	if !ok {
		return nil, errObject
	}
	if len(given) > len(f.Rows) {
		return nil, errRow
	}
	rows, cells := newLookup(f.Rows, len(given)), 0
	for row, cell := range given {
		if rows.find(row) < 0 {
			return nil, errRow
		}
		list, _ := cell.([]any)
		if len(list) > len(f.Options) {
			return nil, tooManyPicks(len(f.Options))
		}
		cells += max(1, len(list))
	}
	answer := make(map[string]any, len(given))
	options := newLookup(f.Options, cells)
	for row, cell := range given {
		got, err := f.cell(options, cell)
		if err != nil {
			return nil, err
		}
		if got != nil {
			answer[row] = got
		}
	}
	switch {
	case len(answer) == 0:
		return nil, nil
	case f.Required && len(answer) < len(f.Rows):
		return nil, errRows
	}
	return answer, nil
}

// cell validates the answer in one row. Callers check its length first.
func (f *Field) cell(options lookup, value any) (any, error) {
	if f.Several {
		list, ok := value.([]any)
		if !ok {
			return nil, errList
		}
		if chosen, err := validateSelections(f, options, list); err != nil || chosen != nil {
			return chosen, err
		}
		return nil, nil
	}
	text, ok := value.(string)
	switch {
	case !ok:
		return nil, errText
	case text == "":
		return nil, nil
	case options.find(text) < 0:
		return nil, errChoice
	}
	return value, nil
}

func (matrix) Schema(f *Field) map[string]any {
	cell := choiceSchema(&Field{Options: f.Options})
	if f.Several {
		cell = map[string]any{"type": "array", "items": cell, "uniqueItems": true}
	}
	rows := map[string]any{}
	for _, row := range optionValues(f.Rows) {
		rows[row] = cell
	}
	schema := map[string]any{"type": "object", "properties": rows, "additionalProperties": false}
	if f.Required {
		schema["required"] = optionValues(f.Rows)
	}
	return schema
}

func (matrix) Traits() Traits {
	return Traits{
		Summary: CountOptions, List: true, Group: true, Sketch: "matrix", OptionPoints: true,
		Rules: partRules(errRows, func(f *Field) []string { return optionValues(f.Rows) }),
		Parts: func(f *Field) []Option { return f.Rows },
		Example: func(f *Field, s Sampler) any {
			rows := map[string]any{}
			for _, row := range f.Rows {
				rows[row.Value] = s.pick(f.Options)
			}
			return rows
		},
	}
}

func (matrix) Info() KindInfo {
	return KindInfo{"Matrix", "Rate several rows on the same options", "Choices", "matrix", "grid, table, likert, radio grid"}
}

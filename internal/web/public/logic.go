package public

import (
	"slices"

	"formulary/internal/form"
)

// logic is the data with which the script shows and hides questions while respondents
// answer. The server evaluates the same conditions when the page is posted.
type logic struct {
	Answers map[string]any `json:"answers"` // of earlier pages
	Fields  []logicField   `json:"fields"`
	Ranked  []string       `json:"ranked,omitempty"` // keys of questions whose order matters
}

type logicField struct {
	Key    string          `json:"key"`
	Shape  string          `json:"shape,omitempty"` // how the script reads the controls; empty: as a text
	ShowIf *form.Condition `json:"show_if,omitempty"`
}

// newLogic returns nil if no question on the page has a condition.
func newLogic(d *form.Definition, questions []*question, e form.Evaluation) *logic {
	if !slices.ContainsFunc(questions, func(q *question) bool { return q.Conditional }) {
		return nil
	}
	l := &logic{Answers: map[string]any{}, Fields: []logicField{}}
	here, needed := map[string]bool{}, map[string]bool{}
	for _, q := range questions {
		q.ShowIf.Fields(func(key string) { needed[key] = true })
		here[q.Key] = !q.Traits().Calculated
		if q.TakesAnswer() || q.Conditional {
			l.Fields = append(l.Fields, logicField{q.Key, controlShape(q.Field), q.ShowIf})
		}
	}
	for key, answer := range e.Answers {
		// Other answers stay on the server: one may be a score that respondents must not see.
		if !here[key] && needed[key] {
			l.Answers[key] = answer
		}
	}
	for _, f := range d.Fields {
		if f.Traits().Ordered && needed[f.Key] {
			l.Ranked = append(l.Ranked, f.Key)
		}
	}
	return l
}

// controlShape says how the script reads the controls of a question.
func controlShape(f *form.Field) string {
	switch t := f.Traits(); {
	case !f.TakesAnswer():
		return ""
	case f.Parts() != nil:
		return "parts"
	case t.DateParts:
		return "date"
	case t.Ordered:
		return "ranking"
	case f.IsList():
		return "list"
	case t.Decimal:
		return "decimal"
	case f.IsNumeric():
		return "number"
	case f.IsBoolean():
		return "boolean"
	}
	return ""
}

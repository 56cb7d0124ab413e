package store

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"formulary/internal/db"
	"formulary/internal/form"
)

// Comparison is a condition on the answer to a question, as people and applications write
// it.
type Comparison struct {
	Field string `json:"field" maxLength:"400" doc:"Key of a question; key.part for part of an answer or a matrix row" example:"score"`
	Op    string `json:"op" enum:"equals,not_equals,contains,not_contains,greater,less,at_least,at_most,answered,not_answered"`
	Value string `json:"value,omitempty" maxLength:"1000" doc:"What the answer is compared with, as text; for a choice the value of an option" example:"8"`
}

// AnswerFilter is a comparison that fits the questions of a form.
type AnswerFilter struct {
	paths  []answerPath
	lists  bool     // answers may be lists; one matching element is enough
	part   string   // such as the row of a matrix; empty: the whole answer
	op     string   // see form.Comparisons; empty: equals
	values []string // as JSON; any of them matches
	text   string   // instead of values: what the answer contains, or is less or greater than
}

// MaxAnswerFilters limits the answer filters of one request.
const MaxAnswerFilters = 10

// FilterError reports a condition that the form's questions do not allow. Index is its
// place among the comparisons, or -1.
type FilterError struct {
	Index   int
	Message string
}

func (m *FilterError) Error() string { return m.Message }

// pathSigns are special in SQLite's JSON paths.
const pathSigns = `$"\`

// AnswerFilters checks comparisons with the form's questions, which decide how a value is
// parsed.
func (s *Store) AnswerFilters(ctx context.Context, owner, formID string, comparisons []Comparison) (_ []AnswerFilter, err error) {
	defer wrap(&err, "read answer filters")
	if len(comparisons) == 0 {
		return nil, nil
	}
	if len(comparisons) > MaxAnswerFilters {
		return nil, &FilterError{-1, "has too many conditions; the limit is " + strconv.Itoa(MaxAnswerFilters)}
	}
	versions, err := s.Definitions(ctx, owner, formID)
	if err != nil {
		return nil, err
	}
	list := make([]AnswerFilter, len(comparisons))
	for i, c := range comparisons {
		message := ""
		if list[i], message = c.resolve(versions); message != "" {
			return nil, &FilterError{i, message}
		}
	}
	return list, nil
}

// resolve returns the filter of a comparison, or what is wrong with it.
func (c Comparison) resolve(versions []*form.Definition) (_ AnswerFilter, message string) {
	key, part, _ := strings.Cut(c.Field, ".")
	var question *form.Field
	for _, d := range versions {
		for _, f := range d.Fields {
			if f.Key == key && f.HasAnswer() {
				question = f
			}
		}
	}
	if question == nil || strings.ContainsAny(part, pathSigns) {
		return AnswerFilter{}, "is not a question in this form"
	}
	filter := filterOf(versions, question.ID, part)
	filter.op = c.Op
	switch c.Op {
	case form.Answered, form.NotAnswered:
		return filter, ""
	case form.Greater, form.Less, form.AtLeast, form.AtMost:
		return filter.ordered(question, c.Value)
	case form.Contains, form.NotContains:
		if !filter.lists {
			filter.text = c.Value
			return filter, emptyValue(c.Value)
		}
	case form.Equals, form.NotEquals:
	default:
		return filter, "must have one of these operators: " + strings.Join(form.Comparisons, ", ")
	}
	text, err := question.JSON(c.Value)
	if err != nil {
		return filter, mismatch
	}
	filter.values = []string{text}
	return filter, ""
}

const mismatch = "does not match any answer to this question"

func emptyValue(value string) string {
	if value == "" {
		return mismatch
	}
	return ""
}

// ordered completes a filter that compares numbers, dates or times.
func (a AnswerFilter) ordered(f *form.Field, value string) (AnswerFilter, string) {
	if layout := f.Traits().TimeLayout; layout != "" {
		_, err := time.Parse(layout, value)
		if _, isDay := time.Parse(time.DateOnly, value); err != nil && isDay != nil {
			return a, mismatch
		}
		a.text = value
		return a, ""
	}
	text, err := f.JSON(value)
	if _, notNumber := strconv.ParseFloat(text, 64); err != nil || notNumber != nil {
		return a, mismatch
	}
	a.values = []string{text}
	return a, ""
}

var orderSigns = map[string]string{form.Greater: " > ", form.Less: " < ", form.AtLeast: " >= ", form.AtMost: " <= "}

// condition selects responses whose answer compares as the filter says.
func (a AnswerFilter) condition(db db.DB) (string, []any) {
	var either []string
	var args []any
	for _, p := range a.paths {
		sql, values := a.at(p.key, db)
		if p.to != 0 {
			sql, values = `version >= ? AND version <= ? AND (`+sql+`)`, append([]any{p.from, p.to}, values...)
		}
		either, args = append(either, sql), append(args, values...)
	}
	sql := `(` + strings.Join(either, `) OR (`) + `)`
	if slices.Contains([]string{form.NotEquals, form.NotContains, form.NotAnswered}, a.op) {
		// Without an answer, the comparison is NULL.
		sql = `CASE WHEN ` + sql + ` THEN 0 ELSE 1 END = 1`
	}
	return sql, args
}

// at is the condition for one key of the question. Conditions with "not" are negated later.
func (a AnswerFilter) at(key string, db db.DB) (sql string, args []any) {
	answer, text, path := answerSQL, asTextSQL, []any{key}
	if a.part != "" {
		answer, text, path = answer+` -> CAST(? AS TEXT)`, partTextSQL, []any{key, a.part}
	}
	// add adds an alternative, in which the answer may occur several times.
	add := func(condition string, with ...any) {
		if sql != "" {
			sql += ` OR `
		}
		sql += condition
		for range strings.Count(condition, answer) {
			args = append(args, path...)
		}
		args = append(args, with...)
	}
	sign, isOrder := orderSigns[a.op]
	switch {
	case a.op == form.Answered || a.op == form.NotAnswered:
		add(answer + ` IS NOT NULL`)
		return sql, args
	case isOrder && a.text != "":
		return text + sign + `CAST(? AS TEXT)`, append(path, a.text)
	case isOrder:
		add(asNumber(answer)+sign+`CAST(CAST(? AS TEXT) AS DOUBLE PRECISION)`, a.values[0])
		return sql, args
	case a.text != "":
		return `STRPOS(` + db.Lower(text) + `, ` + db.Lower(`CAST(? AS TEXT)`) + `) > 0`, append(path, a.text)
	}
	if n, err := strconv.ParseFloat(a.values[0], 64); err == nil {
		// The databases format numbers differently.
		add(asNumber(answer)+` = CAST(CAST(? AS TEXT) AS DOUBLE PRECISION)`, strconv.FormatFloat(n, 'g', -1, 64))
	} else {
		texts := make([]any, len(a.values))
		for i, value := range a.values {
			texts[i] = value
		}
		add(`CAST(`+answer+` AS TEXT) IN (?`+strings.Repeat(`, ?`, len(texts)-1)+`)`, texts...)
	}
	for _, value := range a.values {
		var text string
		if a.lists && json.Unmarshal([]byte(value), &text) == nil {
			add(db.JSONArrayHas(answer), text)
		}
	}
	return sql, args
}

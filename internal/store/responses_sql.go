package store

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"formulary/internal/db"
	"formulary/internal/form"
	"formulary/internal/id"
)

func (f ResponseFilter) empty() bool {
	return f.Since.IsZero() && f.Until.IsZero() && f.Search == "" && f.Version == 0 && len(f.Answers) == 0
}

// where returns the condition of the filter, composed of the constants below, and its
// arguments. IDs start with the time of submission, so the primary key also serves time
// ranges.
func (f ResponseFilter) where(owner, formID string, db db.DB) (string, []any) {
	sql, args := ` FROM response WHERE account_id = $1 AND form_id = $2`, []any{owner, formID}
	add := func(condition string, values ...any) {
		sql += numbered(condition, len(args)+1)
		args = append(args, values...)
	}
	if !f.Since.IsZero() {
		add(` AND id >= ?`, id.First(id.Response, f.Since))
	}
	if !f.Until.IsZero() {
		add(` AND id < ?`, id.First(id.Response, f.Until))
	}
	if f.Version != 0 {
		add(` AND version = ?`, f.Version)
	}
	if f.Search != "" {
		first, values := searchCondition(f.Search, db)
		either := []string{first}
		for _, a := range f.LabelMatches {
			is, with := a.condition(db)
			either, values = append(either, is), append(values, with...)
		}
		add(` AND (`+strings.Join(either, ` OR `)+`)`, values...)
	}
	for _, a := range f.Answers {
		is, with := a.condition(db)
		add(` AND (`+is+`)`, with...)
	}
	return sql, args
}

// numbered replaces each ? in the SQL by a numbered parameter, starting at first.
func numbered(sql string, first int) string {
	var out strings.Builder
	for {
		before, after, more := strings.Cut(sql, "?")
		out.WriteString(before)
		if !more {
			return out.String()
		}
		out.WriteString("$" + strconv.Itoa(first))
		sql, first = after, first+1
	}
}

// jsonEscapedChars are characters that JSON escapes or uses as syntax. A text without
// them can only be in the answers if it is in their JSON.
const jsonEscapedChars = `"\<>&,:[]{}` + "\u2028\u2029"

// searchCondition selects responses with the text in an answer. Most do not contain it
// in their JSON either, which is quick to check.
func searchCondition(text string, db db.DB) (string, []any) {
	lowered := db.Lower(`CAST(? AS TEXT)`)
	sql, args := db.JSONContains(`answers`, lowered), []any{text}
	if strings.ContainsAny(text, jsonEscapedChars) || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' }) {
		return sql, args
	}
	return `(STRPOS(` + db.Lower(`CAST(answers AS TEXT)`) + `, ` + lowered + `) > 0 AND ` + sql + `)`, append(args, text)
}

// condition selects responses with the answer, or with a list that contains it.
func (a AnswerFilter) condition(db db.DB) (string, []any) {
	answer, text, path := answerSQL, asTextSQL, []any{}
	if a.part != "" {
		answer, text, path = answer+` -> CAST(? AS TEXT)`, partTextSQL, []any{a.part}
	}
	var either []string
	var args []any
	for _, p := range a.paths {
		var sql string
		var values []any
		// add adds a condition, in which the answer may occur several times.
		add := func(condition string, with ...any) {
			if sql != "" {
				sql += ` OR `
			}
			sql += condition
			for range strings.Count(condition, answer) {
				values = append(append(values, p.key), path...)
			}
			values = append(values, with...)
		}
		if a.within != "" {
			sql = `STRPOS(` + db.Lower(text) + `, ` + db.Lower(`CAST(? AS TEXT)`) + `) > 0`
			values = append(append(append(values, p.key), path...), a.within)
		} else if n, err := strconv.ParseFloat(a.values[0], 64); err == nil {
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
			if a.lists && a.within == "" && json.Unmarshal([]byte(value), &text) == nil {
				add(db.JSONArrayHas(answer), text)
			}
		}
		if p.to != 0 {
			sql, values = `version >= ? AND version <= ? AND (`+sql+`)`, append([]any{p.from, p.to}, values...)
		}
		either, args = append(either, sql), append(args, values...)
	}
	return `(` + strings.Join(either, `) OR (`) + `)`, args
}

// answerPath is a key under which answers to a question are stored, and the versions in
// which the question had it. If no other question ever had the key, to is 0.
type answerPath struct {
	key      string
	from, to int64
}

// maxAnswerPaths limits how many changes of a question's key are considered.
const maxAnswerPaths = 50

// answerPaths returns the keys under which the answers to a question are stored.
func answerPaths(versions []*form.Definition, id string) []answerPath {
	others := map[string]bool{} // keys of other questions
	var list []answerPath
	for i, d := range versions {
		for _, f := range d.Fields {
			version, last := int64(i)+1, len(list)-1
			switch {
			case f.ID != id:
				others[f.Key] = true
			case last >= 0 && list[last].key == f.Key && list[last].to == version-1:
				list[last].to = version
			default:
				list = append(list, answerPath{f.Key, version, version})
			}
		}
	}
	for i := range list {
		if !others[list[i].key] {
			list[i].from, list[i].to = 0, 0
		}
	}
	slices.SortStableFunc(list, func(a, b answerPath) int { return strings.Compare(a.key, b.key) })
	list = slices.Compact(list)
	return list[max(0, len(list)-maxAnswerPaths):]
}

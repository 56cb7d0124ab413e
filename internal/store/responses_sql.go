package store

import (
	"slices"
	"sort"
	"strconv"
	"strings"

	"formulary/internal/db"
	"formulary/internal/form"
	"formulary/internal/id"
)

// Empty reports whether the filter selects all responses.
func (f ResponseFilter) Empty() bool {
	isMarked := f.Status != "" || f.Starred || len(f.Tags) > 0
	return f.Since.IsZero() && f.Until.IsZero() && f.Search == "" && f.Version == 0 && len(f.Answers) == 0 && f.IDs == nil && !isMarked
}

const (
	// MaxSelected limits the responses that a filter names one by one.
	MaxSelected = 500
	// MaxFilterTags limits the tags of a filter.
	MaxFilterTags = 10
)

const taggedSQL = ` AND id IN (SELECT response_id FROM response_tag WHERE account_id = $1 AND form_id = $2 AND tag_key = ?)`

// where returns the condition of the filter, composed of the constants below, and its
// arguments. IDs start with the time of submission, so the primary key also serves time
// ranges.
func (f ResponseFilter) where(owner, formID string, db db.DB) (string, []any) {
	sql, args := ` FROM response WHERE account_id = $1 AND form_id = $2`, []any{owner, formID}
	sql = strings.Replace(sql, ` WHERE`, f.markIndex(db)+` WHERE`, 1)
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
	if f.IDs != nil {
		ids := []any{""} // matches nothing
		for _, responseID := range f.IDs[:min(len(f.IDs), MaxSelected)] {
			if _, ok := id.Parse(id.Response, responseID); ok {
				ids = append(ids, responseID)
			}
		}
		add(` AND id IN (?`+strings.Repeat(`, ?`, len(ids)-1)+`)`, ids...)
	}
	if f.Status != "" {
		add(` AND status = ?`, string(f.Status))
	}
	if f.Status == form.ResponseRead || f.Status == form.ResponseDone {
		add(` AND status <> 'new'`) // the condition of the index
	}
	if f.Starred {
		add(` AND starred`)
	}
	for _, tag := range f.Tags[:min(len(f.Tags), MaxFilterTags)] {
		add(taggedSQL, form.TagKey(tag))
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

// markIndex makes SQLite use the index of a mark, unless the primary key is quicker.
func (f ResponseFilter) markIndex(db db.DB) string {
	switch {
	case f.IDs != nil || len(f.Tags) > 0:
		return ""
	case f.Starred:
		return db.IndexedBy("response_starred")
	case f.Status == form.ResponseRead || f.Status == form.ResponseDone:
		return db.IndexedBy("response_by_status")
	}
	return ""
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
	sort.SliceStable(list, func(i, j int) bool { return list[i].key < list[j].key })
	list = slices.Compact(list)
	return list[max(0, len(list)-maxAnswerPaths):]
}

package store

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"formulary/internal/db"
	"formulary/internal/form"
)

// ResponseFilter selects responses; empty fields select all.
type ResponseFilter struct {
	Since        time.Time      // inclusive
	Until        time.Time      // exclusive
	Search       string         // in any answer, ignoring case
	LabelMatches []AnswerFilter // alternatives to Search: answers that are displayed with the text
	Version      int64
	Answers      []AnswerFilter
	IDs          []string // only these responses, at most MaxSelected
	Status       form.ResponseStatus
	Starred      bool     // only responses with a star
	Tags         []string // responses with all of these tags, at most MaxFilterTags
	Oldest       bool     // oldest first
	By           AnswerSort
	Marks        bool // StreamResponses reads the marks too
}

// AnswerSort sorts responses by the answer to a question; those without an answer come
// last. Without a key they are sorted by time.
type AnswerSort struct {
	Key     string
	Part    string // such as the family name; empty: the whole answer
	Numbers bool   // compare answers as numbers
	Down    bool   // descending
}

// MaxSorted limits how many responses are sorted by an answer. There is no index for
// it, so each page reads all of them.
const MaxSorted = 20_000

// ErrTooManyToSort is returned for more than MaxSorted responses.
var ErrTooManyToSort = errors.New("too many responses to sort by an answer")

const (
	answerSQL   = `answers -> CAST(? AS TEXT)`
	asTextSQL   = `answers ->> CAST(? AS TEXT)`
	partTextSQL = `answers -> CAST(? AS TEXT) ->> CAST(? AS TEXT)`
)

// asNumber returns an expression for a JSON value as a number; NULL if it is not one.
func asNumber(json string) string {
	text := `CAST(` + json + ` AS TEXT)`
	return `CASE WHEN SUBSTR(` + text + `, 1, 1) IN ('"', '[', '{', 't', 'f') THEN NULL ELSE CAST(` + text + ` AS DOUBLE PRECISION) END`
}

func filterOf(versions []*form.Definition, id, part string, values ...string) AnswerFilter {
	lists := slices.ContainsFunc(versions, func(d *form.Definition) bool {
		return slices.ContainsFunc(d.Fields, func(f *form.Field) bool {
			return f.ID == id && f.IsList()
		})
	})
	return AnswerFilter{paths: answerPaths(versions, id), lists: lists, part: part, values: values}
}

// Limits of the labels that a search can match.
const (
	maxMatches    = 40   // questions, or rows of them
	maxMatchLists = 40   // answers to a question that may be lists
	maxAllMatches = 1000 // answers in total, counted once for each path
)

// MatchLabels returns filters for answers whose display text contains the text but
// whose stored value may not: options have labels, and countries have names.
func (s *Store) MatchLabels(ctx context.Context, owner, formID, text string, countries map[string]string) (_ []AnswerFilter, err error) {
	defer wrap(&err, "match labels")
	if text == "" {
		return nil, nil
	}
	versions, err := s.Definitions(ctx, owner, formID)
	if err != nil {
		return nil, err
	}
	var list []AnswerFilter
	has := func(words string) bool { return strings.Contains(form.SearchKey(words), form.SearchKey(text)) }
	remaining := maxAllMatches
	add := func(f *form.Field, part string, values []string) {
		if len(values) == 0 || len(list) == maxMatches || strings.ContainsAny(part, pathSigns) {
			return
		}
		filter := filterOf(versions, f.ID, part, values...)
		limit := remaining / len(filter.paths)
		if filter.lists {
			limit = min(limit, maxMatchLists)
		}
		if filter.values = values[:min(len(values), limit)]; len(filter.values) > 0 {
			list, remaining = append(list, filter), remaining-len(filter.values)*len(filter.paths)
		}
	}
	var codes []string
	for _, code := range slices.Sorted(maps.Keys(countries)) {
		if has(countries[code]) {
			codes = append(codes, quote(code))
		}
	}
	for _, f := range form.MergeQuestions(versions) {
		var options []string
		for _, o := range f.Options {
			if has(o.Label) && !has(o.Value) {
				options = append(options, quote(o.Value))
			}
		}
		for _, part := range f.Traits().Countries {
			add(f, part, codes)
		}
		if f.Rows == nil {
			add(f, "", options)
		}
		for _, row := range f.Rows {
			add(f, row.Value, options)
		}
	}
	return list, nil
}

// quote encodes a text as stored.
func quote(text string) string {
	quoted, err := form.EncodeText(text)
	if err != nil {
		return `""` // matches no answer
	}
	return quoted
}

// after returns SQL for the responses of the filter after an ID, in the order in which
// they were stored.
func (f ResponseFilter) after(owner, formID string, db db.DB, id string, limit int64) (string, []any) {
	where, args := f.where(owner, formID, db)
	n := len(args)
	columns := responseColumns
	if f.Marks {
		columns = markedColumns
	}
	return `SELECT ` + columns + where + ` AND id > $` + strconv.Itoa(n+1) + ` ORDER BY id LIMIT $` + strconv.Itoa(n+2), append(args, id, limit)
}

// filtered reads a page of the responses of the filter. Counting reads every response
// of the form in the filter's time range.
func (s *Store) filtered(t db.Tx, owner, formID string, filter ResponseFilter, page Page) ([]form.Response, int64, error) {
	where, args := filter.where(owner, formID, s.db)
	var total int64
	if err := queryOne(t.Query, `SELECT COUNT(*)`+where, args, &total); err != nil || page.Offset >= total {
		return nil, total, err
	}
	if filter.By.Key != "" && total > MaxSorted {
		return nil, total, ErrTooManyToSort
	}
	order := filter.order(s.db)
	path := []any{filter.By.Key}
	if filter.By.Part != "" {
		path = append(path, filter.By.Part)
	}
	sorted := numbered(order, len(args)+1)
	for i := range strings.Count(order, "?") {
		args = append(args, path[i%len(path)])
	}
	limited := sorted + ` LIMIT $` + strconv.Itoa(len(args)+1) + ` OFFSET $` + strconv.Itoa(len(args)+2)
	list, err := collectResponses(t.Query, formID, `SELECT `+markedColumns+where+limited, append(args, page.Limit, page.Offset)...)
	return list, total, err
}

func (f ResponseFilter) order(db db.DB) string {
	newest := `id DESC`
	if f.Oldest {
		newest = `id`
	}
	if f.By.Key == "" {
		return ` ORDER BY ` + newest
	}
	text := asTextSQL
	if f.By.Part != "" {
		text = partTextSQL
	}
	value := db.Lower(text)
	if f.By.Numbers {
		value = asNumber(answerSQL)
	}
	if f.By.Down {
		value += ` DESC`
	}
	return ` ORDER BY CASE WHEN ` + text + ` IS NULL THEN 1 ELSE 0 END, ` + value + `, ` + newest
}

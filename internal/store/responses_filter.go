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
	Oldest       bool // oldest first
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

// AnswerFilter selects responses by the answer to a question.
type AnswerFilter struct {
	paths  []answerPath
	lists  bool     // answers may be lists; one matching element is enough
	part   string   // such as the row of a matrix; empty: the whole answer
	values []string // as JSON; any of them matches
	within string   // instead of values: a text that the answer contains, ignoring case
}

// Within selects responses whose answer contains the text.
func (a AnswerFilter) Within(text string) AnswerFilter {
	a.within = text
	return a
}

// MaxAnswerFilters limits the answer filters of one request.
const MaxAnswerFilters = 10

// FilterError reports a condition that the form's questions do not allow.
type FilterError struct{ Name, Message string }

func (m *FilterError) Error() string { return m.Name + " " + m.Message }

// pathSigns are special in SQLite's JSON paths.
const pathSigns = `$"\`

// AnswerFilters parses conditions on answers, by key or key.part. The form's questions
// decide how a value is parsed.
func (s *Store) AnswerFilters(ctx context.Context, owner, formID string, conditions map[string]string) (_ []AnswerFilter, err error) {
	defer wrap(&err, "read answer filters")
	if len(conditions) == 0 {
		return nil, nil
	}
	if len(conditions) > MaxAnswerFilters {
		return nil, &FilterError{"answers", "has too many conditions; the limit is " + strconv.Itoa(MaxAnswerFilters)}
	}
	versions, err := s.Definitions(ctx, owner, formID)
	if err != nil {
		return nil, err
	}
	var list []AnswerFilter
	for _, name := range slices.Sorted(maps.Keys(conditions)) { // sorted, so that equal conditions result in equal SQL
		key, part, _ := strings.Cut(name, ".")
		var question *form.Field
		for _, d := range versions {
			for _, f := range d.Fields {
				if f.Key == key && f.HasAnswer() {
					question = f
				}
			}
		}
		if question == nil || strings.ContainsAny(part, pathSigns) {
			return nil, &FilterError{"answers[" + name + "]", "is not a question in this form"}
		}
		text, err := question.JSON(conditions[name])
		if err != nil {
			return nil, &FilterError{"answers[" + name + "]", "does not match any answer to this question"}
		}
		list = append(list, filterOf(versions, question.ID, part, text))
	}
	return list, nil
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

// Limits of the chunks that an export reads. The first chunk is small; the size of its
// responses decides how large the next ones are.
const (
	exportFirst = 100
	exportChunk = 2000
	exportBytes = 8 << 20
)

// StreamResponses calls fn for the responses of the filter, oldest first. It reads the
// next chunk while fn processes the current one, so memory does not grow with their
// number.
func (s *Store) StreamResponses(ctx context.Context, owner, formID string, filter ResponseFilter, fn func(form.Response) error) (err error) {
	defer wrap(&err, "stream responses")
	if _, err := s.Form(ctx, owner, formID); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	// Two buffers: one is filled while the other is used.
	chunks, used := make(chan []form.Response, 1), make(chan []form.Response, 2)
	used <- make([]form.Response, 0, exportChunk)
	used <- make([]form.Response, 0, exportChunk)
	var failed error // set before chunks is closed
	go func() {
		defer close(chunks)
		limit := exportFirst
		for after := ""; ; {
			var list []form.Response
			select {
			case list = <-used:
				list = list[:0]
			case <-ctx.Done():
				failed = ctx.Err()
				return
			}
			sql, args := filter.after(owner, formID, s.db, after, int64(limit))
			scanner := newResponseScanner(formID)
			if filter.Marks {
				scanner = newMarkedScanner(formID)
			}
			full, bytes, err := s.gatherSome(ctx, gatherInto(&list, scanner), &list, sql, args)
			if err != nil {
				failed = err
				return
			}
			if len(list) > 0 {
				after = list[len(list)-1].ID
				select {
				case chunks <- list:
				case <-ctx.Done():
					failed = ctx.Err()
					return
				}
			}
			if !full && len(list) < limit {
				return
			}
			limit = min(max(exportBytes/max(1, bytes/max(1, len(list))), 1), exportChunk)
		}
	}()
	for list := range chunks {
		for _, r := range list {
			if err := fn(r); err != nil {
				return err
			}
		}
		used <- list
	}
	return failed
}

// gatherSome reads until exportBytes is reached. full reports whether it was, so that
// there may be more.
func (s *Store) gatherSome(ctx context.Context, gather func(db.Row) error, list *[]form.Response, sql string, args []any) (full bool, bytes int, err error) {
	err = s.db.Query(ctx, sql, func(r db.Row) error {
		if err := gather(r); err != nil {
			return err
		}
		if bytes += len((*list)[len(*list)-1].JSON); bytes >= exportBytes {
			full = true
			return db.ErrStop
		}
		return nil
	}, args...)
	return full, bytes, err
}

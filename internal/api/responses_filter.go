package api

import (
	"context"
	"errors"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/store"
)

// filterInput selects responses; list, export and deletion share it.
type filterInput struct {
	Since   string            `query:"since" maxLength:"40" doc:"Submitted at or after this time (RFC 3339)" example:"2026-05-31T00:00:00Z"`
	Until   string            `query:"until" maxLength:"40" doc:"Submitted before this time (RFC 3339)"`
	Search  string            `query:"search" maxLength:"200" doc:"Filter by text in an answer or in the label of a chosen option (case-insensitive)"`
	Version int64             `query:"version" default:"0" minimum:"0" doc:"Filter by form version"`
	Status  string            `query:"status" enum:"new,read,done" doc:"Filter by status"`
	Starred string            `query:"starred" enum:"true" doc:"Only responses with a star"`
	Tag     string            `query:"tag" maxLength:"40" doc:"Filter by tag (case-insensitive)"`
	Answers map[string]string `query:"answers" maxLength:"1000" doc:"Filter by answer: answers[key]=value, or with an operator answers[key:op]=value, such as answers[score:at_least]=8. Operators: equals, not_equals, contains, not_contains, greater, less, at_least, at_most, answered, not_answered. For a multiple-choice question one matching option is enough; use key.part for part of an answer or a matrix row."`
}

func wholeNumber(text string) (int64, bool) {
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil && n > 0 && strconv.FormatInt(n, 10) == text
}

func badQuery(field, message string) error {
	return &fault.Error{Code: fault.BadQuery, Message: field + " " + message + ".", Details: []fault.Detail{{Field: field, Message: message}}}
}

// period reads the times since and until; empty ones are zero.
func period(since, until string) (times [2]time.Time, err error) {
	if times[0], err = queryTime("since", since); err != nil {
		return times, err
	}
	times[1], err = queryTime("until", until)
	return times, err
}

// queryTime reads a time in a query; empty: the zero time.
func queryTime(name, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	// An unescaped plus sign arrives as a space.
	t, err := time.Parse(time.RFC3339, strings.Replace(text, " ", "+", 1))
	if err != nil {
		return t, badQuery(name, "must be an RFC 3339 time, such as 2026-05-31T17:30:00Z")
	}
	return toMillis(t), nil
}

// filter converts the input to a filter for a form.
func (a *API) filter(ctx context.Context, owner, formID string, in filterInput) (store.ResponseFilter, error) {
	out := store.ResponseFilter{Search: in.Search, Version: in.Version, Status: form.ResponseStatus(in.Status), Starred: in.Starred != ""}
	if in.Tag != "" {
		out.Tags = []string{in.Tag}
	}
	times, err := period(in.Since, in.Until)
	if err != nil {
		return out, err
	}
	out.Since, out.Until = times[0], times[1]
	if out.LabelMatches, err = a.Store.MatchLabels(ctx, owner, formID, in.Search, nil); err != nil {
		return out, err
	}
	names := slices.Sorted(maps.Keys(in.Answers)) // sorted, so that equal conditions result in equal SQL
	out.Answers, err = a.Store.AnswerFilters(ctx, owner, formID, comparisons(names, in.Answers))
	if mistake, ok := errors.AsType[*store.FilterError](err); ok {
		name := "answers"
		if mistake.Index >= 0 {
			name += "[" + names[mistake.Index] + "]"
		}
		return out, badQuery(name, mistake.Message)
	}
	return out, err
}

// comparisons reads the names of conditions: a key, or a key and an operator.
func comparisons(names []string, values map[string]string) []store.Comparison {
	list := make([]store.Comparison, len(names))
	for i, name := range names {
		list[i] = store.Comparison{Field: name, Op: form.Equals, Value: values[name]}
		// The row of a matrix can contain a colon.
		if at := strings.LastIndexByte(name, ':'); at >= 0 && slices.Contains(form.Comparisons, name[at+1:]) {
			list[i].Field, list[i].Op = name[:at], name[at+1:]
		}
	}
	return list
}

// latestTime is the last time that RFC 3339 can express in UTC.
var latestTime = time.Date(9999, 12, 31, 23, 59, 59, 999e6, time.UTC)

// toMillis rounds up to whole milliseconds, the precision of stored times. It returns
// the Unix epoch for earlier times, because no response is older and far earlier times
// overflow, and latestTime for later ones.
func toMillis(t time.Time) time.Time {
	whole := t.Truncate(time.Millisecond)
	if whole.Before(t) {
		whole = whole.Add(time.Millisecond)
	}
	if oldest := time.UnixMilli(0); whole.Before(oldest) {
		return oldest
	}
	if whole.After(latestTime) {
		return latestTime
	}
	return whole
}

// linkQuery returns the part of the query that pagination links repeat.
func (in filterInput) linkQuery() url.Values {
	query := url.Values{}
	for _, p := range [][2]string{{"since", in.Since}, {"until", in.Until}, {"search", in.Search}, {"status", in.Status}, {"starred", in.Starred}, {"tag", in.Tag}} {
		if p[1] != "" {
			query.Set(p[0], p[1])
		}
	}
	if in.Version != 0 {
		query.Set("version", strconv.FormatInt(in.Version, 10))
	}
	for key, value := range in.Answers {
		query.Set("answers["+key+"]", value)
	}
	return query
}

package api

import (
	"context"
	"errors"
	"net/url"
	"strconv"
	"strings"
	"time"

	"formulary/internal/fault"
	"formulary/internal/store"
)

// filterInput selects responses; list, export and deletion share it.
type filterInput struct {
	Since   string            `query:"since" maxLength:"40" doc:"Submitted at or after this time (RFC 3339)" example:"2026-05-31T00:00:00Z"`
	Until   string            `query:"until" maxLength:"40" doc:"Submitted before this time (RFC 3339)"`
	Search  string            `query:"search" maxLength:"200" doc:"Filter by text in an answer or in the label of a chosen option (case-insensitive)"`
	Version int64             `query:"version" default:"0" minimum:"0" doc:"Filter by form version"`
	Answers map[string]string `query:"answers" maxLength:"1000" doc:"Filter by answer: answers[key]=value. For a multiple-choice question one matching option is enough; use key.part for part of an answer or a matrix row."`
}

func wholeNumber(text string) (int64, bool) {
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil && n > 0 && strconv.FormatInt(n, 10) == text
}

func badQuery(field, message string) error {
	return &fault.Error{Code: fault.BadQuery, Message: field + " " + message + ".", Details: []fault.Detail{{Field: field, Message: message}}}
}

// filter converts the input to a filter for a form.
func (a *API) filter(ctx context.Context, owner, formID string, in filterInput) (store.ResponseFilter, error) {
	out := store.ResponseFilter{Search: in.Search, Version: in.Version}
	for field, to := range map[string]struct {
		text string
		time *time.Time
	}{"since": {in.Since, &out.Since}, "until": {in.Until, &out.Until}} {
		if to.text == "" {
			continue
		}
		// An unescaped plus sign arrives as a space.
		t, err := time.Parse(time.RFC3339, strings.Replace(to.text, " ", "+", 1))
		if err != nil {
			return out, badQuery(field, "must be an RFC 3339 time, such as 2026-05-31T17:30:00Z")
		}
		*to.time = toMillis(t)
	}
	var err error
	if out.LabelMatches, err = a.Store.MatchLabels(ctx, owner, formID, in.Search, nil); err != nil {
		return out, err
	}
	out.Answers, err = a.Store.AnswerFilters(ctx, owner, formID, in.Answers)
	if mistake, ok := errors.AsType[*store.FilterError](err); ok {
		return out, badQuery(mistake.Name, mistake.Message)
	}
	return out, err
}

// toMillis rounds up to whole milliseconds, the precision of stored times. It returns
// the Unix epoch for earlier times, because no response is older and far earlier times
// overflow.
func toMillis(t time.Time) time.Time {
	whole := t.Truncate(time.Millisecond)
	if whole.Before(t) {
		whole = whole.Add(time.Millisecond)
	}
	if oldest := time.UnixMilli(0); whole.Before(oldest) {
		return oldest
	}
	return whole
}

// linkQuery returns the part of the query that pagination links repeat.
func (in filterInput) linkQuery() url.Values {
	query := url.Values{}
	for _, p := range [][2]string{{"since", in.Since}, {"until", in.Until}, {"search", in.Search}} {
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

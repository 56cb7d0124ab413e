package api

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"sort"
	"time"

	"formulary/internal/account"
	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/oauth"
	"formulary/internal/store"
)

// summaryInput says which responses are summarized, and how.
type summaryInput struct {
	formInput
	filterInput
	Compare string `query:"compare" enum:"previous" doc:"previous: also summarize the period of the same length before since. Needs since; without until, the period ends now."`
	Rows    string `query:"rows" maxLength:"200" doc:"Key of a question whose answers are counted together with those of the question in columns. Both need options, numbers of a scale, or yes and no."`
	Columns string `query:"columns" maxLength:"200" doc:"Key of the other question"`
}

// Summary contains the totals of responses to a form.
type Summary struct {
	Responses int64             `json:"responses" example:"12"`
	Days      []DayCount        `json:"days" nullable:"false" doc:"Responses per day (UTC); days without responses are left out"`
	Questions []QuestionSummary `json:"questions" nullable:"false" doc:"Questions in the order of the published version"`
	Previous  *PreviousSummary  `json:"previous,omitempty" doc:"The period before, with compare=previous"`
	Cross     *CrossTable       `json:"cross,omitempty" doc:"Two questions counted together, with rows and columns"`
}

// PreviousSummary contains the totals of the period before.
type PreviousSummary struct {
	Since     time.Time         `json:"since" doc:"Start of the period"`
	Until     time.Time         `json:"until" doc:"End of the period, exclusive"`
	Responses int64             `json:"responses" example:"9"`
	Days      []DayCount        `json:"days" nullable:"false"`
	Questions []QuestionSummary `json:"questions" nullable:"false"`
	summary   *form.Summary
}

// CrossTable contains how often the answers to two questions occur together.
type CrossTable struct {
	Rows       string      `json:"rows" doc:"Key of the question" example:"drink"`
	Columns    string      `json:"columns" doc:"Key of the other question" example:"size"`
	Responses  int64       `json:"responses" doc:"Number of responses with an answer to both questions" example:"11"`
	NotCounted int64       `json:"not_counted" doc:"Pairs of answers that are not counted, because there are too many different ones; usually 0"`
	Cells      []CrossCell `json:"cells" nullable:"false" doc:"Pairs of answers that occur. A response with several options counts for each of them."`
}

// CrossCell is how often two answers occur together.
type CrossCell struct {
	Row    string `json:"row" doc:"Value of the first question" example:"tea"`
	Column string `json:"column" doc:"Value of the other question" example:"large"`
	Count  int64  `json:"count" example:"4"`
}

// DayCount is the number of responses on a day.
type DayCount struct {
	Date      string `json:"date" format:"date" example:"2026-05-31"`
	Responses int64  `json:"responses" example:"12"`
}

// QuestionSummary contains the totals of one question.
type QuestionSummary struct {
	Key      string        `json:"key" example:"drink"`
	Kind     string        `json:"kind" example:"single_choice"`
	Label    string        `json:"label" example:"Which drink?"`
	Answered int64         `json:"answered" doc:"Number of responses with an answer to this question" example:"12"`
	Average  *float64      `json:"average,omitempty" doc:"Numeric questions only"`
	NPS      *int64        `json:"nps,omitempty" doc:"Net Promoter Score of a 0–10 scale, a whole number from -100 to 100" example:"46"`
	Files    *int64        `json:"files,omitempty" doc:"Number of files; only questions that are answered with files"`
	Bytes    *int64        `json:"bytes,omitempty" doc:"Size of these files in bytes"`
	Choices  []ChoiceCount `json:"choices,omitempty" nullable:"false" doc:"How often each option was chosen"`
}

// ChoiceCount is how often an option was chosen.
type ChoiceCount struct {
	Row          string   `json:"row,omitempty" doc:"Row of a matrix"`
	Value        string   `json:"value" doc:"Option value; _other for free-text answers" example:"tea"`
	Label        string   `json:"label" example:"Tea"`
	Count        int64    `json:"count" example:"9"`
	Share        float64  `json:"share" doc:"Share of the responses with an answer, from 0 to 1" example:"0.75"`
	AveragePlace *float64 `json:"average_place,omitempty" doc:"Average position in a ranking; 1 is first"`
}

func (a *API) summary() typedOperation[*summaryInput, *Summary] {
	return typedOperation[*summaryInput, *Summary]{
		operation{
			Method: "GET", Path: "/api/v1/forms/{id}/summary", ID: "readSummary", Tag: "Responses", Status: 200,
			Scope:   account.ResponsesRead,
			Summary: "Get a summary",
			Description: "Exact at the time of the request. Without parameters, earlier responses are not counted again. " +
				"With a filter, each request reads all responses in the time range, which takes seconds for a million of them.",
			Errors: []fault.Code{fault.BadQuery, fault.NotFoundInAccount},
		},
		func(ctx context.Context, c *oauth.Principal, in *summaryInput) (*Summary, reply, error) {
			out, err := a.readSummary(ctx, c.Owner(), in)
			return out, reply{}, err
		},
	}
}

func (a *API) readSummary(ctx context.Context, owner string, in *summaryInput) (*Summary, error) {
	versions, err := a.Store.Definitions(ctx, owner, in.ID)
	if err != nil {
		return nil, err
	}
	q := store.SummaryQuery{}
	if q.Filter, err = a.filter(ctx, owner, in.ID, in.filterInput); err != nil {
		return nil, err
	}
	if in.Compare != "" && q.Filter.Since.IsZero() {
		return nil, badQuery("compare", "needs since")
	}
	questions := form.MergeQuestions(versions)
	if q.Cross, err = crossOf(questions, in.Rows, in.Columns); err != nil {
		return nil, err
	}
	out := &Summary{}
	if q.Filter.Empty() && q.Cross == nil {
		s, err := a.Store.Summary(ctx, owner, in.ID)
		if err != nil {
			return nil, err
		}
		out.Responses, out.Days, out.Questions = totals(questions, s)
		return out, nil
	}
	s, err := a.Store.SummarizeSome(ctx, owner, in.ID, q)
	if err != nil {
		return nil, err
	}
	out.Responses, out.Days, out.Questions = totals(questions, s.Summary)
	out.Cross = crossTable(q.Cross)
	if in.Compare != "" {
		out.Previous, err = a.previousSummary(ctx, owner, in.ID, q.Filter)
		if err != nil {
			return nil, err
		}
		out.Previous.Responses, out.Previous.Days, out.Previous.Questions = totals(questions, out.Previous.summary)
	}
	return out, nil
}

// previousSummary summarizes the period before that of a filter.
func (a *API) previousSummary(ctx context.Context, owner, formID string, filter store.ResponseFilter) (*PreviousSummary, error) {
	until := filter.Until
	if now := a.Now(); until.IsZero() || until.After(now) {
		until = now
	}
	length := max(until.Sub(filter.Since), 0)
	filter.Since, filter.Until = toMillis(filter.Since.Add(-length)), filter.Since
	s, err := a.Store.SummarizeSome(ctx, owner, formID, store.SummaryQuery{Filter: filter})
	return &PreviousSummary{Since: filter.Since.UTC(), Until: filter.Until.UTC(), summary: s.Summary}, err
}

// totals returns the totals in the order in which they are displayed.
func totals(questions []*form.Field, s *form.Summary) (int64, []DayCount, []QuestionSummary) {
	days, list := []DayCount{}, []QuestionSummary{}
	for _, day := range slices.Sorted(maps.Keys(s.Days)) {
		days = append(days, DayCount{day, s.Days[day]})
	}
	for _, f := range questions {
		list = append(list, questionSummary(f, s.Fields[f.ID]))
	}
	return s.Responses, days, list
}

// crossOf returns an empty table of the questions with two keys, or nil without keys.
func crossOf(questions []*form.Field, rows, columns string) (*form.CrossTab, error) {
	if rows == "" && columns == "" {
		return nil, nil
	}
	var found [2]*form.Field
	for i, key := range []string{rows, columns} {
		at := slices.IndexFunc(questions, func(f *form.Field) bool { return f.Key == key && f.CanCross() })
		if at < 0 {
			return nil, badQuery([]string{"rows", "columns"}[i], "is not the key of a question with options, a scale, or yes and no")
		}
		found[i] = questions[at]
	}
	if rows == columns {
		return nil, badQuery("columns", "must be another question than rows")
	}
	return form.NewCrossTab(found[0], found[1]), nil
}

func crossTable(c *form.CrossTab) *CrossTable {
	if c == nil {
		return nil
	}
	out := &CrossTable{Rows: c.Rows.Key, Columns: c.Columns.Key, Responses: c.Responses, NotCounted: c.Left, Cells: []CrossCell{}}
	rows, columns := c.Lines(math.MaxInt, math.MaxInt)
	place := func(lines []form.CrossLine) map[string]int {
		places := map[string]int{}
		for i, line := range lines {
			places[line.Value] = i
		}
		return places
	}
	inRows, inColumns := place(rows), place(columns)
	for pair, n := range c.Counts {
		out.Cells = append(out.Cells, CrossCell{pair[0], pair[1], n})
	}
	sort.Slice(out.Cells, func(i, j int) bool {
		a, b := out.Cells[i], out.Cells[j]
		return cmp.Or(cmp.Compare(inRows[a.Row], inRows[b.Row]), cmp.Compare(inColumns[a.Column], inColumns[b.Column])) < 0
	})
	return out
}

func questionSummary(f *form.Field, t *form.QuestionStats) QuestionSummary {
	out := QuestionSummary{Key: f.Key, Kind: f.Kind, Label: f.Label}
	if t == nil {
		t = &form.QuestionStats{}
	}
	out.Answered = t.Answered
	if f.Traits().Summary.Averages() && t.Sum != nil {
		average := t.Average()
		out.Average = &average
	}
	if f.IsNPS() {
		nps := t.NPS()
		out.NPS = &nps
	}
	if f.Traits().Files {
		out.Files, out.Bytes = &t.Files, &t.Bytes
	}
	for _, c := range form.OptionCounts(f, t) {
		count := ChoiceCount{Row: c.Row, Value: c.Value, Label: c.Label, Count: c.Count}
		if t.Answered > 0 {
			count.Share = float64(c.Count) / float64(t.Answered)
		}
		if f.Traits().Ordered && c.Count > 0 {
			place := t.AveragePosition(c.Value)
			count.AveragePlace = &place
		}
		out.Choices = append(out.Choices, count)
	}
	return out
}

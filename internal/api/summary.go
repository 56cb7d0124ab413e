package api

import (
	"context"
	"maps"
	"slices"

	"formulary/internal/account"
	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/oauth"
)

// Summary contains the totals of all responses to a form.
type Summary struct {
	Responses int64             `json:"responses" example:"12"`
	Days      []DayCount        `json:"days" nullable:"false" doc:"Responses per day (UTC); days without responses are left out"`
	Questions []QuestionSummary `json:"questions" nullable:"false" doc:"Questions in the order of the published version"`
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

func (a *API) summary() typedOperation[formInput, Summary] {
	return typedOperation[formInput, Summary]{
		operation{
			Method: "GET", Path: "/api/v1/forms/{id}/summary", ID: "readSummary", Tag: "Responses", Status: 200,
			Scope:       account.ResponsesRead,
			Summary:     "Get a summary",
			Description: "Exact at the time of the request. Earlier responses are not counted again.",
			Errors:      []fault.Code{fault.NotFoundInAccount},
		},
		func(ctx context.Context, c *oauth.Principal, in *formInput) (*Summary, reply, error) {
			s, err := a.Store.Summary(ctx, c.Owner(), in.ID)
			if err != nil {
				return nil, reply{}, err
			}
			versions, err := a.Store.Definitions(ctx, c.Owner(), in.ID)
			if err != nil {
				return nil, reply{}, err
			}
			out := &Summary{Responses: s.Responses, Days: []DayCount{}, Questions: []QuestionSummary{}}
			for _, day := range slices.Sorted(maps.Keys(s.Days)) {
				out.Days = append(out.Days, DayCount{day, s.Days[day]})
			}
			for _, f := range form.MergeQuestions(versions) {
				out.Questions = append(out.Questions, questionSummary(f, s.Fields[f.ID]))
			}
			return out, reply{}, nil
		},
	}
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

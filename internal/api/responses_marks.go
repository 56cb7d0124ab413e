package api

import (
	"context"
	"strings"

	"formulary/internal/account"
	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/oauth"
	"formulary/internal/store"
)

// ResponseUpdate is what to change of a response; what is left out stays.
type ResponseUpdate struct {
	Answers Answers   `json:"answers,omitempty" nullable:"false" doc:"Answers by question key; null removes an answer" example:"{\"drink\": \"Coffee\"}"`
	Status  string    `json:"status,omitempty" enum:"new,read,done"`
	Starred *bool     `json:"starred,omitempty"`
	Tags    *[]string `json:"tags,omitempty" nullable:"false" maxItems:"20" doc:"Replaces all tags. A tag has up to 40 characters and no commas. Tags that differ only in case are the same." example:"Urgent"`
}

type changeResponseInput struct {
	ID       string `path:"id" doc:"Form ID" example:"frm_01k9z8m7q3e4r5t6y7v8w9x0a1"`
	Response string `path:"response" doc:"Response ID" example:"rsp_01k9z8m7q3e4r5t6y7v8w9x0a1"`
	IfMatch  string `header:"If-Match" maxLength:"100" doc:"The response's ETag. The request fails if the answers have changed since."`
	Body     ResponseUpdate
}

func (a *API) changeResponse() typedOperation[*changeResponseInput, *Response] {
	return typedOperation[*changeResponseInput, *Response]{
		operation{
			Method: "PATCH", Path: "/api/v1/forms/{id}/responses/{response}", ID: "changeResponse", Tag: "Responses", Status: 200, MaxBody: maxAnswers,
			Scope:   account.ResponsesWrite,
			Summary: "Update a response",
			Description: "Answers are validated against the response's form version, and changing them sends `response.updated` to webhooks. " +
				"`status`, `starred` and `tags` are for the people who work with responses: changing only them sends nothing, and `edited_at` and the `ETag` stay. " +
				"With `If-Match`, the change is made only if the answers still have this `ETag`.",
			Errors: []fault.Code{fault.BadQuery, fault.BadJSON, fault.NotFoundInAccount, fault.Conflict, fault.QuotaReached, fault.TooLarge, fault.UnsupportedMedia, fault.Invalid},
		},
		func(ctx context.Context, c *oauth.Principal, in *changeResponseInput) (*Response, reply, error) {
			key := store.ResponseKey{FormID: in.ID, ID: in.Response}
			marks := store.MarkChange{Status: form.ResponseStatus(in.Body.Status), Starred: in.Body.Starred, Tags: in.Body.Tags}
			if in.Body.Answers == nil {
				marks.Seen = seenAnswers(in.IfMatch)
				r, err := a.markResponse(ctx, c.Owner(), key, marks)
				return a.responseReply(r, err)
			}
			change := func(d *form.Definition, answers map[string]any) (map[string]any, error) {
				for key, value := range in.Body.Answers {
					// Unknown keys are rejected below.
					if value == nil && d.Field(key) != nil {
						delete(answers, key)
					} else {
						answers[key] = value
					}
				}
				e, err := d.Revalidate(answers)
				return e.Answers, err
			}
			r, err := a.Store.UpdateAndMarkResponse(ctx, c.Owner(), key, store.ResponseChange{Answers: change, Marks: marks, Seen: seenAnswers(in.IfMatch)}, a.Now())
			return a.responseReply(r, err)
		},
	}
}

// seenAnswers parses If-Match: an empty text matches any answers. What is no ETag matches none.
func seenAnswers(ifMatch string) string {
	tag := strings.TrimSpace(ifMatch)
	if tag == "" || tag == "*" {
		return ""
	}
	if answers := strings.Trim(tag, `"`); answers != "" && tag == `"`+answers+`"` {
		return answers
	}
	return "none"
}

// responseReply returns one response with the ETag of its answers.
func (a *API) responseReply(r form.Response, err error) (*Response, reply, error) {
	return nil, reply{Body: r.WithFileURLs(a.BaseURL).AppendJSON(nil), ETag: `"` + r.AnswerTag() + `"`}, err
}

// markResponse changes the marks of a response.
func (a *API) markResponse(ctx context.Context, owner string, key store.ResponseKey, change store.MarkChange) (form.Response, error) {
	// Somebody else's response is not there, whatever the body says.
	if _, err := a.Store.Response(ctx, owner, key.FormID, key.ID); err != nil {
		return form.Response{}, err
	}
	if change.IsEmpty() {
		return form.Response{}, fault.InvalidField("answers", "is required unless you change status, starred or tags")
	}
	if _, err := a.Store.MarkResponses(ctx, owner, key.FormID, []string{key.ID}, change); err != nil {
		return form.Response{}, err
	}
	return a.Store.Response(ctx, owner, key.FormID, key.ID)
}

// MarkTotals says how many responses of a form have a mark.
type MarkTotals struct {
	New     int64      `json:"new" example:"3"`
	Read    int64      `json:"read" example:"7"`
	Done    int64      `json:"done" example:"2"`
	Starred int64      `json:"starred" example:"1"`
	Tags    []TagTotal `json:"tags" nullable:"false" doc:"All tags of the form's responses, by name"`
}

// TagTotal says how many responses have a tag.
type TagTotal struct {
	Name      string `json:"name" example:"Urgent"`
	Responses int64  `json:"responses" example:"4"`
}

func (a *API) readMarks() typedOperation[*formInput, *MarkTotals] {
	return typedOperation[*formInput, *MarkTotals]{
		operation{
			Method: "GET", Path: "/api/v1/forms/{id}/responses/marks", ID: "readMarks", Tag: "Responses", Status: 200,
			Scope:       account.ResponsesRead,
			Summary:     "Count responses by status and tag",
			Description: "Returns how many responses are new, read, done and starred, and how many have each tag. A form has at most 200 different tags.",
			Errors:      []fault.Code{fault.NotFoundInAccount},
		},
		func(ctx context.Context, c *oauth.Principal, in *formInput) (*MarkTotals, reply, error) {
			t, err := a.Store.MarkTotals(ctx, c.Owner(), in.ID)
			out := &MarkTotals{New: t.New, Read: t.Read, Done: t.Done, Starred: t.Starred, Tags: make([]TagTotal, len(t.Tags))}
			for i, tag := range t.Tags {
				out.Tags[i] = TagTotal(tag)
			}
			return out, reply{}, err
		},
	}
}

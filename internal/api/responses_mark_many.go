package api

import (
	"context"

	"formulary/internal/account"
	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/oauth"
	"formulary/internal/store"
)

// MarksUpdate is what to change of several responses; what is left out stays.
type MarksUpdate struct {
	Responses  []string  `json:"responses" nullable:"false" minItems:"1" maxItems:"200" doc:"Response IDs. Those of deleted responses and of other forms have no effect." example:"rsp_01k9z8m7q3e4r5t6y7v8w9x0a1"`
	Status     string    `json:"status,omitempty" enum:"new,read,done"`
	Starred    *bool     `json:"starred,omitempty"`
	Tags       *[]string `json:"tags,omitempty" nullable:"false" maxItems:"20" doc:"Replaces all tags" example:"Urgent"`
	AddTags    []string  `json:"add_tags,omitempty" nullable:"false" maxItems:"20" doc:"Adds tags" example:"Urgent"`
	RemoveTags []string  `json:"remove_tags,omitempty" nullable:"false" maxItems:"20" doc:"Removes tags" example:"Waiting"`
}

type markResponsesInput struct {
	ID   string `path:"id" doc:"Form ID" example:"frm_01k9z8m7q3e4r5t6y7v8w9x0a1"`
	Body MarksUpdate
}

// MarkResult is the number of responses whose marks are different now.
type MarkResult struct {
	Changed int64 `json:"changed" example:"12"`
}

func (a *API) markResponses() typedOperation[*markResponsesInput, *MarkResult] {
	return typedOperation[*markResponsesInput, *MarkResult]{
		operation{
			Method: "PATCH", Path: "/api/v1/forms/{id}/responses/marks", ID: "markResponses", Tag: "Responses", Status: 200, MaxBody: maxWebhook,
			Scope:   account.ResponsesWrite,
			Summary: "Mark several responses",
			Description: "Changes status, star and tags of up to 200 responses at once. " +
				"It sends nothing to webhooks. Repeating the request is safe.",
			Errors: []fault.Code{fault.BadJSON, fault.NotFoundInAccount, fault.QuotaReached, fault.TooLarge, fault.UnsupportedMedia, fault.Invalid},
		},
		func(ctx context.Context, c *oauth.Principal, in *markResponsesInput) (*MarkResult, reply, error) {
			// Somebody else's form is not there, whatever the body says.
			if _, err := a.Store.Form(ctx, c.Owner(), in.ID); err != nil {
				return nil, reply{}, err
			}
			body := in.Body
			if len(body.Responses) == 0 {
				return nil, reply{}, fault.InvalidField("responses", "is required")
			}
			change := store.MarkChange{Status: form.ResponseStatus(body.Status), Starred: body.Starred, Tags: body.Tags, Add: body.AddTags, Remove: body.RemoveTags}
			if change.IsEmpty() {
				return nil, reply{}, fault.InvalidField("status", "is required unless you change starred or tags")
			}
			n, err := a.Store.MarkResponses(ctx, c.Owner(), in.ID, body.Responses, change)
			return &MarkResult{n}, reply{}, err
		},
	}
}

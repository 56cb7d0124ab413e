package api

import (
	"context"
	"time"

	"formulary/internal/account"
	"formulary/internal/fault"
	"formulary/internal/oauth"
	"formulary/internal/store"
)

// Retention says how long a form keeps its responses.
type Retention struct {
	Days      int64      `json:"days" doc:"Responses are deleted so many days after they were submitted; 0: they are kept" example:"365"`
	StartsAt  *Timestamp `json:"starts_at,omitempty" doc:"Nothing is deleted before; only if days is not 0"`
	Deleted   int64      `json:"deleted" doc:"Number of responses deleted so far" example:"0"`
	DeletedAt *Timestamp `json:"deleted_at,omitempty" doc:"When the last ones were deleted"`
}

func retentionResult(r store.Retention) *Retention {
	optional := func(at time.Time) *Timestamp {
		if at.IsZero() {
			return nil
		}
		out := Timestamp(at)
		return &out
	}
	return &Retention{Days: r.Days, StartsAt: optional(r.StartsAt), Deleted: r.Deleted, DeletedAt: optional(r.DeletedAt)}
}

func (a *API) readRetention() typedOperation[*formInput, *Retention] {
	return typedOperation[*formInput, *Retention]{
		operation{
			Method: "GET", Path: "/api/v1/forms/{id}/retention", ID: "readRetention", Tag: "Forms", Status: 200,
			Scope:       account.FormsRead,
			Summary:     "Get the retention of responses",
			Description: "Returns how long the form keeps its responses.",
			Errors:      []fault.Code{fault.NotFoundInAccount},
		},
		func(ctx context.Context, c *oauth.Principal, in *formInput) (*Retention, reply, error) {
			if _, err := a.Store.Form(ctx, c.Owner(), in.ID); err != nil {
				return nil, reply{}, err
			}
			r, err := a.Store.Retention(ctx, c.Owner(), in.ID)
			return retentionResult(r), reply{}, err
		},
	}
}

// NewRetention is how long a form is to keep its responses.
type NewRetention struct {
	Days *int64 `json:"days" nullable:"false" minimum:"0" maximum:"3650" doc:"0 keeps responses until someone deletes them" example:"365"`
}

type setRetentionInput struct {
	ID   string `path:"id" doc:"Form ID" example:"frm_01k9z8m7q3e4r5t6y7v8w9x0a1"`
	Body NewRetention
}

func (a *API) setRetention() typedOperation[*setRetentionInput, *Retention] {
	return typedOperation[*setRetentionInput, *Retention]{
		operation{
			Method: "PUT", Path: "/api/v1/forms/{id}/retention", ID: "setRetention", Tag: "Forms", Status: 200, MaxBody: maxWebhook,
			Scope:   account.FormsWrite,
			Summary: "Set the retention of responses",
			Description: "Older responses are deleted automatically and for good, with their files, tags and notes. Webhooks get `response.deleted`. " +
				"After a change, nothing is deleted for a week, and the owner gets an email a week before the first deletion.",
			Errors: []fault.Code{fault.BadJSON, fault.NotFoundInAccount, fault.TooLarge, fault.UnsupportedMedia, fault.Invalid},
		},
		func(ctx context.Context, c *oauth.Principal, in *setRetentionInput) (*Retention, reply, error) {
			// Somebody else's form is not there, whatever the body says.
			if _, err := a.Store.Form(ctx, c.Owner(), in.ID); err != nil {
				return nil, reply{}, err
			}
			if in.Body.Days == nil { // 0 would switch the retention off
				return nil, reply{}, fault.InvalidField("days", "is required")
			}
			r, err := a.Store.SetRetention(ctx, c.Owner(), in.ID, store.RetentionChange{Days: *in.Body.Days}, a.Now())
			return retentionResult(r), reply{}, err
		},
	}
}

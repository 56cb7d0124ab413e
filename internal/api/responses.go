package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"formulary/internal/account"
	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/oauth"
	"formulary/internal/respond"
	"formulary/internal/store"
)

// Response is what one respondent submitted. It describes what form.Response.AppendJSON writes. The
// feed and the live stream have no marks.
type Response struct {
	ID          string           `json:"id" example:"rsp_01k9z8m7q3e4r5t6y7v8w9x0a1"`
	FormID      string           `json:"form_id" example:"frm_01k9z8m7q3e4r5t6y7v8w9x0a1"`
	Version     int64            `json:"version" doc:"Version of the form the response belongs to" example:"1"`
	SubmittedAt Timestamp        `json:"submitted_at"`
	Answers     RawAnswers       `json:"answers"`
	Metadata    ResponseMetadata `json:"metadata"`
	Status      string           `json:"status,omitempty" enum:"new,read,done" doc:"A response is new until someone opens it in the workspace. Not in the feed, nor are starred, tags and note_count."`
	Starred     *bool            `json:"starred,omitempty" example:"false"`
	Tags        []string         `json:"tags,omitempty" nullable:"false" example:"Urgent"`
	NoteCount   *int64           `json:"note_count,omitempty" doc:"Number of notes" example:"0"`
}

// RawAnswers are answers in their stored JSON form.
type RawAnswers json.RawMessage

func (RawAnswers) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: "object", Description: "Answers by question key", AdditionalProperties: true, Examples: []any{map[string]any{"drink": "Tea"}}}
}

// ResponseMetadata describes where a response came from, in its stored JSON form.
type ResponseMetadata json.RawMessage

func (ResponseMetadata) Schema(huma.Registry) *huma.Schema {
	schemas := huma.NewMapRegistry("#/", huma.DefaultSchemaNamer)
	schemas.Schema(reflect.TypeFor[form.Metadata](), true, "Metadata")
	described := schemas.Map()["Metadata"] // inline, because OAuth uses the name
	described.Description = "How the response was submitted"
	return described
}

type Submission struct {
	Answers Answers `json:"answers" nullable:"false" doc:"Answers by question key" example:"{\"drink\": \"Tea\"}"`
}

// SubmitResult confirms that a response is stored.
type SubmitResult struct {
	ID          string    `json:"id" example:"rsp_01k9z8m7q3e4r5t6y7v8w9x0a1"`
	SubmittedAt Timestamp `json:"submitted_at"`
}

type submitInput struct {
	ID   string `path:"id" doc:"Form ID" example:"frm_01k9z8m7q3e4r5t6y7v8w9x0a1"`
	Key  string `header:"Idempotency-Key" maxLength:"255" doc:"Makes retries safe: requests with the same key and body store one response"`
	Sent string
	Body Submission
}

var errNoAnswers = fault.InvalidField("answers", "is required")

var submitErrors = []fault.Code{fault.BadQuery, fault.BadJSON, fault.NotFoundInAccount, fault.IdempotencyKeyReused, fault.FormNotOpen, fault.QuotaReached, fault.TooLarge, fault.UnsupportedMedia, fault.Invalid}

func (a *API) addResponse() typedOperation[*submitInput, *SubmitResult] {
	return typedOperation[*submitInput, *SubmitResult]{
		operation{
			Method: "POST", Path: "/api/v1/forms/{id}/responses", ID: "addResponse", Tag: "Responses", Status: 201, MaxBody: maxAnswers,
			Scope:       account.ResponsesWrite,
			Summary:     "Submit a response",
			Description: "Submits a response on the owner's behalf. Returns once the response has been written to disk.",
			Errors:      submitErrors,
		},
		func(ctx context.Context, c *oauth.Principal, in *submitInput) (*SubmitResult, reply, error) {
			// A form of another account is not found, open or not.
			if _, err := a.Store.Form(ctx, c.Owner(), in.ID); err != nil {
				return nil, reply{}, err
			}
			return a.submit(ctx, in, "api", c.Client())
		},
	}
}

// publicPath is the path for submissions without a token.
const publicPath = "/f/{id}"

// forOrigins adds CORS headers for the sites that the owner allows, and the rate limit
// per address.
func (a *API) forOrigins(op *operation) *operation {
	serve := op.serve
	op.serve = func(_ *API, w http.ResponseWriter, r *http.Request) error {
		if err := a.allowOrigin(w, r); err != nil {
			return err
		}
		if err := a.Respond.Admit(a.Address(r), w.Header()); err != nil {
			return err
		}
		return serve(a, w, r)
	}
	return op
}

// allowOrigin lets a site read the response if the owner of the form allows it.
func (a *API) allowOrigin(w http.ResponseWriter, r *http.Request) error {
	origin := r.Header.Get("Origin")
	if origin == "" {
		return nil
	}
	f, err := a.Store.PublicForm(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	w.Header().Add("Vary", "Origin")
	if f.Availability.AllowsOrigin(origin) {
		w.Header().Set("Access-Control-Allow-Origin", origin)
		w.Header().Set("Access-Control-Expose-Headers", "Retry-After, X-Request-Id")
	}
	return nil
}

func (a *API) submitPublicly() typedOperation[*submitInput, *SubmitResult] {
	return typedOperation[*submitInput, *SubmitResult]{
		operation{
			Method: "POST", Path: publicPath, ID: "submitPublicly", Tag: "Responses", Status: 201, MaxBody: maxAnswers, Open: true,
			Summary:     "Submit a response without signing in",
			Description: "For sites that render the form themselves. The form's own page posts to the same address.",
			Errors:      submitErrors,
		},
		func(ctx context.Context, _ *oauth.Principal, in *submitInput) (*SubmitResult, reply, error) {
			return a.submit(ctx, in, "json", "public")
		},
	}
}

func (a *API) submit(ctx context.Context, in *submitInput, source, sender string) (*SubmitResult, reply, error) {
	if in.Body.Answers == nil {
		return nil, reply{}, errNoAnswers
	}
	f, err := a.Store.PublicForm(ctx, in.ID)
	if err != nil {
		return nil, reply{}, err
	}
	r, err := a.Respond.Submit(ctx, respond.Submission{
		Form: f, Answers: in.Body.Answers, Metadata: form.Metadata{Source: source},
		Key: respond.Key{Sender: sender, Value: in.Key, Body: in.Sent},
	})
	if err != nil {
		return nil, reply{}, err
	}
	return nil, reply{Body: submitResult(r)}, nil
}

// submitResult encodes a SubmitResult. It is written by hand because busy forms return
// little else.
func submitResult(r form.Response) []byte {
	out := make([]byte, 0, 96)
	out = append(append(out, `{"id":"`...), r.ID...)
	out = form.AppendTime(append(out, `","submitted_at":"`...), r.SubmittedAt)
	return append(out, `"}`...)
}

// ResponseList is a page of responses or of the feed. Pages have totals; the feed has
// next and more.
type ResponseList struct {
	TotalItems *int64     `json:"total_items,omitempty" doc:"Total number of responses (only with page)" example:"12"`
	TotalPages *int64     `json:"total_pages,omitempty" doc:"Total number of pages (only with page)" example:"1"`
	Data       []Response `json:"data" nullable:"false"`
	Next       *string    `json:"next,omitempty" doc:"Cursor of the next page (only with after)"`
	More       *bool      `json:"more,omitempty" doc:"Whether more responses are available (only with after)"`
}

type listResponsesInput struct {
	ID      string  `path:"id" doc:"Form ID" example:"frm_01k9z8m7q3e4r5t6y7v8w9x0a1"`
	Page    int64   `query:"page" default:"1" minimum:"1" doc:"Page number, from 1, newest responses first" example:"1"`
	PerPage int64   `query:"per_page" default:"20" minimum:"1" maximum:"200" doc:"Responses per page" example:"20"`
	After   *string `query:"after" maxLength:"64" doc:"Cursor: return the responses after this point, oldest first. Empty starts at the beginning."`
	Limit   int64   `query:"limit" default:"100" minimum:"1" maximum:"1000" doc:"Maximum number of responses to return from the feed. Pages with large responses are shorter, so rely on more."`
	filterInput
}

func (a *API) listResponses() typedOperation[*listResponsesInput, *ResponseList] {
	return typedOperation[*listResponsesInput, *ResponseList]{
		operation{
			Method: "GET", Path: "/api/v1/forms/{id}/responses", ID: "listResponses", Tag: "Responses", Status: 200,
			Scope:   account.ResponsesRead,
			Summary: "List responses",
			Description: "Returns pages, newest first. With `after`, returns a feed, oldest first: every response exactly once, " +
				"even while new ones arrive, and equally fast at any depth. Both accept the same filters.",
			Errors: []fault.Code{fault.BadQuery, fault.NotFoundInAccount},
		},
		func(ctx context.Context, c *oauth.Principal, in *listResponsesInput) (*ResponseList, reply, error) {
			filter, err := a.filter(ctx, c.Owner(), in.ID, in.filterInput)
			if err != nil {
				return nil, reply{}, err
			}
			if in.After != nil {
				return a.feed(ctx, c.Owner(), in, filter)
			}
			page := pagination{in.Page, in.PerPage}
			list, total, err := a.Store.Responses(ctx, c.Owner(), in.ID, filter, store.Page{Limit: page.perPage, Offset: page.offset()})
			if errors.Is(err, store.ErrPageTooLarge) {
				return nil, reply{}, badQuery("per_page", "is too large for the size of these responses; use fewer per page, the feed or an export")
			}
			if err != nil {
				return nil, reply{}, err
			}
			pages := page.pages(total)
			link := page.link(a.BaseURL+"/api/v1/forms/"+in.ID+"/responses", in.linkQuery(), total)
			body := newBody("")
			*body = fmt.Appendf(*body, `{"total_items":%d,"total_pages":%d,"data":[`, total, pages)
			for i := range list {
				if i > 0 {
					*body = append(*body, ',')
				}
				*body = list[i].WithFileURLs(a.BaseURL).AppendJSON(*body)
			}
			*body = append(*body, `]}`...)
			return nil, reply{Link: link, Reused: body}, nil
		},
	}
}

type responseInput struct {
	ID       string `path:"id" doc:"Form ID" example:"frm_01k9z8m7q3e4r5t6y7v8w9x0a1"`
	Response string `path:"response" doc:"Response ID" example:"rsp_01k9z8m7q3e4r5t6y7v8w9x0a1"`
}

func (a *API) readResponse() typedOperation[*responseInput, *Response] {
	return typedOperation[*responseInput, *Response]{
		operation{
			Method: "GET", Path: "/api/v1/forms/{id}/responses/{response}", ID: "readResponse", Tag: "Responses", Status: 200,
			Scope:       account.ResponsesRead,
			Summary:     "Get a response",
			Description: "Returns the answers and how the response was submitted. The `ETag` changes when the answers are edited.",
			Errors:      []fault.Code{fault.NotFoundInAccount},
		},
		func(ctx context.Context, c *oauth.Principal, in *responseInput) (*Response, reply, error) {
			return a.responseReply(a.Store.Response(ctx, c.Owner(), in.ID, in.Response))
		},
	}
}

func (a *API) deleteResponse() typedOperation[*responseInput, *empty] {
	return typedOperation[*responseInput, *empty]{
		operation{
			Method: "DELETE", Path: "/api/v1/forms/{id}/responses/{response}", ID: "deleteResponse", Tag: "Responses", Status: 204,
			Scope:       account.ResponsesWrite,
			Summary:     "Delete a response",
			Description: "Deletes the response. This cannot be undone.",
			Errors:      []fault.Code{fault.NotFoundInAccount},
		},
		func(ctx context.Context, c *oauth.Principal, in *responseInput) (*empty, reply, error) {
			return nil, reply{}, a.Store.DeleteResponse(ctx, c.Owner(), in.ID, in.Response, a.Now())
		},
	}
}

// DeleteResult is the number of deleted responses.
type DeleteResult struct {
	Deleted int64 `json:"deleted"`
}

type deleteResponsesInput struct {
	ID string `path:"id" doc:"Form ID" example:"frm_01k9z8m7q3e4r5t6y7v8w9x0a1"`
	filterInput
	All string `query:"all" enum:"true" doc:"Must be true to delete all responses without a filter"`
}

func (a *API) deleteResponses() typedOperation[*deleteResponsesInput, *DeleteResult] {
	return typedOperation[*deleteResponsesInput, *DeleteResult]{
		operation{
			Method: "DELETE", Path: "/api/v1/forms/{id}/responses", ID: "deleteResponses", Tag: "Responses", Status: 200,
			Scope:       account.ResponsesWrite,
			Summary:     "Delete responses by filter",
			Description: "Deletes in batches. If the request is interrupted, deleted responses stay deleted; send it again to continue.",
			Errors:      []fault.Code{fault.BadQuery, fault.NotFoundInAccount},
		},
		func(ctx context.Context, c *oauth.Principal, in *deleteResponsesInput) (*DeleteResult, reply, error) {
			if _, err := a.Store.Form(ctx, c.Owner(), in.ID); err != nil {
				return nil, reply{}, err
			}
			filter, err := a.filter(ctx, c.Owner(), in.ID, in.filterInput)
			if err != nil {
				return nil, reply{}, err
			}
			if len(in.linkQuery()) == 0 && in.All == "" {
				return nil, reply{}, badQuery("all", "must be true to delete all responses; otherwise add a filter")
			}
			n, err := a.Store.DeleteResponses(ctx, c.Owner(), in.ID, filter, a.Now())
			return &DeleteResult{n}, reply{}, err
		},
	}
}

package api

import (
	"context"
	"net/http"
	"time"

	"formulary/internal/account"
	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/oauth"
)

type liveInput struct {
	ID          string  `path:"id" doc:"Form ID" example:"frm_01k9z8m7q3e4r5t6y7v8w9x0a1"`
	After       *string `query:"after" maxLength:"64" doc:"Cursor: start after this point. Empty starts at the beginning. Without it, the stream starts with the next response."`
	LastEventID string  `header:"Last-Event-ID" maxLength:"64" doc:"ID of the last event that was received. EventSource sends it when it reconnects. It takes precedence over after."`
}

const eventStream = "text/event-stream"

// liveResponses sends responses when they are stored.
func (a *API) liveResponses() *operation {
	op := operation{
		Method: "GET", Path: "/api/v1/forms/{id}/responses/live", ID: "liveResponses", Tag: "Responses", Status: 200,
		Scope:   account.ResponsesRead,
		Summary: "Stream new responses",
		Description: "Server-sent events. Each event is a response.created, its id is a cursor of the feed, and its data is the response in one line of JSON. " +
			"A comment is sent every 15 seconds. The stream ends when the access token expires or is revoked, when the form leaves the grant, and when the server restarts: connect again with the last id, and no response is lost or repeated. " +
			"A restored response is sent again.",
		Errors: []fault.Code{fault.BadQuery, fault.NotFoundInAccount},
		media:  []string{eventStream},
	}
	return newStream(op, func(s streamRequest[*liveInput]) error {
		owner := s.caller.Owner()
		start, err := a.liveStart(s.ctx, owner, *s.in)
		if err != nil {
			return err
		}
		stream, err := a.Live.Responses(s.ctx, owner, s.caller.Grant, s.in.ID, start)
		if err != nil {
			return err
		}
		defer stream.Close()
		// The first event has no data: it only tells the client where to resume.
		a.Live.Send(s.w, s.r, stream, []byte("retry: 2000\nid: "+cursor(stream.Cursor())+"\n\n"), a.stillValid(s.r, *s.caller, &op))
		return nil
	})
}

// liveStart returns the ID in the cursor of a request; empty: it has none.
func (a *API) liveStart(ctx context.Context, owner string, in liveInput) (string, error) {
	switch {
	case in.LastEventID != "":
		return a.cursorID(ctx, owner, in.ID, "Last-Event-ID", in.LastEventID)
	case in.After != nil:
		return a.cursorID(ctx, owner, in.ID, "after", *in.After)
	}
	return "", nil
}

// validFor is how long a token is taken for valid without looking it up, as long as
// nothing of its account and its application changes.
const validFor = 15 * time.Second

// stillValid returns a function that reports whether the token of a request is still valid for
// the operation and its form.
func (a *API) stillValid(r *http.Request, caller oauth.Principal, op *operation) func(context.Context) error {
	checked := a.Now()
	return func(ctx context.Context) error {
		now := a.Now()
		unchanged := a.Store.TokenGeneration(caller.User.ID, caller.App.ID) == caller.Generation
		if unchanged && caller.IsCurrent(now) && now.Sub(checked) < validFor {
			return nil
		}
		token, err := bearer(r.Header["Authorization"])
		if err != nil {
			return err
		}
		current, err := a.OAuth.Authenticate(ctx, token)
		if err != nil {
			return err
		}
		if err := checkAccess(&current, r, op); err != nil {
			return err
		}
		caller, checked = current, now
		return nil
	}
}

// stillGranted is stillValid for a download, which may last longer than its token is valid.
func (a *API) stillGranted(r *http.Request, caller oauth.Principal, op *operation) func(context.Context) error {
	allowed := a.stillValid(r, caller, op)
	return func(ctx context.Context) error {
		// A token that has expired and was also revoked is an invalid one.
		if err := allowed(ctx); err != nil && fault.Wrap(err).Code != fault.ExpiredToken {
			return err
		}
		return nil
	}
}

// EventEncoder returns a function that encodes a response as a server-sent event. base is the
// address of the service.
func EventEncoder(base string) func(cursorID string, r form.Response) []byte {
	return func(cursorID string, r form.Response) []byte { return encodeEvent(cursorID, r.WithFileURLs(base)) }
}

func encodeEvent(cursorID string, r form.Response) []byte {
	out := append(make([]byte, 0, len(r.JSON)+512), "event: response.created\nid: "...)
	out = append(append(out, cursor(cursorID)...), "\ndata: "...)
	return append(r.AppendJSON(out), "\n\n"...)
}

package delivery

import (
	"context"
	"errors"
	"slices"
	"time"

	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/id"
	"formulary/internal/store"
	"formulary/internal/webhook"
)

// attempt sends an event once.
type attempt struct {
	r       *runner
	hook    store.ActiveWebhook
	secrets []webhook.Secret
}

// fresh is how long a response that was read with its event is sent without another look.
const fresh = time.Second

// run sends the event as it is now, and notes the result.
func (a attempt) run(ctx context.Context, it *item) {
	// The webhook may have another URL since the event was read, of a receiver that must not
	// get events of this kind.
	if !slices.Contains(a.hook.Events, it.Kind) {
		it.Status = store.DeliverySkipped
		return
	}
	body, err := a.body(ctx, it)
	if errors.Is(err, errResponseGone) {
		it.Status = store.DeliverySkipped
		return
	}
	if err != nil {
		it.err = err
		return
	}
	it.result = a.r.d.Client.Send(ctx, webhook.Request{URL: a.hook.URL, ID: id.Event + it.Position, Body: body, Secrets: a.secrets})
	if ctx.Err() != nil && !it.result.Delivered() {
		it.err = ctx.Err() // the service stops: that says nothing about the receiver
	}
}

// errResponseGone says that there is nothing to deliver any more.
var errResponseGone = errors.New("the response is deleted")

// body builds the body of the request from what is stored now.
func (a attempt) body(ctx context.Context, it *item) ([]byte, error) {
	response := it.Response
	if a.r.d.Now().Sub(it.read) > fresh {
		response = nil
	}
	return a.r.d.buildBody(ctx, a.r.owner.id, formData{a.hook.FormID, a.hook.FormTitle, a.hook.FormVersion}, it.Event, response)
}

// buildBody builds the body for an event. response is the response of the event if it was
// just read; nil: it is read now if the event needs it.
func (c *Config) buildBody(ctx context.Context, owner string, f formData, e store.Event, response *form.Response) ([]byte, error) {
	switch e.Kind {
	case store.ResponseCreated, store.ResponseUpdated, store.ResponseRestored:
		if response == nil {
			current, err := c.response(ctx, owner, f.ID, e.ResponseID)
			if err != nil {
				return nil, err
			}
			response = &current
		}
	case store.ResponseDeleted:
		response = nil
	default:
		f.Version, response = e.Version, nil
	}
	if response != nil {
		shown := response.WithFileURLs(c.BaseURL)
		response = &shown
	}
	return encodeBody(f, e, e.At(), response)
}

// response reads the response of an event.
func (c *Config) response(ctx context.Context, owner, formID, responseID string) (form.Response, error) {
	r, err := c.Store.Response(ctx, owner, formID, responseID)
	if !errors.Is(err, fault.NotFound) {
		return r, err
	}
	// That of a deleted form may come back with the form.
	if _, err := c.Store.Form(ctx, owner, formID); err != nil {
		return r, err
	}
	return r, errResponseGone
}

// Why a webhook is disabled.
const (
	receiverGone    = "The receiver answered with status 410 (Gone)."
	receiverFailing = "No delivery succeeded for about three days, and all retries of an event failed."
)

// judge decides what follows from the result of an attempt. It returns why the webhook is to
// be disabled; empty: it is not. A delivery that disables its webhook stays pending, so that
// it is tried again when the webhook is active.
func (it *item) judge(schedule []time.Duration, failing time.Time, strict bool, now time.Time) (disable string) {
	d := &it.Delivery
	if d.Attempt == 0 {
		d.FirstAt = it.begun
	}
	d.Attempt++
	d.LastAt, d.NextAt = it.begun, time.Time{}
	d.ResponseStatus, d.Error, d.Answer = int64(it.result.Status), it.result.Problem(), it.result.Answer
	if it.result.Delivered() {
		d.Status = store.Delivered
		return ""
	}
	d.Status, d.NextAt = store.DeliveryPending, now
	if it.result.Gone() {
		return receiverGone
	}
	wait, ok := retryIn(schedule, d.Attempt, it.result.RetryAfter)
	if ok {
		d.NextAt = now.Add(wait)
		return ""
	}
	if strict || !failing.After(d.FirstAt) {
		return receiverFailing
	}
	// Others were delivered meanwhile: the receiver works, but not for this event.
	d.Status, d.NextAt = store.DeliveryFailed, time.Time{}
	return ""
}

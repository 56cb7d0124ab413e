package delivery

import (
	"context"
	"errors"
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
	f := formData{a.hook.FormID, a.hook.FormTitle, a.hook.FormVersion}
	var response *form.Response
	switch it.Kind {
	case store.ResponseCreated, store.ResponseUpdated, store.ResponseRestored:
		if response = it.Response; response == nil || a.r.d.Now().Sub(it.read) > fresh {
			current, err := a.response(ctx, it)
			if err != nil {
				return nil, err
			}
			response = &current
		}
	case store.ResponseDeleted:
	default:
		f.Version = it.Version
	}
	return encodeBody(f, it.Event, it.At(), response)
}

// response reads the response of an event.
func (a attempt) response(ctx context.Context, it *item) (form.Response, error) {
	owner := a.r.owner.id
	r, err := a.r.d.Store.Response(ctx, owner, a.hook.FormID, it.ResponseID)
	if !errors.Is(err, fault.NotFound) {
		return r, err
	}
	// That of a deleted form may come back with the form.
	if _, err := a.r.d.Store.Form(ctx, owner, a.hook.FormID); err != nil {
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

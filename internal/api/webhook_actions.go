package api

import (
	"context"
	"time"

	"formulary/internal/account"
	"formulary/internal/fault"
	"formulary/internal/id"
	"formulary/internal/oauth"
)

func (a *API) rotateWebhookSecret() typedOperation[*webhookInput, *Webhook] {
	return typedOperation[*webhookInput, *Webhook]{
		operation{
			Method: "POST", Path: "/api/v1/forms/{id}/webhooks/{webhook}/rotate-secret", ID: "rotateWebhookSecret", Tag: "Webhooks", Status: 200,
			Scope:       account.WebhooksWrite,
			Summary:     "Rotate the secret",
			Description: "Creates a new secret and shows it, once. For 24 hours the previous secret signs too.",
			Errors:      []fault.Code{fault.NotFoundInAccount},
		},
		func(ctx context.Context, c *oauth.Principal, in *webhookInput) (*Webhook, reply, error) {
			w, secret, err := a.Webhooks.Rotate(ctx, c.Owner(), in.key())
			return webhookResult(w, secret), reply{}, err
		},
	}
}

// WebhookTest is what a receiver answered to a test.
type WebhookTest struct {
	Status int64  `json:"status" doc:"HTTP status of the receiver's answer; 0 if there was none" example:"204"`
	TookMS int64  `json:"took_ms" doc:"How long the receiver took, in milliseconds" example:"12"`
	Error  string `json:"error" doc:"Why the test failed; empty if it succeeded"`
}

func (a *API) testWebhook() typedOperation[*webhookInput, *WebhookTest] {
	return typedOperation[*webhookInput, *WebhookTest]{
		operation{
			Method: "POST", Path: "/api/v1/forms/{id}/webhooks/{webhook}/test", ID: "testWebhook", Tag: "Webhooks", Status: 200,
			Scope:       account.WebhooksWrite,
			Summary:     "Test a webhook",
			Description: "Sends an event `webhook.test` now, whatever the status of the webhook, and returns what the receiver answered. It is not retried and not listed.",
			Errors:      []fault.Code{fault.NotFoundInAccount},
		},
		func(ctx context.Context, c *oauth.Principal, in *webhookInput) (*WebhookTest, reply, error) {
			result, err := a.Webhooks.Test(ctx, c.Owner(), in.key())
			if err != nil {
				return nil, reply{}, err
			}
			return &WebhookTest{Status: int64(result.Status), TookMS: result.Took.Milliseconds(), Error: result.Problem()}, reply{}, nil
		},
	}
}

// ReplayRequest says from where events are delivered again: everything if it is empty.
type ReplayRequest struct {
	Since string `json:"since,omitempty" maxLength:"40" doc:"Events at or after this time (RFC 3339)" example:"2026-05-31T00:00:00Z"`
	After string `json:"after,omitempty" maxLength:"40" doc:"Events after this response" example:"rsp_01k9z8m7q3e4r5t6y7v8w9x0a1"`
}

// position is where the replay starts.
func (r *ReplayRequest) position() (string, error) {
	switch {
	case r == nil || r.Since == "" && r.After == "":
		return "", nil
	case r.Since != "" && r.After != "":
		return "", fault.InvalidField("after", "use either since or after")
	case r.After != "":
		if _, ok := id.Parse(id.Response, r.After); !ok {
			return "", fault.InvalidField("after", "is not the ID of a response")
		}
		return r.After[len(id.Response):], nil
	}
	t, err := time.Parse(time.RFC3339, r.Since)
	if err != nil {
		return "", fault.InvalidField("since", "must be an RFC 3339 time, such as 2026-05-31T17:30:00Z")
	}
	return id.First("", toMillis(t)), nil
}

type replayInput struct {
	webhookInput
	Body *ReplayRequest
}

func (a *API) replayWebhook() typedOperation[*replayInput, *empty] {
	return typedOperation[*replayInput, *empty]{
		operation{
			Method: "POST", Path: "/api/v1/forms/{id}/webhooks/{webhook}/replay", ID: "replayWebhook", Tag: "Webhooks", Status: 202, MaxBody: maxWebhook,
			Scope:   account.WebhooksWrite,
			Summary: "Replay events",
			Description: "Delivers events again, beside new ones and with the same `webhook-id`, up to what the webhook has received. Another replay replaces one that is running. " +
				"Responses can be replayed from the beginning, other events for 30 days.",
			Errors: []fault.Code{fault.BadJSON, fault.NotFoundInAccount, fault.TooLarge, fault.UnsupportedMedia, fault.Invalid},
		},
		func(ctx context.Context, c *oauth.Principal, in *replayInput) (*empty, reply, error) {
			after, err := in.Body.position()
			if err != nil {
				return nil, reply{}, err
			}
			return nil, reply{}, a.Store.ReplayWebhook(ctx, c.Owner(), in.key(), after, a.Now())
		},
	}
}

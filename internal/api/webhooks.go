package api

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"formulary/internal/account"
	"formulary/internal/delivery"
	"formulary/internal/fault"
	"formulary/internal/oauth"
	"formulary/internal/store"
)

// Webhook is a receiver of a form's events.
type Webhook struct {
	ID             string    `json:"id" example:"whk_01k9z8m7q3e4r5t6y7v8w9x0a1"`
	FormID         string    `json:"form_id" example:"frm_01k9z8m7q3e4r5t6y7v8w9x0a1"`
	URL            string    `json:"url" format:"uri" example:"https://example.com/hook"`
	Events         []string  `json:"events" nullable:"false" enum:"response.created,response.updated,response.deleted,response.restored,form.published,form.opened,form.closed" doc:"The events the webhook receives"`
	Active         bool      `json:"active" doc:"Whether events are delivered"`
	StrictOrder    bool      `json:"strict_order" doc:"Whether an event waits until all earlier ones are delivered"`
	Status         string    `json:"status" enum:"active,paused,disabled" doc:"paused by its owner or because the grant that created it ended; disabled by the service after failures"`
	DisabledReason string    `json:"disabled_reason,omitempty" doc:"Why the service disabled it"`
	Pending        int64     `json:"pending" doc:"Number of failed deliveries waiting for their next attempt"`
	CreatedAt      Timestamp `json:"created_at"`
	Secret         string    `json:"secret,omitempty" doc:"Signs the requests (Standard Webhooks). Shown only once." example:"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo="`
}

// WebhookList is a page of webhooks.
type WebhookList struct {
	TotalItems int64     `json:"total_items" doc:"Total number of webhooks" example:"1"`
	TotalPages int64     `json:"total_pages" doc:"Total number of pages" example:"1"`
	Data       []Webhook `json:"data" nullable:"false"`
}

func webhookResult(w store.Webhook, secret string) *Webhook {
	events := make([]string, len(w.Events))
	for i, kind := range w.Events {
		events[i] = string(kind)
	}
	return &Webhook{
		ID: w.ID, FormID: w.FormID, URL: w.URL, Events: events, Active: w.Status == store.WebhookActive, StrictOrder: w.StrictOrder,
		Status: string(w.Status), DisabledReason: w.DisabledReason, Pending: w.Pending, CreatedAt: Timestamp(w.CreatedAt), Secret: secret,
	}
}

// personOf returns the user whose grant a webhook depends on, if that is not its owner.
func personOf(c *oauth.Principal) string {
	if c.User.ID == c.Owner() {
		return ""
	}
	return c.User.ID
}

// requireResponses checks that a token may read what the events of a webhook contain.
func requireResponses(c *oauth.Principal, kinds []store.EventKind) error {
	shown := slices.ContainsFunc(kinds, func(k store.EventKind) bool { return strings.HasPrefix(string(k), "response.") })
	if shown && !c.Scopes.Has(account.ResponsesRead) {
		return missingScope(account.ResponsesRead)
	}
	return nil
}

type listWebhooksInput struct {
	ID      string `path:"id" doc:"Form ID" example:"frm_01k9z8m7q3e4r5t6y7v8w9x0a1"`
	Page    int64  `query:"page" default:"1" minimum:"1" doc:"Page number, from 1, newest webhooks first" example:"1"`
	PerPage int64  `query:"per_page" default:"20" minimum:"1" maximum:"200" doc:"Webhooks per page" example:"20"`
}

func (a *API) listWebhooks() typedOperation[*listWebhooksInput, *WebhookList] {
	return typedOperation[*listWebhooksInput, *WebhookList]{
		operation{
			Method: "GET", Path: "/api/v1/forms/{id}/webhooks", ID: "listWebhooks", Tag: "Webhooks", Status: 200,
			Scope:       account.WebhooksRead,
			Summary:     "List webhooks",
			Description: "Lists the webhooks of a form, the newest first. Secrets are not shown.",
			Errors:      []fault.Code{fault.BadQuery, fault.NotFoundInAccount},
		},
		func(ctx context.Context, c *oauth.Principal, in *listWebhooksInput) (*WebhookList, reply, error) {
			page := pagination{in.Page, in.PerPage}
			list, total, err := a.Store.Webhooks(ctx, c.Owner(), in.ID, store.Page{Limit: page.perPage, Offset: page.offset()})
			if err != nil {
				return nil, reply{}, err
			}
			out := &WebhookList{TotalItems: total, TotalPages: page.pages(total), Data: make([]Webhook, len(list))}
			for i, w := range list {
				out.Data[i] = *webhookResult(w, "")
			}
			return out, reply{Link: page.link(a.BaseURL+"/api/v1/forms/"+in.ID+"/webhooks", url.Values{}, total)}, nil
		},
	}
}

// NewWebhook is what a webhook is made from.
type NewWebhook struct {
	URL         string   `json:"url" format:"uri" maxLength:"2000" doc:"Public https: address that receives the events" example:"https://example.com/hook"`
	Events      []string `json:"events,omitempty" nullable:"false" maxItems:"20" enum:"response.created,response.updated,response.deleted,response.restored,form.published,form.opened,form.closed" doc:"The events to receive; response.created if left out"`
	Active      *bool    `json:"active,omitempty" doc:"Whether events are delivered; true if left out"`
	StrictOrder bool     `json:"strict_order,omitempty" doc:"Whether an event waits until all earlier ones are delivered"`
}

type createWebhookInput struct {
	ID   string `path:"id" doc:"Form ID" example:"frm_01k9z8m7q3e4r5t6y7v8w9x0a1"`
	Key  string `header:"Idempotency-Key" maxLength:"255" doc:"Makes retries safe: requests with the same key and body create one webhook. A repeated request does not show the secret again."`
	Sent string
	Body NewWebhook
}

func (a *API) createWebhook() typedOperation[*createWebhookInput, *Webhook] {
	return typedOperation[*createWebhookInput, *Webhook]{
		operation{
			Method: "POST", Path: "/api/v1/forms/{id}/webhooks", ID: "createWebhook", Tag: "Webhooks", Status: 201, MaxBody: maxWebhook,
			Scope:   account.WebhooksWrite,
			Summary: "Create a webhook",
			Description: "The webhook receives what happens after its creation. To receive events of responses, the token also needs `responses:read`. " +
				"The answer shows the secret, once. A form has at most 20 webhooks.",
			Errors: []fault.Code{fault.BadQuery, fault.BadJSON, fault.NotFoundInAccount, fault.IdempotencyKeyReused, fault.QuotaReached, fault.TooLarge, fault.UnsupportedMedia, fault.Invalid},
		},
		func(ctx context.Context, c *oauth.Principal, in *createWebhookInput) (*Webhook, reply, error) {
			// Somebody else's form is not there, whatever the body says.
			if _, err := a.Store.Form(ctx, c.Owner(), in.ID); err != nil {
				return nil, reply{}, err
			}
			w := store.Webhook{
				WebhookKey: store.WebhookKey{FormID: in.ID}, URL: in.Body.URL, Events: []store.EventKind{store.ResponseCreated},
				StrictOrder: in.Body.StrictOrder, Status: store.WebhookActive, AppID: c.App.ID, GrantID: c.Grant, PersonID: personOf(c),
			}
			var err error
			if in.Body.Events != nil {
				if w.Events, err = delivery.ParseEvents(in.Body.Events); err != nil {
					return nil, reply{}, err
				}
			}
			if in.Body.Active != nil && !*in.Body.Active {
				w.Status = store.WebhookPaused
			}
			if err := requireResponses(c, w.Events); err != nil {
				return nil, reply{}, err
			}
			once := store.IdempotencyKey{App: c.Client(), Key: in.Key, Hash: account.Hash("webhook " + in.ID + " " + in.Sent)}
			made, secret, err := a.Webhooks.Create(ctx, c.Owner(), w, once)
			return webhookResult(made, secret), reply{Location: a.BaseURL + "/api/v1/forms/" + in.ID + "/webhooks/" + made.ID}, err
		},
	}
}

type webhookInput struct {
	ID      string `path:"id" doc:"Form ID" example:"frm_01k9z8m7q3e4r5t6y7v8w9x0a1"`
	Webhook string `path:"webhook" doc:"Webhook ID" example:"whk_01k9z8m7q3e4r5t6y7v8w9x0a1"`
}

func (in *webhookInput) key() store.WebhookKey {
	return store.WebhookKey{FormID: in.ID, ID: in.Webhook}
}

func (a *API) readWebhook() typedOperation[*webhookInput, *Webhook] {
	return typedOperation[*webhookInput, *Webhook]{
		operation{
			Method: "GET", Path: "/api/v1/forms/{id}/webhooks/{webhook}", ID: "readWebhook", Tag: "Webhooks", Status: 200,
			Scope:       account.WebhooksRead,
			Summary:     "Get a webhook",
			Description: "Returns the webhook without its secret.",
			Errors:      []fault.Code{fault.NotFoundInAccount},
		},
		func(ctx context.Context, c *oauth.Principal, in *webhookInput) (*Webhook, reply, error) {
			w, err := a.Store.Webhook(ctx, c.Owner(), in.key())
			return webhookResult(w, ""), reply{}, err
		},
	}
}

// WebhookUpdate is what to change of a webhook; what is left out stays.
type WebhookUpdate struct {
	URL         *string  `json:"url,omitempty" format:"uri" maxLength:"2000" example:"https://example.com/hook"`
	Events      []string `json:"events,omitempty" nullable:"false" maxItems:"20" enum:"response.created,response.updated,response.deleted,response.restored,form.published,form.opened,form.closed" doc:"The events to receive. Replaces the whole list."`
	Active      *bool    `json:"active,omitempty" doc:"false pauses the webhook; true continues where it stopped, also if it was disabled"`
	StrictOrder *bool    `json:"strict_order,omitempty"`
}

type changeWebhookInput struct {
	webhookInput
	Body WebhookUpdate
}

func (a *API) changeWebhook() typedOperation[*changeWebhookInput, *Webhook] {
	return typedOperation[*changeWebhookInput, *Webhook]{
		operation{
			Method: "PATCH", Path: "/api/v1/forms/{id}/webhooks/{webhook}", ID: "changeWebhook", Tag: "Webhooks", Status: 200, MaxBody: maxWebhook,
			Scope:       account.WebhooksWrite,
			Summary:     "Update a webhook",
			Description: "Changes only the properties in the body. Whatever lets a webhook receive events of responses also needs `responses:read`.",
			Errors:      []fault.Code{fault.BadJSON, fault.NotFoundInAccount, fault.TooLarge, fault.UnsupportedMedia, fault.Invalid},
		},
		func(ctx context.Context, c *oauth.Principal, in *changeWebhookInput) (*Webhook, reply, error) {
			var kinds []store.EventKind
			if in.Body.Events != nil {
				// Somebody else's webhook is not there, whatever the body says.
				_, err := a.Store.Webhook(ctx, c.Owner(), in.key())
				if err == nil {
					kinds, err = delivery.ParseEvents(in.Body.Events)
				}
				if err != nil {
					return nil, reply{}, err
				}
			}
			apply := func(w *store.Webhook) error {
				setIfGiven(&w.URL, in.Body.URL)
				setIfGiven(&w.StrictOrder, in.Body.StrictOrder)
				if kinds != nil {
					w.Events = kinds
				}
				if in.Body.Active != nil {
					delivery.SetActive(w, *in.Body.Active)
				}
				if in.Body.URL != nil || kinds != nil || in.Body.Active != nil && *in.Body.Active {
					return requireResponses(c, w.Events)
				}
				return nil
			}
			w, err := a.Webhooks.UpdateFor(ctx, c.Owner(), in.key(), store.WebhookChange{AppID: c.App.ID, GrantID: c.Grant, PersonID: personOf(c), Apply: apply})
			return webhookResult(w, ""), reply{}, err
		},
	}
}

func (a *API) deleteWebhook() typedOperation[*webhookInput, *empty] {
	return typedOperation[*webhookInput, *empty]{
		operation{
			Method: "DELETE", Path: "/api/v1/forms/{id}/webhooks/{webhook}", ID: "deleteWebhook", Tag: "Webhooks", Status: 204,
			Scope:       account.WebhooksWrite,
			Summary:     "Delete a webhook",
			Description: "Deletes the webhook with its deliveries. Pending deliveries are not attempted again.",
			Errors:      []fault.Code{fault.NotFoundInAccount},
		},
		func(ctx context.Context, c *oauth.Principal, in *webhookInput) (*empty, reply, error) {
			return nil, reply{}, a.Store.DeleteWebhook(ctx, c.Owner(), in.key())
		},
	}
}

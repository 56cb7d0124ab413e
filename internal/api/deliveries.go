package api

import (
	"context"
	"net/url"

	"formulary/internal/account"
	"formulary/internal/fault"
	"formulary/internal/oauth"
	"formulary/internal/store"
)

// Delivery is one event for one webhook, with its last attempt.
type Delivery struct {
	ID             string     `json:"id" example:"dlv_01k9z8m7q3e4r5t6y7v8w9x0a1"`
	Event          string     `json:"event" doc:"Type of the event" example:"response.created"`
	ResponseID     string     `json:"response_id" doc:"Response of the event; empty for events of the form" example:"rsp_01k9z8m7q3e4r5t6y7v8w9x0a1"`
	Attempt        int64      `json:"attempt" doc:"Number of the last attempt, from 1; 0 if it is about to be sent again" example:"1"`
	Status         string     `json:"status" enum:"delivered,pending,failed"`
	ResponseStatus int64      `json:"response_status" doc:"HTTP status of the receiver's answer; 0 if there was none" example:"204"`
	Error          string     `json:"error" doc:"Why the last attempt failed"`
	At             Timestamp  `json:"at" doc:"Time of the last attempt"`
	NextAttemptAt  *Timestamp `json:"next_attempt_at,omitempty" doc:"Time of the next attempt"`
}

// DeliveryList is a page of deliveries.
type DeliveryList struct {
	TotalItems int64      `json:"total_items" doc:"Total number of deliveries" example:"1"`
	TotalPages int64      `json:"total_pages" doc:"Total number of pages" example:"1"`
	Data       []Delivery `json:"data" nullable:"false"`
}

func deliveryResult(d store.Delivery) Delivery {
	return Delivery{
		ID: d.ID(), Event: string(d.Kind), ResponseID: d.ResponseID, Attempt: d.Attempt, Status: string(d.Status),
		ResponseStatus: d.ResponseStatus, Error: d.Error, At: Timestamp(d.LastAt), NextAttemptAt: optionalTimestamp(d.NextAt),
	}
}

type listDeliveriesInput struct {
	webhookInput
	Page    int64  `query:"page" default:"1" minimum:"1" doc:"Page number, from 1, latest attempts first" example:"1"`
	PerPage int64  `query:"per_page" default:"20" minimum:"1" maximum:"200" doc:"Deliveries per page" example:"20"`
	Status  string `query:"status" enum:"delivered,pending,failed" doc:"Filter by status"`
}

func (a *API) listDeliveries() typedOperation[*listDeliveriesInput, *DeliveryList] {
	return typedOperation[*listDeliveriesInput, *DeliveryList]{
		operation{
			Method: "GET", Path: "/api/v1/forms/{id}/webhooks/{webhook}/deliveries", ID: "listDeliveries", Tag: "Webhooks", Status: 200,
			Scope:       account.WebhooksRead,
			Summary:     "List deliveries",
			Description: "Lists pending deliveries and the last 1,000 that have ended, one entry per event with its last attempt.",
			Errors:      []fault.Code{fault.BadQuery, fault.NotFoundInAccount},
		},
		func(ctx context.Context, c *oauth.Principal, in *listDeliveriesInput) (*DeliveryList, reply, error) {
			page := pagination{in.Page, in.PerPage}
			list, total, err := a.Store.Deliveries(ctx, c.Owner(), in.key(), store.DeliveryStatus(in.Status), store.Page{Limit: page.perPage, Offset: page.offset()})
			if err != nil {
				return nil, reply{}, err
			}
			out := &DeliveryList{TotalItems: total, TotalPages: page.pages(total), Data: make([]Delivery, len(list))}
			for i, d := range list {
				out.Data[i] = deliveryResult(d)
			}
			kept := url.Values{}
			if in.Status != "" {
				kept.Set("status", in.Status)
			}
			return out, reply{Link: page.link(a.BaseURL+"/api/v1/forms/"+in.ID+"/webhooks/"+in.Webhook+"/deliveries", kept, total)}, nil
		},
	}
}

type deliveryInput struct {
	webhookInput
	Delivery string `path:"delivery" doc:"Delivery ID" example:"dlv_01k9z8m7q3e4r5t6y7v8w9x0a1"`
}

func (a *API) resendDelivery() typedOperation[*deliveryInput, *empty] {
	return typedOperation[*deliveryInput, *empty]{
		operation{
			Method: "POST", Path: "/api/v1/forms/{id}/webhooks/{webhook}/deliveries/{delivery}/resend", ID: "resendDelivery", Tag: "Webhooks", Status: 202,
			Scope:       account.WebhooksWrite,
			Summary:     "Resend a delivery",
			Description: "Sends the event again, with the same `webhook-id` and the full retry schedule. A webhook that is not active sends it once it is.",
			Errors:      []fault.Code{fault.NotFoundInAccount, fault.Invalid},
		},
		func(ctx context.Context, c *oauth.Principal, in *deliveryInput) (*empty, reply, error) {
			return nil, reply{}, a.Store.ResendDelivery(ctx, c.Owner(), in.key(), in.Delivery, a.Now())
		},
	}
}

package api

import (
	"context"

	"formulary/internal/account"
	"formulary/internal/fault"
	"formulary/internal/oauth"
	"formulary/internal/store"
)

// Notifications says who gets emails about the responses of a form.
type Notifications struct {
	When string   `json:"when" enum:"each,hourly,daily,off" doc:"An email about each response, or one per hour or per day about all of them" example:"each"`
	To   []string `json:"to" nullable:"false" maxItems:"20" doc:"Email addresses. The owner’s confirmed address is notified at once. Any other address first gets an email with a link to confirm. Addresses that have unsubscribed are left out." example:"ana@example.org"`
}

func notificationsResult(n store.Notifications) *Notifications {
	out := &Notifications{When: string(n.When), To: []string{}}
	for _, r := range n.Recipients {
		if r.UnsubscribedAt.IsZero() {
			out.To = append(out.To, r.Email)
		}
	}
	return out
}

func (a *API) readNotifications() typedOperation[*formInput, *Notifications] {
	return typedOperation[*formInput, *Notifications]{
		operation{
			Method: "GET", Path: "/api/v1/forms/{id}/notifications", ID: "readNotifications", Tag: "Email", Status: 200,
			Scope:       account.FormsRead,
			Summary:     "Get notifications",
			Description: "Returns who gets emails about new responses, and how often. Addresses that have not confirmed yet are included.",
			Errors:      []fault.Code{fault.NotFoundInAccount},
		},
		func(ctx context.Context, c *oauth.Principal, in *formInput) (*Notifications, reply, error) {
			n, err := a.Store.Notifications(ctx, c.Owner(), in.ID)
			return notificationsResult(n), reply{}, err
		},
	}
}

type setNotificationsInput struct {
	ID   string `path:"id" doc:"Form ID" example:"frm_01k9z8m7q3e4r5t6y7v8w9x0a1"`
	Body Notifications
}

func (a *API) setNotifications() typedOperation[*setNotificationsInput, *Notifications] {
	return typedOperation[*setNotificationsInput, *Notifications]{
		operation{
			Method: "PUT", Path: "/api/v1/forms/{id}/notifications", ID: "setNotifications", Tag: "Email", Status: 200, MaxBody: maxMail,
			Scope:   account.FormsWrite,
			Summary: "Replace notifications",
			Description: "Changes who gets emails about the responses from now on. New addresses are asked to confirm; adding an address that has unsubscribed asks it again. " +
				"An address is asked at most 5 times per hour.",
			Errors: []fault.Code{fault.BadJSON, fault.NotFoundInAccount, fault.TooLarge, fault.UnsupportedMedia, fault.Invalid},
		},
		func(ctx context.Context, c *oauth.Principal, in *setNotificationsInput) (*Notifications, reply, error) {
			// Somebody else's form is not there, whatever the body says.
			if _, err := a.Store.Form(ctx, c.Owner(), in.ID); err != nil {
				return nil, reply{}, err
			}
			if in.Body.To == nil {
				return nil, reply{}, fault.InvalidField("to", "is required; send an empty array to notify no one")
			}
			n, err := a.Mails.SetNotifications(ctx, c.Owner(), in.ID, store.NotificationChange{When: store.Frequency(in.Body.When), To: in.Body.To})
			return notificationsResult(n), reply{}, err
		},
	}
}

package workspace

import (
	"net/http"
	"time"

	"formulary/internal/delivery"
	"formulary/internal/fault"
	"formulary/internal/id"
	"formulary/internal/store"
	"formulary/internal/web/page"
)

// PauseWebhook stops the deliveries of a webhook.
func (pages *Pages) PauseWebhook(req *page.Request) error {
	return pages.setWebhookActive(req, false, "paused")
}

// ResumeWebhook starts a webhook that is paused or disabled.
func (pages *Pages) ResumeWebhook(req *page.Request) error {
	return pages.setWebhookActive(req, true, "resumed")
}

func (pages *Pages) setWebhookActive(req *page.Request, active bool, done string) error {
	_, err := pages.Webhooks.Update(req.Context(), req.Owner(), webhookKey(req), func(w *store.Webhook) { delivery.SetActive(w, active) })
	return pages.finishWebhook(req, done, err)
}

// TestWebhook sends a test and shows what the receiver answered.
func (pages *Pages) TestWebhook(req *page.Request) error {
	key := webhookKey(req)
	result, err := pages.Webhooks.Test(req.Context(), req.Owner(), key)
	if err != nil {
		return err
	}
	return pages.renderWebhook(req, http.StatusOK, webhookView{key: key, test: &result})
}

// RotateWebhookSecret creates another secret and shows it.
func (pages *Pages) RotateWebhookSecret(req *page.Request) error {
	key := webhookKey(req)
	_, secret, err := pages.Webhooks.Rotate(req.Context(), req.Owner(), key)
	if err != nil {
		return err
	}
	return pages.renderWebhook(req, http.StatusOK, webhookView{key: key, secret: secret})
}

// DeleteWebhook deletes a webhook with its deliveries.
func (pages *Pages) DeleteWebhook(req *page.Request) error {
	key := webhookKey(req)
	if err := pages.Store.DeleteWebhook(req.Context(), req.Owner(), key); err != nil {
		return err
	}
	return req.Redirect("/forms/" + key.FormID + "/connect?done=deleted")
}

// ResendDelivery sends an event again.
func (pages *Pages) ResendDelivery(req *page.Request) error {
	err := pages.Store.ResendDelivery(req.Context(), req.Owner(), webhookKey(req), req.PathValue("delivery"), pages.Now())
	return pages.finishWhenActive(req, "resent", err)
}

// ReplayWebhook sends events again, from a time in the user's time zone or from the beginning.
func (pages *Pages) ReplayWebhook(req *page.Request) error {
	key, after := webhookKey(req), ""
	if req.Field("from") != "beginning" {
		since, err := time.ParseInLocation(controlTimeLayout, req.Field("since"), page.LoadZone(req.User.TimeZone))
		if err != nil {
			problems := page.Problems{"since": fault.Messagef("enter a date and time")}
			return pages.renderWebhook(req, http.StatusUnprocessableEntity, webhookView{key: key, problems: problems})
		}
		after = id.First("", since)
	}
	err := pages.Store.ReplayWebhook(req.Context(), req.Owner(), key, after, pages.Now())
	return pages.finishWhenActive(req, "replay", err)
}

// finishWhenActive is finishWebhook after something that only an active webhook does.
func (pages *Pages) finishWhenActive(req *page.Request, done string, err error) error {
	if err != nil {
		return err
	}
	w, err := pages.Store.Webhook(req.Context(), req.Owner(), webhookKey(req))
	if err == nil && w.Status != store.WebhookActive {
		done += "-later"
	}
	return pages.finishWebhook(req, done, err)
}

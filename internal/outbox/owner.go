package outbox

import (
	"context"

	"formulary/internal/mail"
	"formulary/internal/store"
)

// renderWebhookDisabled writes the mail about a webhook, unless it is active again.
func (s *Service) renderWebhookDisabled(ctx context.Context, m store.Mail) (mail.Message, error) {
	hook, err := s.Store.Webhook(ctx, m.Account, store.WebhookKey{FormID: m.FormID, ID: m.Data})
	if err != nil {
		return mail.Message{}, gone(err)
	}
	if hook.Status != store.WebhookDisabled {
		return mail.Message{}, errGone
	}
	f, err := s.Store.Form(ctx, m.Account, m.FormID)
	if err != nil {
		return mail.Message{}, gone(err)
	}
	return s.Writer.Write(mail.WebhookDisabled{
		FormTitle: f.Title, URL: hook.URL, Reason: hook.DisabledReason, PageURL: s.BaseURL + "/forms/" + f.ID + "/connect/" + hook.ID,
	}, m.Language)
}

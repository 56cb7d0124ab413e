package delivery

import (
	"context"
	"errors"

	"formulary/internal/id"
	"formulary/internal/store"
	"formulary/internal/webhook"
)

// Preview returns the request that an attempt at a delivery would send now, as text. It is
// empty if there is nothing to send, because the response is deleted.
func (s *Service) Preview(ctx context.Context, owner string, w store.Webhook, d store.Delivery) (string, error) {
	f, err := s.Store.Form(ctx, owner, w.FormID)
	if err != nil {
		return "", err
	}
	body, err := s.buildBody(ctx, owner, formData{f.ID, f.Title, f.Version}, d.Event, nil)
	if errors.Is(err, errResponseGone) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	// Without the key nothing can be signed, and the rest is worth showing.
	secrets, _ := s.secretsOf(w, s.Now())
	return s.Client.Format(webhook.Request{URL: w.URL, ID: id.Event + d.Position, Body: body, Secrets: secrets}, s.Now()), nil
}

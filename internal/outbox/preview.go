package outbox

import (
	"context"
	"math/rand/v2"

	"formulary/internal/form"
	"formulary/internal/mail"
	"formulary/internal/store"
)

// previewResponses is how many responses the preview of a digest has.
const previewResponses = 3

// PreviewNotification writes the notification of the newest response, or the digest of the
// newest responses. Without any, it is about an example.
func (s *Service) PreviewNotification(ctx context.Context, owner, formID string, when store.Frequency) (mail.Message, error) {
	if when != store.NotifyHourly && when != store.NotifyDaily {
		f, list, err := s.samples(ctx, owner, formID, 1)
		if err != nil {
			return mail.Message{}, err
		}
		return s.notification(f, list[0], nil)
	}
	f, list, err := s.samples(ctx, owner, formID, previewResponses)
	if err != nil {
		return mail.Message{}, err
	}
	return s.digestOf(f, digestData{Daily: when == store.NotifyDaily}, list, nil)
}

// PreviewReceipt writes the receipt of the newest response, or of an example.
func (s *Service) PreviewReceipt(ctx context.Context, owner, formID string, settings store.Receipt) (mail.Message, error) {
	f, list, err := s.samples(ctx, owner, formID, 1)
	if err != nil {
		return mail.Message{}, err
	}
	return s.receipt(f, settings, list[0])
}

// samples returns a form with its newest responses, or an example if it has none.
func (s *Service) samples(ctx context.Context, owner, formID string, limit int64) (*source, []entry, error) {
	f, err := s.source(ctx, owner, formID)
	if err != nil {
		return nil, nil, err
	}
	responses, _, err := s.Store.Responses(ctx, owner, formID, store.ResponseFilter{}, store.Page{Limit: limit})
	if err != nil {
		return nil, nil, err
	}
	list := make([]entry, len(responses))
	for i, r := range responses {
		if list[i], err = s.entry(ctx, owner, r); err != nil {
			return nil, nil, err
		}
	}
	if len(list) > 0 {
		return f, list, nil
	}
	_, draft, err := s.Store.FormDraft(ctx, owner, formID)
	if err != nil {
		return nil, nil, err
	}
	// The same example each time, so that a preview changes only with the settings.
	sampler := form.Sampler{Name: "Ada", Dice: rand.New(rand.NewPCG(1, 1))}
	answers := map[string]any{}
	for _, field := range draft.Fields {
		if example := field.Example(sampler); example != nil {
			answers[field.Key] = example
		}
	}
	return f, []entry{{form.Response{SubmittedAt: s.Now()}, draft, draft.Evaluate(answers).Answers}}, nil
}

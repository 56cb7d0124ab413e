package delivery

import (
	"slices"

	"formulary/internal/fault"
	"formulary/internal/store"
)

// ParseEvents reads the names of the events that a webhook is to receive.
func ParseEvents(names []string) ([]store.EventKind, error) {
	kinds := make([]store.EventKind, len(names))
	for i, name := range names {
		kinds[i] = store.EventKind(name)
		if !slices.Contains(store.EventKinds, kinds[i]) {
			return nil, fault.InvalidField("events", "%q is not an event", name)
		}
	}
	if len(kinds) == 0 {
		return nil, fault.InvalidField("events", "name at least one event")
	}
	return kinds, nil
}

// SetActive starts or pauses a webhook. Pausing keeps a disabled webhook disabled, with its
// reason.
func SetActive(w *store.Webhook, active bool) {
	switch {
	case active:
		w.Status = store.WebhookActive
	case w.Status == store.WebhookActive:
		w.Status = store.WebhookPaused
	}
}

// HasKey reports whether there is a key to encrypt secrets with. Without it webhooks can be
// neither created nor used.
func (s *Service) HasKey() bool { return s.Sealer != nil }

// DisabledReasons are the texts of store.Webhook.DisabledReason.
var DisabledReasons = []string{receiverGone, receiverFailing, secretLost}

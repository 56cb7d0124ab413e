package cli

import (
	"context"
	"time"

	"formulary/internal/account"
	"formulary/internal/store"
)

// demoReceipt is what respondents of one form of the demo get.
var demoReceipt = store.Receipt{
	Active: true, Field: "email", Subject: "See you soon, {{name}}", Answers: true,
	Text: "Thank you for registering. We look forward to seeing you.\n\nIf your plans change, **reply to this email**.",
}

// demoMails lets a form of the demo notify its owner and send receipts, from the next response
// on. They are on the page with unsent mail.
func demoMails(ctx context.Context, s *store.Store, owner account.User, formID string, now time.Time) error {
	notifications := store.NotificationChange{When: store.NotifyEach, To: []string{owner.Email}}
	if _, err := s.SetNotifications(ctx, owner.ID, formID, notifications, now); err != nil {
		return err
	}
	return s.SetReceipt(ctx, owner.ID, formID, store.ReceiptChange{Receipt: demoReceipt}, now)
}

package store

import (
	"context"

	"formulary/internal/account"
	"formulary/internal/db"
	"formulary/internal/fault"
)

// AskRecipientAgain sends the mail once more that asks an address to confirm, with the same
// link. Nothing is sent to an address that has confirmed or unsubscribed.
func (s *Store) AskRecipientAgain(ctx context.Context, owner, formID, email string, confirm func(RecipientLink) (Mail, error)) (err error) {
	defer wrap(&err, "ask recipient again")
	err = s.write(ctx, owner, func(t db.Tx) error {
		list, err := readRecipients(t.Query, owner, formID)
		if err != nil {
			return err
		}
		others, found := map[string]bool{}, false
		for _, r := range list {
			if key := account.EmailKey(r.Email); key == account.EmailKey(email) {
				found = true
			} else {
				others[key] = true
			}
		}
		if !found {
			return fault.NotFound
		}
		return askForConfirmation(t, owner, formID, NotificationChange{Confirm: confirm}, others)
	})
	s.mailsAdded()
	return err
}

package store

import (
	"context"

	"formulary/internal/db"
)

const (
	erasedAddressSQL = `SELECT email_key FROM account_purge WHERE account_id = $1`
	// notifyingAccountsSQL reads all accounts; see webhookAccountsSQL.
	notifyingAccountsSQL = `SELECT DISTINCT account_id FROM form_recipient WHERE email_key = $1`
	forgetRecipientSQL   = `DELETE FROM form_recipient WHERE account_id = $1 AND email_key = $2`
	forgetMailsSQL       = `DELETE FROM mail WHERE account_id = $1 AND recipient_key = $2`
	allowAddressSQL      = `DELETE FROM mail_suppression WHERE account_id = $1 AND recipient_key = $2`
)

// forgetAddress removes the address of a deleted user from the notifications of other accounts,
// with the mails to it.
func (s *Store) forgetAddress(ctx context.Context, owner string) error {
	var key string
	if err := queryOne(s.query(ctx), erasedAddressSQL, []any{owner}, &key); err != nil || key == "" {
		return replaceNotFound(err, nil)
	}
	var others []string
	err := s.db.Query(ctx, notifyingAccountsSQL, func(r db.Row) error {
		var other string
		err := r.Scan(&other)
		others = append(others, other)
		return err
	}, key)
	if err != nil {
		return err
	}
	for _, other := range others {
		err := s.write(ctx, other, func(t db.Tx) error {
			for _, sql := range []string{forgetMailsSQL, allowAddressSQL, forgetRecipientSQL} {
				if _, err := t.Exec(sql, other, key); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

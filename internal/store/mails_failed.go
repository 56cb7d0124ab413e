package store

import "context"

// failedMailsSQL also finds mails that will be tried again: only those have an error. The second
// condition on id is there for SQLite: without it, it would read all mails of the account.
const failedMailsSQL = `SELECT ` + mailColumns + ` FROM mail WHERE account_id = $1 AND form_id = $2 AND error <> '' AND id > '' ORDER BY id DESC LIMIT $3`

// FailedMails returns mails of a form whose last attempt failed, the newest first.
func (s *Store) FailedMails(ctx context.Context, owner, formID string, limit int64) (list []Mail, err error) {
	defer wrap(&err, "list failed mails")
	err = s.db.Query(ctx, failedMailsSQL, gatherMails(&list), owner, formID, limit)
	return list, err
}

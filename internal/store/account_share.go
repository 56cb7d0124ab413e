package store

import (
	"context"

	"formulary/internal/db"
)

// ForAccount attributes database work to an account, which gets no more than its share
// of the connections and a limited time per read. It has nothing to do with access
// control: the owner is always in the arguments.
func ForAccount(ctx context.Context, account string) context.Context {
	return db.WithShare(ctx, db.Share{Account: account})
}

// forRespondents attributes the work of respondents to the owner of the form. Their
// share is separate, so that they do not wait for the owner's searches.
func forRespondents(ctx context.Context, owner string) context.Context {
	return db.WithShare(ctx, db.Share{Account: "respondents/" + owner, Reserved: true})
}

// forCaller attributes authentication to the account that the token or session names.
// The caller is not authenticated yet, so this share is separate too.
func forCaller(ctx context.Context, account string) context.Context {
	return db.WithShare(ctx, db.Share{Account: "caller/" + account, Reserved: true})
}

// attributed attributes work to the respondents of an owner, unless ctx already has an
// attribution.
func attributed(ctx context.Context, owner string) context.Context {
	if db.ShareOf(ctx).Account != "" {
		return ctx
	}
	return forRespondents(ctx, owner)
}

package store

import (
	"context"

	"formulary/internal/db"
)

// ForAccount attributes database work to an account, which then gets no more than its
// share of the connections, and no more than some seconds for one read. It decides
// nothing about access: whose data is read is always in the arguments.
func ForAccount(ctx context.Context, account string) context.Context {
	return db.WithShare(ctx, db.Share{Account: account})
}

// forRespondents attributes what respondents do to the form's owner. They have a share of
// their own, so that they do not wait for their owner's searches.
func forRespondents(ctx context.Context, owner string) context.Context {
	return db.WithShare(ctx, db.Share{Account: "respondents/" + owner, Reserved: true})
}

// forCaller attributes authentication to the account that the token or the session names.
// Nothing is known of the caller yet, so it has a share of its own.
func forCaller(ctx context.Context, account string) context.Context {
	return db.WithShare(ctx, db.Share{Account: "caller/" + account, Reserved: true})
}

// attributed attributes work to the respondents of an owner, unless it is attributed.
func attributed(ctx context.Context, owner string) context.Context {
	if db.ShareOf(ctx).Account != "" {
		return ctx
	}
	return forRespondents(ctx, owner)
}

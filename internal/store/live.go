package store

import (
	"context"

	"formulary/internal/fault"
	"formulary/internal/id"
)

const feedEndSQL = `SELECT response_tick FROM form WHERE account_id = $1 AND id = $2`

// FeedEnd returns a cursor after everything that is in the feed of a form now. Whatever is
// stored or restored later follows it.
func (s *Store) FeedEnd(ctx context.Context, owner, formID string) (_ string, err error) {
	defer wrap(&err, "find end of feed")
	if _, ok := id.Parse(id.Form, formID); !ok {
		return "", fault.NotFound
	}
	var tick int64
	if err := queryOne(s.query(ctx), feedEndSQL, []any{owner, formID}, &tick); err != nil {
		return "", err
	}
	return id.Tick(tick + 1).First(id.Response), nil
}

// TokenGeneration returns the present generation of what decides whether an access token
// is valid. It is the one in AccessToken until something changes.
func (s *Store) TokenGeneration(owner, appID string) Generation {
	all, ok := s.db.Generation(owner)
	app, _ := s.db.Generation(appKey(appID))
	return Generation{all + app, ok}
}

// UserGeneration returns the present generation of what belongs to a user, such as their
// memberships.
func (s *Store) UserGeneration(person string) Generation {
	number, ok := s.db.Generation(person)
	return Generation{number, ok}
}

const (
	formResponsesSQL = `SELECT response_count, response_tick FROM form WHERE account_id = $1 AND id = $2`
	allResponsesSQL  = `SELECT CAST(COALESCE(SUM(response_count), 0) AS BIGINT), COALESCE(MAX(response_tick), 0) FROM form WHERE account_id = $1`
	someResponsesSQL = `SELECT CAST(COALESCE(SUM(response_count), 0) AS BIGINT), COALESCE(MAX(response_tick), 0) FROM `
)

// ResponseActivity differs once responses were stored, deleted or restored.
type ResponseActivity struct {
	Count int64 // of responses
	tick  int64 // of the last one
}

// ResponseActivity reads the activity of one form or, if formID is empty, of the forms of the
// owner that only selects, see FormFilter.
func (s *Store) ResponseActivity(ctx context.Context, owner, formID, only string) (a ResponseActivity, err error) {
	defer wrap(&err, "read activity")
	if formID == "" && only != "" {
		return a, queryOne(s.query(ctx), someResponsesSQL+s.db.Listed("form", "id", "$2")+` AND account_id = $1`, []any{owner, only}, &a.Count, &a.tick)
	}
	if formID == "" {
		return a, queryOne(s.query(ctx), allResponsesSQL, []any{owner}, &a.Count, &a.tick)
	}
	if _, ok := id.Parse(id.Form, formID); !ok {
		return a, fault.NotFound
	}
	return a, queryOne(s.query(ctx), formResponsesSQL, []any{owner, formID}, &a.Count, &a.tick)
}

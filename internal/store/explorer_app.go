package store

import (
	"cmp"
	"context"
	"slices"
	"time"

	"formulary/internal/account"
	"formulary/internal/id"
)

// explorerName is shown on the consent page.
const explorerName = "API reference"

// EnsureExplorerApp registers the application of the API explorer, unless it exists.
// The explorer needs its client_id for the OAuth flow.
func (s *Store) EnsureExplorerApp(ctx context.Context, callback string, now time.Time) (_ string, err error) {
	defer wrap(&err, "ensure explorer application")
	apps, err := s.Apps(ctx, NoOwner)
	if err != nil {
		return "", err
	}
	if len(apps) > 0 {
		app := apps[0]
		if app.Name == explorerName && slices.Equal(app.RedirectURIs, []string{callback}) && len(app.Scopes) == len(account.DefaultScopes()) {
			return app.ID, nil
		}
		app.Name, app.RedirectURIs, app.Scopes = explorerName, []string{callback}, account.DefaultScopes()
		return app.ID, s.UpdateApp(ctx, app)
	}
	app := account.Application{
		Account: NoOwner, ID: id.New(id.App, now), Name: explorerName, Public: true,
		RedirectURIs: []string{callback}, Scopes: account.DefaultScopes(), CreatedAt: now,
	}
	// Nodes that start at the same time register it once.
	earlier, err := s.AddApp(ctx, app, "", IdempotencyKey{App: "explorer", Key: "explorer"})
	return cmp.Or(earlier, app.ID), err
}

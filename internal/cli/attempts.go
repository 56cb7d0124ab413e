package cli

import (
	"context"
	"net/netip"
	"time"

	"formulary/internal/api"
	"formulary/internal/limit"
	"formulary/internal/store"
)

// attemptLimits are the limits on wrong passwords and client secrets. Nodes count together,
// and what was counted survives a restart.
type attemptLimits struct {
	address *limit.Limiter[netip.Addr]
	account *limit.Limiter[string]
	client  *limit.Limiter[api.ClientAttempt]
}

// newAttemptLimits makes the limits with what the database knows of earlier guesses.
func newAttemptLimits(ctx context.Context, s *store.Store, shared *limit.Cluster, now func() time.Time) (attemptLimits, error) {
	const address, account, client = "address guess", "account guess", "client guess"
	g := attemptLimits{
		limit.New[netip.Addr](attemptsPerAddress, attemptWindow, now).Join(shared, address).Persist(address, s.SaveAttempts),
		limit.New[string](attemptsPerAccount, attemptWindow, now).Join(shared, account).Persist(account, s.SaveAttempts),
		limit.New[api.ClientAttempt](attemptsPerClient, attemptWindow, now).Join(shared, client).Persist(client, s.SaveAttempts),
	}
	restore := map[string]func(string, time.Time) error{address: g.address.Restore, account: g.account.Restore, client: g.client.Restore}
	list, err := s.Attempts(ctx, now())
	if err != nil {
		return g, err
	}
	for _, known := range list {
		// A newer version may have kept what this one does not know.
		if set := restore[known.Limiter]; set != nil {
			if err := set(known.Key, known.Until); err != nil {
				return g, err
			}
		}
	}
	return g, nil
}

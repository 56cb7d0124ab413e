package cli

import (
	"context"
	"net/netip"
	"time"

	"formulary/internal/api"
	"formulary/internal/limit"
	"formulary/internal/store"
)

// guesses are the limits on wrong passwords and client secrets. Nodes count together,
// and what was counted survives a restart.
type guesses struct {
	address *limit.Limiter[netip.Addr]
	account *limit.Limiter[string]
	client  *limit.Limiter[api.Guess]
}

// newGuesses makes the limits with what the database knows of earlier guesses.
func newGuesses(ctx context.Context, s *store.Store, shared *limit.Shared, now func() time.Time) (guesses, error) {
	const address, account, client = "address guess", "account guess", "client guess"
	g := guesses{
		limit.New[netip.Addr](guessPerAddress, guessWindow, now).Share(shared, address).Persist(address, s.KeepGuess),
		limit.New[string](guessPerAccount, guessWindow, now).Share(shared, account).Persist(account, s.KeepGuess),
		limit.New[api.Guess](guessPerClient, guessWindow, now).Share(shared, client).Persist(client, s.KeepGuess),
	}
	restore := map[string]func(string, time.Time) error{address: g.address.Restore, account: g.account.Restore, client: g.client.Restore}
	list, err := s.Guesses(ctx, now())
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

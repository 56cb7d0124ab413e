package cli

import (
	"context"
	"net/netip"
	"time"

	"formulary/internal/api"
	"formulary/internal/limit"
	"formulary/internal/store"
)

// attemptLimits limit attempts with wrong passwords and client secrets. All nodes share
// the counts, which survive a restart.
type attemptLimits struct {
	address *limit.Limiter[netip.Addr]
	account *limit.Limiter[string]
	client  *limit.Limiter[api.ClientAttempt]
}

// mailLimits limit the mails that strangers can cause. All nodes share the counts.
type mailLimits struct {
	network   *limit.Limiter[netip.Addr]
	recipient *limit.Limiter[string]
	inviter   *limit.Limiter[string]
}

func newMailLimits(cluster *limit.Cluster, now func() time.Time) mailLimits {
	return mailLimits{
		limit.New[netip.Addr](mailsPerNetwork, attemptWindow, now).Join(cluster, "mail network"),
		limit.New[string](mailsPerRecipient, time.Hour, now).Join(cluster, "mail recipient"),
		limit.New[string](invitationsPerPerson, 24*time.Hour, now).Join(cluster, "inviter"),
	}
}

// newAttemptLimits restores the counts that the database has.
func newAttemptLimits(ctx context.Context, s *store.Store, cluster *limit.Cluster, now func() time.Time) (attemptLimits, error) {
	const address, account, client = "address guess", "account guess", "client guess"
	limits := attemptLimits{
		limit.New[netip.Addr](attemptsPerAddress, attemptWindow, now).Join(cluster, address).Persist(address, s.SaveAttempt),
		limit.New[string](attemptsPerAccount, attemptWindow, now).Join(cluster, account).Persist(account, s.SaveAttempt),
		limit.New[api.ClientAttempt](attemptsPerClient, attemptWindow, now).Join(cluster, client).Persist(client, s.SaveAttempt),
	}
	restore := map[string]func(string, time.Time) error{address: limits.address.Restore, account: limits.account.Restore, client: limits.client.Restore}
	list, err := s.Attempts(ctx, now())
	if err != nil {
		return limits, err
	}
	for _, saved := range list {
		// A newer version may have saved limits that this one does not have.
		if set := restore[saved.Limiter]; set != nil {
			if err := set(saved.Key, saved.Until); err != nil {
				return limits, err
			}
		}
	}
	return limits, nil
}

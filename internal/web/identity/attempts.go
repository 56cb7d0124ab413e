package identity

import (
	"context"
	"net/netip"
	"strings"

	"formulary/internal/account"
	"formulary/internal/fault"
	"formulary/internal/limit"
	"formulary/internal/web/page"
)

// attempt is one attempt at a password. It counts before the password is checked, so that
// concurrent attempts count too.
type attempt struct {
	pages   *Pages
	target  string     // attempts that count together: of strangers at an account, of a device, of a session
	address netip.Addr // not valid: the address does not count
}

// attemptSignIn counts an attempt at the password of an account. Strangers share the
// limits of the account and of their address. A device in which the user has signed in
// before has a limit of its own, so that strangers cannot lock the user out.
func (pages *Pages) attemptSignIn(req *page.Request, email, userID string) (attempt, error) {
	if userID != "" {
		_, key, known, err := pages.knownDevice(req, userID)
		if err != nil {
			return attempt{}, err
		}
		if known {
			return pages.newAttempt("device/"+key.Account+"/"+key.ID, netip.Addr{})
		}
	}
	key := account.EmailKey(strings.ToValidUTF8(strings.TrimSpace(email), ""))
	return pages.newAttempt(key, limit.ClientNetwork(pages.Address(req.Request)))
}

func (pages *Pages) newAttempt(target string, address netip.Addr) (attempt, error) {
	try := attempt{pages, account.Hash(target), address} // the hash bounds the size
	if address.IsValid() {
		if _, wait, ok := pages.AddressAttempts.Allow(address); !ok {
			return try, fault.TooManyRequests(limit.RetryAfterSeconds(wait))
		}
	}
	if _, wait, ok := pages.AccountAttempts.Allow(try.target); !ok {
		return try, fault.TooManyRequests(limit.RetryAfterSeconds(wait))
	}
	return try, nil
}

// succeed no longer counts the attempt.
func (a attempt) succeed() {
	a.pages.AccountAttempts.Refund(a.target)
	if a.address.IsValid() {
		a.pages.AddressAttempts.Refund(a.address)
	}
}

// fail stores the attempt, so that it counts after a restart. Call it before answering.
func (a attempt) fail(ctx context.Context) error {
	if err := a.pages.AccountAttempts.Record(ctx, a.target); err != nil || !a.address.IsValid() {
		return err
	}
	return a.pages.AddressAttempts.Record(ctx, a.address)
}

// confirmPassword checks the password of the user before a request that must not happen
// at an unattended screen. Each session has a limit of its own.
func (pages *Pages) confirmPassword(req *page.Request, password string) (bool, error) {
	try, err := pages.newAttempt("session/"+req.User.ID+"/"+req.Session.ID, netip.Addr{})
	if err != nil {
		return false, err
	}
	correct, err := pages.Hasher.Verify(req.Context(), req.User.Password, password)
	if err != nil {
		return false, err
	}
	if !correct {
		return false, try.fail(req.Context())
	}
	try.succeed()
	return true, nil
}

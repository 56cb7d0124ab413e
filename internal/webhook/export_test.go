package webhook

import (
	"context"
	"net/netip"
)

// WithResolver replaces the lookup of names in Check, but not that of connections.
func (a Allowed) WithResolver(addresses ...string) Allowed {
	a.resolve = func(context.Context, string) ([]netip.Addr, error) {
		var list []netip.Addr
		for _, text := range addresses {
			list = append(list, netip.MustParseAddr(text))
		}
		return list, nil
	}
	return a
}

// ErrForbidden is the error of a connection to an address that is not allowed.
var ErrForbidden = errForbidden

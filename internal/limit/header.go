package limit

import (
	"net/netip"
	"strconv"
	"time"
)

// SetHeader writes the RateLimit fields of the IETF draft: the policy, what Allow says is
// left of it, and the seconds until there is more.
func (l *Limiter[K]) SetHeader(h map[string][]string, policy string, left int, wait time.Duration) {
	reset := 0
	if wait > 0 {
		reset = RetryAfterSeconds(wait)
	}
	h["Ratelimit-Policy"] = []string{`"` + policy + `";q=` + strconv.Itoa(l.quota) + `;w=` + strconv.Itoa(int(l.window/time.Second))}
	h["Ratelimit"] = []string{`"` + policy + `";r=` + strconv.Itoa(left) + `;t=` + strconv.Itoa(reset)}
}

// ClientNetwork is what counts as one address: an IPv4 address, or the /64 that is
// handed to one IPv6 customer.
func ClientNetwork(addr netip.Addr) netip.Addr {
	if addr.Is6() {
		if prefix, err := addr.Prefix(64); err == nil {
			return prefix.Addr()
		}
	}
	return addr
}

package limit

import (
	"net/netip"
	"strconv"
	"time"
)

// SetHeader sets the RateLimit and RateLimit-Policy headers of the IETF draft: the quota
// and its window, and what Allow has returned, the events remaining and the time to wait.
func (l *Limiter[K]) SetHeader(h map[string][]string, policy string, remaining int, wait time.Duration) {
	reset := 0
	if wait > 0 {
		reset = RetryAfterSeconds(wait)
	}
	h["Ratelimit-Policy"] = []string{`"` + policy + `";q=` + strconv.Itoa(l.quota) + `;w=` + strconv.Itoa(int(l.window/time.Second))}
	h["Ratelimit"] = []string{`"` + policy + `";r=` + strconv.Itoa(remaining) + `;t=` + strconv.Itoa(reset)}
}

// ClientNetwork returns the key under which to count a client: the address itself for
// IPv4, its /64 for IPv6. Providers assign a whole /64 to one customer.
func ClientNetwork(addr netip.Addr) netip.Addr {
	if addr.Is6() {
		if prefix, err := addr.Prefix(64); err == nil {
			return prefix.Addr()
		}
	}
	return addr
}

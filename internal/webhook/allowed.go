package webhook

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"

	"code.dny.dev/ssrf"

	"formulary/internal/fault"
)

// Allowed is where requests may go beside public addresses. Only there may they go without
// TLS.
type Allowed struct {
	networks []netip.Prefix
	hosts    []string // in lower case
	resolve  func(ctx context.Context, host string) ([]netip.Addr, error)
	guard    *ssrf.Guardian
}

// ParseAllowed reads a list of networks, addresses and hosts.
func ParseAllowed(list []string) (Allowed, error) {
	a := Allowed{resolve: func(ctx context.Context, host string) ([]netip.Addr, error) {
		return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	}}
	var v4, v6 []netip.Prefix
	for _, entry := range list {
		entry = strings.ToLower(strings.TrimSpace(entry))
		network, err := parseNetwork(entry)
		switch {
		case entry == "":
			continue
		case err == nil && network.Addr().Is4():
			v4 = append(v4, network)
		case err == nil:
			v6 = append(v6, network)
		case strings.ContainsAny(entry, "/:@ ") || endsInNumber(entry):
			return a, fmt.Errorf("%q is not a network, an address or a host name", entry)
		default:
			a.hosts = append(a.hosts, strings.TrimSuffix(entry, "."))
		}
	}
	a.networks = slices.Concat(v4, v6)
	a.guard = ssrf.New(ssrf.WithAnyPort(), ssrf.WithAllowedV4Prefixes(v4...), ssrf.WithAllowedV6Prefixes(v6...))
	return a, nil
}

func parseNetwork(text string) (netip.Prefix, error) {
	if network, err := netip.ParsePrefix(text); err == nil {
		return network.Masked(), nil
	}
	address, err := netip.ParseAddr(text)
	if err != nil || address.Zone() != "" {
		return netip.Prefix{}, errors.New("not an address")
	}
	address = address.Unmap()
	return netip.PrefixFrom(address, address.BitLen()), nil
}

// errForbidden is the error of a connection to an address that is not allowed.
var errForbidden = errors.New("address not allowed")

// address says whether a connection to an address is allowed.
func (a Allowed) address(ip netip.Addr, secure bool) error {
	ip = ip.Unmap()
	if ip.Zone() != "" {
		return errForbidden
	}
	if slices.ContainsFunc(a.networks, func(n netip.Prefix) bool { return n.Contains(ip) }) {
		return nil
	}
	if !secure {
		return fmt.Errorf("%w: http: is for addresses that the administrator allows", errForbidden)
	}
	if err := a.guard.SafeAddr(ip); err != nil {
		return fmt.Errorf("%w: %w", errForbidden, err)
	}
	return nil
}

func (a Allowed) host(name string) bool {
	return slices.Contains(a.hosts, strings.TrimSuffix(strings.ToLower(name), "."))
}

// dialer connects to allowed addresses. It checks the address that the name was resolved to
// for this very connection.
func (a Allowed) dialer(secure bool) func(ctx context.Context, network, address string) (net.Conn, error) {
	free := &net.Dialer{}
	guarded := &net.Dialer{ControlContext: func(_ context.Context, network, address string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(address)
		if err != nil || network != "tcp4" && network != "tcp6" {
			return errForbidden
		}
		return a.address(at.Addr(), secure)
	}}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			return nil, err
		}
		if a.host(host) {
			return free.DialContext(ctx, network, address)
		}
		return guarded.DialContext(ctx, network, address)
	}
}

const (
	maxURL       = 2000
	checkTimeout = 3 * time.Second
)

// Check says whether requests may go to a URL, as a 422001 that names url. A name that cannot
// be resolved now may be later; what it is resolved to is checked again at every connection.
func (a Allowed) Check(ctx context.Context, text string) error {
	u, err := url.Parse(text)
	switch {
	case len(text) > maxURL:
		return fault.InvalidField("url", "is too long; the limit is %d characters", maxURL)
	case err != nil, u.Scheme != "https" && u.Scheme != "http", u.Hostname() == "", u.Opaque != "", !isPort(u.Port()):
		return fault.InvalidField("url", "enter a web address, such as https://example.com/hook")
	case u.User != nil:
		return fault.InvalidField("url", "must not contain a user name or password")
	case u.Fragment != "" || strings.HasSuffix(text, "#"):
		return fault.InvalidField("url", "must not contain a fragment (#)")
	}
	host, secure := u.Hostname(), u.Scheme == "https"
	if a.host(host) {
		return nil
	}
	forbidden := fault.InvalidField("url", "this address is not allowed; use a public one")
	plain := fault.InvalidField("url", "must start with https:")
	ip, err := netip.ParseAddr(host)
	if err != nil {
		if !isHostName(host) {
			return fault.InvalidField("url", "enter a web address, such as https://example.com/hook")
		}
		return a.checkName(ctx, host, secure, forbidden, plain)
	}
	if a.address(ip, secure) == nil {
		return nil
	}
	if !secure && a.address(ip, true) == nil {
		return plain
	}
	return forbidden
}

// checkName resolves a name. One allowed address is enough: connections try them all.
func (a Allowed) checkName(ctx context.Context, host string, secure bool, forbidden, plain error) error {
	if !secure && len(a.networks) == 0 {
		return plain
	}
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	list, err := a.resolve(ctx, host)
	if err != nil || len(list) == 0 {
		if secure {
			return nil
		}
		return plain
	}
	for _, ip := range list {
		if a.address(ip, secure) == nil {
			return nil
		}
	}
	if !secure {
		return plain
	}
	return forbidden
}

func isPort(text string) bool {
	if text == "" {
		return true
	}
	port, err := netip.ParseAddrPort("[::]:" + text)
	return err == nil && port.Port() != 0
}

// isHostName says whether a name can be a host. What ends in a number would be an IPv4
// address in one of the spellings that resolvers read differently.
func isHostName(host string) bool {
	for _, r := range host {
		if !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '.' || r == '_') {
			return false
		}
	}
	return len(host) <= 253 && !endsInNumber(host) && !strings.Contains(host, "..") && !strings.HasPrefix(host, ".")
}

func endsInNumber(host string) bool {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	label := host[strings.LastIndexByte(host, '.')+1:]
	if hex, ok := strings.CutPrefix(label, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return strings.Trim(label, "0123456789") == ""
}

package server

import (
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// ClientIPs determines the client address of requests. For a request from a trusted
// proxy, that is the last address in X-Forwarded-For that is not a trusted proxy itself.
// Clients can forge all entries before that one, so they are ignored.
type ClientIPs struct {
	trusted []netip.Prefix
}

// ParseTrustedProxies parses IP addresses and networks, such as 10.0.0.0/8. It skips
// empty entries.
func ParseTrustedProxies(list []string) (ClientIPs, error) {
	var a ClientIPs
	for _, text := range list {
		text = strings.TrimSpace(text)
		if text == "" {
			continue
		}
		prefix, err := netip.ParsePrefix(text)
		if err != nil {
			addr, err := netip.ParseAddr(text)
			if err != nil {
				return a, fmt.Errorf("%q is not an IP address or network", text)
			}
			prefix = netip.PrefixFrom(addr, addr.BitLen())
		}
		a.trusted = append(a.trusted, prefix.Masked())
	}
	return a, nil
}

// ClientIP returns the address that a request comes from.
func (a ClientIPs) ClientIP(r *http.Request) netip.Addr {
	port, err := netip.ParseAddrPort(r.RemoteAddr)
	addr := port.Addr().Unmap()
	if err != nil || len(a.trusted) == 0 || !a.IsTrusted(addr) {
		return addr
	}
	for _, list := range slices.Backward(r.Header.Values("X-Forwarded-For")) {
		for comma := len(list); comma >= 0; {
			list = list[:comma]
			comma = strings.LastIndexByte(list, ',')
			hop, err := netip.ParseAddr(strings.TrimSpace(list[comma+1:]))
			if err != nil {
				return addr
			}
			addr = hop.Unmap()
			if !a.IsTrusted(addr) {
				return addr
			}
		}
	}
	return addr
}

// IsTrusted reports whether addr belongs to a trusted proxy.
func (a ClientIPs) IsTrusted(addr netip.Addr) bool {
	for _, prefix := range a.trusted {
		if prefix.Contains(addr) {
			return true
		}
	}
	return false
}

package form

import (
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"
)

// hostPattern matches a host name as used in headers: labels of ASCII letters, digits
// and hyphens. Other scripts use punycode (xn--).
var hostPattern = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

// SiteOf returns the scheme, host and port of a URL, as browsers send them in Origin.
// It returns false for anything that could have another meaning in a header such as
// Content-Security-Policy, where spaces separate sites and semicolons separate
// directives.
func SiteOf(address string) (string, bool) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.User != nil || u.Opaque != "" {
		return "", false
	}
	host := strings.ToLower(u.Host)
	name, port := host, ""
	if at := strings.LastIndexByte(host, ':'); at >= 0 && !strings.HasSuffix(host, "]") {
		name, port = host[:at], host[at+1:]
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 || strconv.FormatUint(n, 10) != port {
			return "", false
		}
	}
	if !isHost(name) {
		return "", false
	}
	return u.Scheme + "://" + host, true
}

// isHost reports whether a text is a host name or an IP address.
func isHost(name string) bool {
	if literal, ok := strings.CutPrefix(name, "["); ok {
		literal, ok = strings.CutSuffix(literal, "]")
		addr, err := netip.ParseAddr(literal)
		return ok && err == nil && addr.Is6() && addr.Zone() == ""
	}
	return len(name) <= 253 && hostPattern.MatchString(name)
}

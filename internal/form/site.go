package form

import (
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"
)

// hostPattern is the name of a host as headers take it: ASCII letters, digits and
// hyphens with dots between. Names in other scripts have such a spelling too (xn--).
var hostPattern = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

// SiteOf is the scheme, host and port of a web address, as browsers write them in
// Origin. It returns false for anything that could mean something else in a header
// such as Content-Security-Policy, where sites are separated by spaces and
// directives by semicolons.
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

// isHost says whether a text is the name of a host, or an address in its place.
func isHost(name string) bool {
	if literal, ok := strings.CutPrefix(name, "["); ok {
		literal, ok = strings.CutSuffix(literal, "]")
		addr, err := netip.ParseAddr(literal)
		return ok && err == nil && addr.Is6() && addr.Zone() == ""
	}
	return len(name) <= 253 && hostPattern.MatchString(name)
}

package account

import (
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"formulary/internal/fault"
)

// Limits of an application's registration.
const (
	MaxRedirectURIs   = 20
	MaxRedirectLength = 2000
)

// CheckRedirectURI says why a URI may not be registered, or nil. Private-use
// schemes (RFC 8252) are for public applications only and need a dot, so that
// no scheme with a meaning in browsers can be registered.
func CheckRedirectURI(uri string, public bool) error {
	if uri == "" {
		return fault.Messagef("a redirect URI is needed")
	}
	if len(uri) > MaxRedirectLength {
		return fault.Messagef("a redirect URI has at most %d characters", MaxRedirectLength)
	}
	for _, r := range uri {
		if r <= ' ' || r >= 0x7f || strings.ContainsRune(`\<>"^`+"`{|}", r) {
			return fault.Messagef("a redirect URI is plain ASCII; encode everything else with %")
		}
	}
	if strings.Contains(uri, "*") {
		return fault.Messagef("a redirect URI has no wildcard: it is matched byte for byte")
	}
	u, err := url.Parse(uri)
	if err != nil || !u.IsAbs() {
		return fault.Messagef("a redirect URI is absolute, such as https://example.com/callback")
	}
	if strings.Contains(uri, "#") {
		return fault.Messagef("a redirect URI has no fragment after a #")
	}
	if u.User != nil {
		return fault.Messagef("a redirect URI has no user name or password")
	}
	if strings.Trim(strings.ToLower(u.Host), "abcdefghijklmnopqrstuvwxyz0123456789.-:[]") != "" {
		return fault.Messagef("the host of a redirect URI has letters, digits, dots and hyphens")
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return fault.Messagef("the query of the redirect URI is malformed")
	}
	for _, name := range []string{"code", "state", "error", "error_description", "iss"} {
		if query.Has(name) {
			return fault.Messagef("the query of the redirect URI may not have %q: we add it ourselves", name)
		}
	}
	switch {
	case u.Scheme == "https":
		if u.Hostname() == "" {
			return fault.Messagef("the redirect URI names no host")
		}
	case u.Scheme == "http":
		if host := u.Hostname(); host != "localhost" && !isLoopback(host) {
			return fault.Messagef("http is only for this machine (127.0.0.1, [::1], localhost); use https")
		}
	case strings.Contains(u.Scheme, "."):
		if !public {
			return fault.Messagef("a scheme of one's own is for public (native) applications only")
		}
		if u.Opaque != "" || u.Host != "" && u.Path == "" {
			return fault.Messagef("a scheme of one's own is followed by a path, such as com.example.app:/callback")
		}
	default:
		return fault.Messagef("the scheme %s is not allowed; use https", u.Scheme)
	}
	return nil
}

func isLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.IsLoopback()
}

// RedirectMatches says whether a presented URI is one of the registered: byte for
// byte, except that a public application's loopback IP literal may differ in
// its port (RFC 8252 §7.3).
func RedirectMatches(registered []string, uri string, public bool) bool {
	if slices.Contains(registered, uri) {
		return true
	}
	if !public {
		return false
	}
	bare, ok := withoutLoopbackPort(uri)
	return ok && slices.ContainsFunc(registered, func(r string) bool {
		b, ok := withoutLoopbackPort(r)
		return ok && b == bare
	})
}

// withoutLoopbackPort cuts the port out of http://127.0.0.1:port/… by text, so
// that all other bytes still have to be equal.
func withoutLoopbackPort(uri string) (string, bool) {
	rest, ok := strings.CutPrefix(uri, "http://")
	if !ok {
		return "", false
	}
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	authority, tail := rest[:end], rest[end:]
	host := authority
	if h, port, err := net.SplitHostPort(authority); err == nil {
		if port == "" || len(port) > 5 || strings.Trim(port, "0123456789") != "" {
			return "", false
		}
		host = h
		if strings.Contains(h, ":") {
			host = "[" + h + "]"
		}
	}
	if host != "127.0.0.1" && host != "[::1]" {
		return "", false
	}
	return "http://" + host + tail, true
}

// RedirectHost is what the consent page shows as the place that the person is
// sent to.
func RedirectHost(uri string) string {
	u, err := url.Parse(uri)
	if err != nil {
		return uri
	}
	if u.Host != "" {
		return u.Host
	}
	return u.Scheme + ":"
}

// RedirectSource is the source expression that lets a page's form end there
// (Content-Security-Policy, form-action).
func RedirectSource(uri string) string {
	u, err := url.Parse(uri)
	if err != nil {
		return ""
	}
	if u.Scheme == "http" || u.Scheme == "https" {
		return u.Scheme + "://" + u.Host
	}
	return u.Scheme + ":"
}

// AddQuery appends parameters to a redirect URI and leaves its own bytes as
// they are.
func AddQuery(uri string, params url.Values, order ...string) string {
	var b strings.Builder
	b.WriteString(uri)
	sep := byte('?')
	if strings.Contains(uri, "?") {
		sep = '&'
	}
	for _, name := range order {
		if !params.Has(name) {
			continue
		}
		b.WriteByte(sep)
		b.WriteString(name)
		b.WriteByte('=')
		b.WriteString(url.QueryEscape(params.Get(name)))
		sep = '&'
	}
	return b.String()
}

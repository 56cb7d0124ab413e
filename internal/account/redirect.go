package account

import (
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"formulary/internal/fault"
)

// Limits of the redirect URIs of an application.
const (
	MaxRedirectURIs   = 20
	MaxRedirectLength = 2000
)

// CheckRedirectURI returns an error if a URI may not be registered. Only public
// applications may use private-use schemes (RFC 8252). Such a scheme must contain a dot,
// which excludes schemes that browsers interpret, such as javascript.
func CheckRedirectURI(uri string, public bool) error {
	if uri == "" {
		return fault.Messagef("enter a redirect URI")
	}
	if len(uri) > MaxRedirectLength {
		return fault.Messagef("a redirect URI can have up to %d characters", MaxRedirectLength)
	}
	for _, r := range uri {
		if r <= ' ' || r >= 0x7f || strings.ContainsRune(`\<>"^`+"`{|}", r) {
			return fault.Messagef("use only ASCII characters in a redirect URI; percent-encode the rest")
		}
	}
	if strings.Contains(uri, "*") {
		return fault.Messagef("redirect URIs are matched exactly; remove the wildcard")
	}
	u, err := url.Parse(uri)
	if err != nil || !u.IsAbs() {
		return fault.Messagef("enter an absolute redirect URI, such as https://example.com/callback")
	}
	if strings.Contains(uri, "#") {
		return fault.Messagef("remove the fragment (#…) from the redirect URI")
	}
	if u.User != nil {
		return fault.Messagef("remove the user name and password from the redirect URI")
	}
	if strings.Trim(strings.ToLower(u.Host), "abcdefghijklmnopqrstuvwxyz0123456789.-:[]") != "" {
		return fault.Messagef("the host of a redirect URI can only contain letters, numbers, dots and hyphens")
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return fault.Messagef("the query string of the redirect URI is malformed")
	}
	for _, name := range []string{"code", "state", "error", "error_description", "iss"} {
		if query.Has(name) {
			return fault.Messagef("remove %q from the query string of the redirect URI; Formulary adds it", name)
		}
	}
	switch {
	case u.Scheme == "https":
		if u.Hostname() == "" {
			return fault.Messagef("the redirect URI has no host")
		}
	case u.Scheme == "http":
		if host := u.Hostname(); host != "localhost" && !isLoopback(host) {
			return fault.Messagef("use https; http is only allowed for 127.0.0.1, [::1] and localhost")
		}
	case strings.Contains(u.Scheme, "."):
		if !public {
			return fault.Messagef("custom schemes are only allowed for public applications")
		}
		if u.Opaque != "" || u.Host != "" && u.Path == "" {
			return fault.Messagef("add a path after the custom scheme, such as com.example.app:/callback")
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

// RedirectMatches reports whether uri is registered. URIs must be equal byte for byte, with
// one exception: for a public application, the port of a loopback IP address may differ
// (RFC 8252 §7.3).
func RedirectMatches(registered []string, uri string, public bool) bool {
	if slices.Contains(registered, uri) {
		return true
	}
	if !public {
		return false
	}
	withoutPort, ok := withoutLoopbackPort(uri)
	return ok && slices.ContainsFunc(registered, func(r string) bool {
		b, ok := withoutLoopbackPort(r)
		return ok && b == withoutPort
	})
}

// withoutLoopbackPort removes the port from http://127.0.0.1:port/…. It works on the text
// and not on a parsed URL, so that all other bytes stay the same.
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

// RedirectHost returns the host of a redirect URI, or its scheme if there is no host. The
// consent page shows it.
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

// RedirectSource returns the Content-Security-Policy source expression for a redirect URI.
// The consent page needs it in form-action.
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

// AddQuery appends parameters to a redirect URI, in the given order, and leaves the other
// bytes unchanged.
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

package web

import (
	"errors"
	"fmt"
	"net/mail"
	"net/url"
	"strings"
	"time"

	"formulary/internal/fault"
)

// SecurityTxt is where researchers look for how to report a vulnerability
// (RFC 9116).
const SecurityTxt = "/.well-known/security.txt"

// SecurityContact is what security.txt says. Without a contact there is no file.
type SecurityContact struct {
	Contact string // a mailto: or https: URL
	Policy  string // an https: URL, or empty
}

// Check returns an error unless both URLs may stand in security.txt.
func (s SecurityContact) Check() error {
	if s.Contact == "" && s.Policy != "" {
		return errors.New("a security policy needs a security contact; set FORMULARY_SECURITY_CONTACT")
	}
	if s.Contact != "" && !isMailto(s.Contact) && !isHTTPS(s.Contact) {
		return fmt.Errorf("the security contact %q is not valid; use one such as mailto:security@example.com or https://example.com/report", s.Contact)
	}
	if s.Policy != "" && !isHTTPS(s.Policy) {
		return fmt.Errorf("the security policy %q is not valid; use one such as https://example.com/policy", s.Policy)
	}
	return nil
}

func isMailto(text string) bool {
	u, err := url.Parse(text)
	if err != nil || !isPlainURL(text) || u.Scheme != "mailto" || u.Fragment != "" {
		return false
	}
	address, err := mail.ParseAddress(u.Opaque)
	return err == nil && address.Address == u.Opaque
}

func isHTTPS(text string) bool {
	u, err := url.Parse(text)
	return err == nil && isPlainURL(text) && u.Scheme == "https" && u.Hostname() != "" && u.User == nil
}

// isPlainURL refuses what a URL has only in escaped form; a line break would add
// a field to the file.
func isPlainURL(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' })
}

// securityTxtLife is how far ahead the file expires. RFC 9116 recommends less
// than a year, so that no old copy stays in use.
const securityTxtLife = 180 * 24 * time.Hour

func (web *Handler) securityTxt(v *pageRequest) error {
	if web.Security.Contact == "" {
		return fault.New(fault.UnknownPath, "We can’t find this page. Check the address, or go back to your forms.")
	}
	var text strings.Builder
	fmt.Fprintf(&text, "Contact: %s\n", web.Security.Contact)
	fmt.Fprintf(&text, "Expires: %s\n", web.Now().UTC().Truncate(24*time.Hour).Add(securityTxtLife).Format(time.RFC3339))
	// The RFC takes https: alone here.
	if web.Secure {
		fmt.Fprintf(&text, "Canonical: %s\n", web.BaseURL+SecurityTxt)
	}
	if web.Security.Policy != "" {
		fmt.Fprintf(&text, "Policy: %s\n", web.Security.Policy)
	}
	text.WriteString("Preferred-Languages: en\n")
	h := v.w.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("Cache-Control", "max-age=3600")
	_, err := v.w.Write([]byte(text.String()))
	return err
}

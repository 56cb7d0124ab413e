package web

import (
	"errors"
	"fmt"
	"net/mail"
	"net/url"
	"strings"
	"time"

	"formulary/internal/fault"
	"formulary/internal/web/page"
)

// SecurityTxt is the path of the file that tells researchers how to report a
// vulnerability (RFC 9116).
const SecurityTxt = "/.well-known/security.txt"

// SecurityContact is the content of security.txt. Without a contact there is no file.
type SecurityContact struct {
	Contact string // a mailto: or https: URL
	Policy  string // an https: URL, or empty
}

// Check returns an error unless both URLs are valid in security.txt.
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

// isPlainURL rejects characters that a URL must escape; a line break would add a field to
// the file.
func isPlainURL(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' })
}

// securityTxtLife is how long the file is valid. RFC 9116 recommends less than a year, so
// that old copies are not used.
const securityTxtLife = 180 * 24 * time.Hour

// securityTxt serves security.txt.
type securityTxt struct {
	contact SecurityContact
	baseURL string
	secure  bool
	now     func() time.Time
}

func (s securityTxt) serve(req *page.Request) error {
	if s.contact.Contact == "" {
		return fault.New(fault.UnknownPath, "We can’t find this page. Check the address, or go back to your forms.")
	}
	var text strings.Builder
	fmt.Fprintf(&text, "Contact: %s\n", s.contact.Contact)
	fmt.Fprintf(&text, "Expires: %s\n", s.now().UTC().Truncate(24*time.Hour).Add(securityTxtLife).Format(time.RFC3339))
	// The RFC requires https: here.
	if s.secure {
		fmt.Fprintf(&text, "Canonical: %s\n", s.baseURL+SecurityTxt)
	}
	if s.contact.Policy != "" {
		fmt.Fprintf(&text, "Policy: %s\n", s.contact.Policy)
	}
	text.WriteString("Preferred-Languages: en\n")
	header := req.W.Header()
	header.Set("Content-Type", "text/plain; charset=utf-8")
	header.Set("Cache-Control", "max-age=3600")
	_, err := req.W.Write([]byte(text.String()))
	return err
}

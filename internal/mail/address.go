package mail

import (
	"errors"
	"fmt"
	netmail "net/mail"
	"strings"
	"unicode"

	"golang.org/x/net/idna"
)

var errSender = errors.New("use an address such as forms@example.com or Forms <forms@example.com>")

// ParseSender reads the address that mails are from, with or without a name.
func ParseSender(text string) (netmail.Address, error) {
	a, err := netmail.ParseAddress(text)
	if err != nil || !isSingleLine(a.Name) {
		return netmail.Address{}, errSender
	}
	if err := encodeDomain(a); err != nil || !isASCII(a.Address) {
		return netmail.Address{}, errSender
	}
	return *a, nil
}

// parseAddress reads a recipient: one address without a name. The result has its domain as the DNS
// spells it; only the part before the @ can have letters that are not ASCII.
func parseAddress(text string) (*netmail.Address, error) {
	a, err := netmail.ParseAddress(text)
	if err != nil || a.Name != "" || a.Address != text {
		return nil, fmt.Errorf("%q is not an email address", text)
	}
	return a, encodeDomain(a)
}

// encodeDomain spells the domain of an address as the DNS does, in ASCII (IDNA).
func encodeDomain(a *netmail.Address) error {
	if isASCII(a.Address) {
		return nil
	}
	at := strings.LastIndexByte(a.Address, '@')
	domain, err := idna.Lookup.ToASCII(a.Address[at+1:])
	if err != nil {
		return fmt.Errorf("%q is not a domain that can exist", a.Address[at+1:])
	}
	a.Address = a.Address[:at+1] + domain
	return nil
}

func isASCII(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r > unicode.MaxASCII })
}

func isSingleLine(text string) bool { return !strings.ContainsFunc(text, unicode.IsControl) }

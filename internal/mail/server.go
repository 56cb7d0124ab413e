// Package mail writes mails and sends them to an SMTP server. Each kind of mail is a type, which
// says in the reader's language what the mail is about; text and HTML follow from that.
//
// Addresses are parsed and subjects are cleaned before they get into a header, so no answer of
// a respondent can add headers or recipients.
package mail

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
)

// Security is how a connection to a server is encrypted. Certificates are always verified.
type Security int

// The ways to encrypt a connection.
const (
	StartTLS Security = iota // after connecting; a server that does not offer it is not used
	ImplicitTLS
	NoTLS
)

// Server is an SMTP server.
type Server struct {
	Host           string
	Port           int
	User, Password string // empty: without authentication
	Security       Security
	RootCAs        *x509.CertPool // nil: those of the system
}

var errServerURL = errors.New("use a URL such as smtp://user:password@mail.example.com:587 or smtps://user:password@mail.example.com")

// ParseServer reads the URL of a server. The URL contains a password, so errors do not repeat
// it.
func ParseServer(text string) (Server, error) {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || strings.Trim(u.Path, "/") != "" || u.Fragment != "" {
		return Server{}, errServerURL
	}
	s := Server{Host: u.Hostname()}
	switch u.Scheme {
	case "smtp":
		s.Port = 587
	case "smtps":
		s.Port, s.Security = 465, ImplicitTLS
	default:
		return Server{}, errServerURL
	}
	if port := u.Port(); port != "" {
		if s.Port, err = strconv.Atoi(port); err != nil || s.Port < 1 || s.Port > 65535 {
			return Server{}, errServerURL
		}
	}
	s.User = u.User.Username()
	s.Password, _ = u.User.Password()
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return Server{}, errServerURL
	}
	for name, values := range query {
		if name != "tls" || len(values) != 1 || values[0] != "none" || s.Security == ImplicitTLS {
			return Server{}, fmt.Errorf("the only option of the SMTP URL is tls=none, with smtp:")
		}
		s.Security = NoTLS
	}
	return s, nil
}

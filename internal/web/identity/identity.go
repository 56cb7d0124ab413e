// Package identity is where people prove who they are and decide who may act for them:
// sign-in, accounts, consent, and the applications of developers. What it shows belongs
// to the user who acts, not to the owner of forms.
package identity

import (
	"embed"
	"html/template"
	"net/http"
	"net/netip"
	"time"

	"formulary/internal/account"
	"formulary/internal/limit"
	"formulary/internal/oauth"
	"formulary/internal/outbox"
	"formulary/internal/store"
	"formulary/internal/web/page"
)

//go:embed templates
var templateFiles embed.FS

// Config is what these pages need.
type Config struct {
	Site       *page.Site
	Store      *store.Store
	Sessions   *page.Sessions
	OAuth      *oauth.Service
	Hasher     *account.Hasher
	SignupOpen bool
	Explorer   string // client_id of the application that sends requests from the API reference
	Now        func() time.Time
	Address    func(*http.Request) netip.Addr
	// Attempts at passwords, by address and by account.
	AddressAttempts *limit.Limiter[netip.Addr]
	AccountAttempts *limit.Limiter[string]
	Mails           *outbox.Service
	// Mails that strangers can cause, by their network and by recipient.
	MailsByNetwork   *limit.Limiter[netip.Addr]
	MailsByRecipient *limit.Limiter[string]
}

// Pages handles sign-in, accounts, consent and applications.
type Pages struct {
	Config
	templates page.Templates
}

// New loads the pages.
func New(c Config) (*Pages, error) {
	pages := &Pages{Config: c}
	var err error
	pages.templates, err = c.Site.LoadTemplates(templateFiles, template.FuncMap{"browser": browserName})
	return pages, err
}

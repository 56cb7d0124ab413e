// Package workspace is where users work with forms: the list of forms, the builder,
// sharing, webhooks, responses and summaries. Everything here needs a user who is signed in, and
// reads data by the owner of the request.
package workspace

import (
	"embed"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"formulary/internal/delivery"
	"formulary/internal/file"
	"formulary/internal/limit"
	"formulary/internal/live"
	"formulary/internal/outbox"
	"formulary/internal/store"
	"formulary/internal/theme"
	"formulary/internal/web/page"
)

//go:embed templates
var templateFiles embed.FS

// Config is what the workspace needs.
type Config struct {
	Site  *page.Site
	Store *store.Store
	Files *file.Service
	Now   func() time.Time
	// Webhooks manages webhooks, with the same rules as the API.
	Webhooks *delivery.Service
	// Mails sends notifications and receipts.
	Mails *outbox.Service
	// Sessions and Streams are for pages that show new responses without reloading.
	Sessions *page.Sessions
	Streams  *live.Service
	// ShowPreview shows a draft as respondents would see it. The public pages implement
	// it, so that the preview cannot differ from the form.
	ShowPreview func(*page.Request, store.PublicForm) error
	// ShowEdit shows the answers of a response in the form's own controls, and saves them.
	ShowEdit func(*page.Request, page.ResponseEdit) error
	// Address is that of the client. The limits are for mails that strangers can cause.
	Address          func(*http.Request) netip.Addr
	MailsByNetwork   *limit.Limiter[netip.Addr]
	MailsByRecipient *limit.Limiter[string]
	// InvitationsByPerson limits to how many addresses a person gives access.
	InvitationsByPerson *limit.Limiter[string]
}

// Pages handles the requests of the workspace.
type Pages struct {
	Config
	templates     page.Templates
	formTemplates formTemplates
	styles        *theme.Cache // of the forms in lists
}

// maxStyles is the size of the cache of styles in bytes.
const maxStyles = 256 << 10

// New loads the pages and the form templates.
func New(c Config) (*Pages, error) {
	pages := &Pages{Config: c, styles: theme.NewCache(maxStyles)}
	var err error
	if pages.templates, err = c.Site.LoadTemplates(templateFiles, nil); err != nil {
		return nil, err
	}
	if pages.formTemplates, err = loadFormTemplates(); err != nil {
		return nil, err
	}
	return pages, nil
}

// searchText removes characters that no stored text has. PostgreSQL returns an error for
// them.
func searchText(text string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", ""), "")
}

// Package api is the interface for applications: /api/v1, whose typed operations also
// generate the OpenAPI document, and /api/oauth2.
package api

import (
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"formulary/internal/compress"
	"formulary/internal/delivery"
	"formulary/internal/file"
	"formulary/internal/limit"
	"formulary/internal/live"
	"formulary/internal/oauth"
	"formulary/internal/outbox"
	"formulary/internal/respond"
	"formulary/internal/store"
)

// Config contains the parts that the API depends on.
type Config struct {
	Store   *store.Store
	OAuth   *oauth.Service
	Respond *respond.Service
	Files   *file.Service
	Live    *live.Service // its events are of EventEncoder
	// Webhooks manages webhooks.
	Webhooks *delivery.Service
	// Mails manages notifications and receipts.
	Mails   *outbox.Service
	BaseURL string
	Log     *slog.Logger
	Now     func() time.Time
	// Tokens limits requests per grant; nil: no limit.
	Tokens *limit.Limiter[string]
	// ClientAttempts limits wrong client secrets by address and application.
	ClientAttempts *limit.Limiter[ClientAttempt]
	// Address returns the client address of a request.
	Address func(*http.Request) netip.Addr
}

// ClientAttempt identifies who tries secrets of which application.
type ClientAttempt struct {
	Address netip.Addr
	Client  string
}

// API handles everything under /api/ and the metadata document.
type API struct {
	Config
	operations     []*operation
	mux            *http.ServeMux
	document       func() []byte
	cachedDocument func() *compress.Content
	formPages      *store.Cache[formPageKey, reply]
	users          *store.Cache[[2]string, reply] // by user and token

	introspected *store.Cache[[2]string, []byte] // by application and hash of the token
}

// Files that browsers and security researchers request. Package web serves them.
const (
	securityText   = "/.well-known/security.txt"
	changePassword = "/.well-known/change-password"
)

// Handles reports whether the API handles a request, rather than the pages.
func Handles(r *http.Request) bool {
	path := r.URL.Path
	if path == securityText || path == changePassword {
		return false // served by the pages
	}
	if strings.HasPrefix(path, "/pictures/") || isUpload(path) {
		return true
	}
	if path == "/api" || strings.HasPrefix(path, "/api/") || strings.HasPrefix(path, "/.well-known/") {
		return true
	}
	// A public form accepts form posts from its page, and JSON from other sites.
	// Browsers send a preflight request before the latter.
	return strings.HasPrefix(path, "/f/") && (r.Method == http.MethodOptions ||
		r.Method == http.MethodPost && !isFormEncoded(r.Header.Get("Content-Type")))
}

// isUpload reports whether a path is that of uploads to a form. They have any content type.
func isUpload(path string) bool {
	rest, ok := strings.CutPrefix(path, "/f/")
	_, last, _ := strings.Cut(rest, "/")
	return ok && last == "files"
}

// isFormEncoded reports whether the content type is that of an HTML form post.
func isFormEncoded(contentType string) bool {
	kind, _, _ := strings.Cut(contentType, ";")
	kind = strings.TrimSpace(kind)
	return strings.EqualFold(kind, "application/x-www-form-urlencoded") || strings.EqualFold(kind, "multipart/form-data")
}

func New(c Config) *API {
	a := &API{
		Config:    c,
		formPages: store.NewCacheWithCounts[formPageKey, reply](c.Store, maxFormPages),
		users:     store.NewCache[[2]string, reply](c.Store, maxUsers),

		introspected: store.NewCache[[2]string, []byte](c.Store, maxUsers),
	}
	a.operations = a.table()
	for _, op := range a.operations {
		op.compressible = compressible(op.ID)
	}
	a.mux = a.newMux()
	// Generated on first use, which keeps the start fast.
	a.document = sync.OnceValue(func() []byte { return buildDocument(a.operations) })
	a.cachedDocument = sync.OnceValue(func() *compress.Content { return compress.NewContent(a.document()) })
	return a
}

// Document returns the OpenAPI document.
func (a *API) Document() []byte { return a.document() }

// table lists all operations, in the order of the reference.
func (a *API) table() []*operation {
	return []*operation{
		newOperation(a.me()),
		newOperation(a.listAudit()),
		newOperation(a.listForms()),
		newOperation(a.createForm()),
		newOperation(a.readForm()),
		newOperation(a.changeForm()),
		newOperation(a.deleteForm()),
		newOperation(a.publishForm()),
		newOperation(a.closeForm()),
		newOperation(a.openForm()),
		newOperation(a.duplicateForm()),
		newOperation(a.formSchema()),
		newOperation(a.readRetention()),
		newOperation(a.setRetention()),
		newOperation(a.listVersions()),
		newOperation(a.readVersion()),
		newOperation(a.restoreVersion()),
		newOperation(a.listViews()),
		newOperation(a.createView()),
		newOperation(a.readView()),
		newOperation(a.changeView()),
		newOperation(a.deleteView()),
		newOperation(a.listThemes()),
		newOperation(a.createTheme()),
		newOperation(a.readTheme()),
		newOperation(a.changeTheme()),
		newOperation(a.deleteTheme()),
		newOperation(a.listResponses()),
		newOperation(a.addResponse()),
		newOperation(a.deleteResponses()),
		a.exportResponses(),
		a.liveResponses(),
		newOperation(a.readResponse()),
		newOperation(a.changeResponse()),
		newOperation(a.deleteResponse()),
		newOperation(a.readMarks()),
		newOperation(a.markResponses()),
		newOperation(a.listNotes()),
		newOperation(a.createNote()),
		newOperation(a.changeNote()),
		newOperation(a.deleteNote()),
		newOperation(a.summary()),
		newOperation(a.readDropOff()),
		newOperation(a.listWebhooks()),
		newOperation(a.createWebhook()),
		newOperation(a.readWebhook()),
		newOperation(a.changeWebhook()),
		newOperation(a.deleteWebhook()),
		newOperation(a.rotateWebhookSecret()),
		newOperation(a.testWebhook()),
		newOperation(a.replayWebhook()),
		newOperation(a.listDeliveries()),
		newOperation(a.resendDelivery()),
		newOperation(a.readNotifications()),
		newOperation(a.setNotifications()),
		newOperation(a.readReceipt()),
		newOperation(a.setReceipt()),
		a.forOrigins(newOperation(a.submitPublicly())),
		a.uploadFile(),
		a.readUpload(),
		a.continueUpload(),
		a.readFile(),
		a.readResponseFiles(),
		a.addPicture(),
		a.readPicture(),
		a.openAPI(),
		a.token(),
		a.refresh(),
		a.revoke(),
		a.introspect(),
		a.metadata(),
	}
}

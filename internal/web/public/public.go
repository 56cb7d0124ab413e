// Package public is the form that respondents fill in: its pages, its endings and how
// other sites embed it. It is separate from the workspace because everybody can reach it,
// it receives most requests, and it is in the language of the form rather than in that of
// the viewer.
package public

import (
	"context"
	"crypto/rand"
	"embed"
	"io"
	"io/fs"
	"net/http"
	"net/netip"
	"sync/atomic"
	"time"

	"formulary/internal/limit"
	"formulary/internal/markdown"
	"formulary/internal/respond"
	"formulary/internal/store"
	"formulary/internal/theme"
	"formulary/internal/web/page"
)

//go:embed templates
var templateFiles embed.FS

// Config is what the public pages need.
type Config struct {
	Site    *page.Site
	Store   *store.Store
	Respond *respond.Service
	Now     func() time.Time
	Address func(*http.Request) netip.Addr
	// Actions limits requests of an address that cost as much as a submission without
	// being one; nil: no limit.
	Actions *limit.Limiter[netip.Addr]
	// ReadPicture returns a picture of an owner and its bytes.
	ReadPicture func(ctx context.Context, id string) (store.Picture, io.ReadSeekCloser, error)
	// SigningKeys returns the keys that sign nonces and links to endings; they rotate.
	SigningKeys func(context.Context) (store.SigningKeys, error)
	// KindTemplates has templates/kinds/*.html of question types that tests add, or is nil.
	KindTemplates fs.FS
}

// Pages handles the requests of respondents.
type Pages struct {
	Config
	templates  page.Templates
	firstPages *store.Cache[string, firstPage]
	fallback   fallbackForms
	markdown   markdown.Renderer
	styles     *theme.Cache
	cards      *cards
	signing    atomic.Pointer[signers]
	// noncePlaceholder stands for the nonce in a first page until the page is sent. It is
	// random, so that no form can contain it.
	noncePlaceholder string
}

// maxStyles is the size of the cache of styles in bytes.
const maxStyles = 1 << 20

// New loads the templates and the signing keys.
func New(c Config) (*Pages, error) {
	pages := &Pages{
		Config: c, firstPages: store.NewCache[string, firstPage](c.Store, maxFirstPages), markdown: markdown.New(), styles: theme.NewCache(maxStyles), cards: newCards(), noncePlaceholder: rand.Text(),
	}
	var err error
	if pages.templates, err = c.Site.LoadTemplates(templateFiles, templateFunctions); err != nil {
		return nil, err
	}
	formPage, err := pages.templates.Lookup("form")
	if err != nil {
		return nil, err
	}
	if err := addKinds(formPage, c.KindTemplates); err != nil {
		return nil, err
	}
	if _, err := pages.signers(context.Background()); err != nil {
		return nil, err
	}
	return pages, nil
}

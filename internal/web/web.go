// Package web is what people see: sign-in, consent, the console, the API reference.
// Pages are rendered on the server and work without JavaScript.
package web

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"formulary/internal/account"
	"formulary/internal/compress"
	"formulary/internal/fault"
	"formulary/internal/limit"
	"formulary/internal/oauth"
	"formulary/internal/respond"
	"formulary/internal/store"
)

// Config is what the pages are made of.
type Config struct {
	Store      *store.Store
	OAuth      *oauth.Service
	Respond    *respond.Service
	Hasher     *account.Hasher
	BaseURL    string
	Secure     bool // people reach the service by https
	SignupOpen bool
	// Explorer is the client_id of the application with which calls of the API are
	// tried on its pages.
	Explorer string
	// Security is what security.txt says.
	Security SecurityContact
	// Document is the OpenAPI document that the reference shows.
	Document func() []byte
	Log      *slog.Logger
	Now      func() time.Time
	// Guesses at passwords, by address and by account.
	AddressAttempts *limit.Limiter[netip.Addr]
	AccountAttempts *limit.Limiter[string]
	Address         func(*http.Request) netip.Addr
	// Actions limits what else an address does with forms that costs as much as a
	// submission; nil: no limit.
	Actions       *limit.Limiter[netip.Addr]
	KindTemplates fs.FS // templates/kinds/*.html of kinds that tests register, or nil
	// SigningKeys are those that sign what pages carry along; they rotate.
	SigningKeys func(context.Context) (store.SigningKeys, error)
}

// Handler answers everything that is not the API.
type Handler struct {
	Config
	mux     *http.ServeMux
	paths   *http.ServeMux // the same without methods: tells 405 from 404
	origins *http.CrossOriginProtection
	pages   pages
	static  map[string]asset
	begun   *store.Cache[string, firstPage]
	// nonceHere stands for the nonce while such a page is drawn. Nobody can know
	// it, and so nobody can have it in a form.
	nonceHere string
	signing   atomic.Pointer[signers]

	languages languages
	starters  formTemplates
	markdown  markdown
	lastKnown fallbackForms
	reference func() (*reference, error)
}

// access says who may see a page.
type access int

const (
	anyone access = iota
	signedIn
)

type route struct {
	pattern string // method and path
	access  access
	maxBody int64
	handle  func(*Handler, *pageRequest) error
}

// How many bytes the body of a request may have.
const (
	noBody     = 0
	maxPost    = 64 << 10 // the controls of a page
	maxAnswers = 1 << 20  // the answers of a respondent
	maxDraft   = 1 << 20  // the questions of a form
)

// routes is every page there is.
var routes = []route{
	{"GET /{$}", signedIn, noBody, (*Handler).home},

	{"POST /forms", signedIn, maxPost, (*Handler).createForm},
	{"POST /forms/{id}/duplicate", signedIn, maxPost, (*Handler).duplicateForm},
	{"POST /forms/{id}/delete", signedIn, maxPost, (*Handler).deleteForm},
	{"POST /forms/{id}/restore", signedIn, maxPost, (*Handler).restoreForm},
	{"GET /forms/{id}/build", signedIn, noBody, (*Handler).showBuilder},
	{"PUT /forms/{id}/draft", signedIn, maxDraft, (*Handler).saveDraft},
	{"POST /forms/{id}/publish", signedIn, maxPost, (*Handler).publishForm},
	{"GET /forms/{id}/preview", signedIn, noBody, (*Handler).preview},
	{"POST /forms/{id}/preview", signedIn, maxAnswers, (*Handler).preview},
	{"GET /forms/{id}/flow", signedIn, noBody, (*Handler).showFlow},
	{"GET /forms/{id}/share", signedIn, noBody, (*Handler).showShare},
	{"POST /forms/{id}/share", signedIn, maxPost, (*Handler).changeAvailability},
	{"GET /forms/{id}/prefill", signedIn, noBody, (*Handler).prefillLink},
	{"POST /forms/{id}/close", signedIn, maxPost, (*Handler).closeForm},
	{"POST /forms/{id}/open", signedIn, maxPost, (*Handler).reopenForm},
	{"GET /forms/{id}/code/{kind}", signedIn, noBody, (*Handler).qrCode},
	{"GET /forms/{id}/responses", signedIn, noBody, (*Handler).showResponses},
	{"GET /forms/{id}/responses/export", signedIn, noBody, (*Handler).exportResponses},
	{"POST /forms/{id}/responses/delete", signedIn, maxPost, (*Handler).deleteResponses},
	{"POST /forms/{id}/responses/restore", signedIn, maxPost, (*Handler).restoreResponses},
	{"GET /forms/{id}/responses/{response}", signedIn, noBody, (*Handler).showResponse},
	{"GET /forms/{id}/summary", signedIn, noBody, (*Handler).showSummary},

	{"GET /signin", anyone, noBody, (*Handler).showSignin},
	{"POST /signin", anyone, maxPost, (*Handler).signin},
	{"POST /signout", anyone, maxPost, (*Handler).signout},
	{"GET /signup", anyone, noBody, (*Handler).showSignup},
	{"POST /signup", anyone, maxPost, (*Handler).signup},
	{"GET /setup", anyone, noBody, (*Handler).showSetup},
	{"POST /setup", anyone, maxPost, (*Handler).setup},
	{"GET /reset", anyone, noBody, (*Handler).showReset},
	{"POST /reset", anyone, maxPost, (*Handler).reset},

	{"GET /.well-known/change-password", anyone, noBody, (*Handler).changePasswordAddress},

	{"GET /authorize", anyone, noBody, (*Handler).authorize},
	{"POST /authorize", signedIn, maxPost, (*Handler).answerConsent},

	{"GET /account", signedIn, noBody, (*Handler).showAccount},
	{"POST /account/profile", signedIn, maxPost, (*Handler).changeProfile},
	{"POST /account/email", signedIn, maxPost, (*Handler).changeEmail},
	{"POST /account/password", signedIn, maxPost, (*Handler).changePassword},
	{"POST /account/sessions/{id}/end", signedIn, maxPost, (*Handler).endSession},
	{"POST /account/sessions/end-others", signedIn, maxPost, (*Handler).endOtherSessions},
	{"POST /account/delete", signedIn, maxPost, (*Handler).deleteAccount},
	{"GET /account/download", signedIn, noBody, (*Handler).downloadAccount},

	{"GET /applications", signedIn, noBody, (*Handler).listApplications},
	{"GET /applications/new", signedIn, noBody, (*Handler).newApplication},
	{"POST /applications", signedIn, maxPost, (*Handler).createApplication},
	{"GET /applications/{id}", signedIn, noBody, (*Handler).showApplication},
	{"POST /applications/{id}", signedIn, maxPost, (*Handler).changeApplication},
	{"POST /applications/{id}/secrets", signedIn, maxPost, (*Handler).rotateSecret},
	{"POST /applications/{id}/secrets/{secret}/drop", signedIn, maxPost, (*Handler).deleteSecret},
	{"POST /applications/{id}/disable", signedIn, maxPost, (*Handler).disableApplication},
	{"POST /applications/{id}/enable", signedIn, maxPost, (*Handler).enableApplication},
	{"POST /applications/{id}/delete", signedIn, maxPost, (*Handler).deleteApplication},
	{"POST /applications/{id}/try", signedIn, maxPost, (*Handler).testApplication},

	{"GET /connections", signedIn, noBody, (*Handler).listConnections},
	{"POST /connections/{id}/disconnect", signedIn, maxPost, (*Handler).disconnect},

	{"GET /f/{id}", anyone, noBody, (*Handler).showForm},
	{"POST /f/{id}", anyone, maxAnswers, (*Handler).answerForm},
	{"GET /f/{id}/done", anyone, noBody, (*Handler).formDone},
	{"GET /embed.js", anyone, noBody, (*Handler).embedScript},
	{"GET /oembed", anyone, noBody, (*Handler).oEmbed},

	{"GET /docs/api", anyone, noBody, (*Handler).showReference},
	{"GET /docs/api/{operation}", anyone, noBody, (*Handler).showOperation},
	{"GET /docs/api/callback", anyone, noBody, (*Handler).explorerCallback},
	{"GET /static/{file}", anyone, noBody, (*Handler).serveStatic},
	{"GET /favicon.ico", anyone, noBody, (*Handler).favicon},
	{"GET " + SecurityTxt, anyone, noBody, (*Handler).securityTxt},
}

// New prepares the pages.
func New(c Config) (*Handler, error) {
	web := &Handler{Config: c, begun: store.NewCache[string, firstPage](c.Store, maxFirstPages), mux: http.NewServeMux(), paths: http.NewServeMux(), origins: http.NewCrossOriginProtection(), markdown: newMarkdown(), nonceHere: rand.Text()}
	var err error
	if web.static, err = loadStatic(); err != nil {
		return nil, err
	}
	if web.pages, err = loadPages(web.static, c.BaseURL, c.KindTemplates); err != nil {
		return nil, err
	}
	if web.languages, err = loadCatalogs(); err != nil {
		return nil, err
	}
	if web.starters, err = loadFormTemplates(); err != nil {
		return nil, err
	}
	// Few people read the reference, and none while the service starts.
	web.reference = sync.OnceValues(func() (*reference, error) { return readReference(c.Document(), c.BaseURL) })
	base, err := url.Parse(c.BaseURL)
	if err != nil {
		return nil, err
	}
	if err := web.origins.AddTrustedOrigin(base.Scheme + "://" + base.Host); err != nil {
		return nil, err
	}
	if _, err := web.signers(context.Background()); err != nil {
		return nil, err
	}
	web.mux.HandleFunc(noRoute, web.notFound)
	known := map[string]bool{}
	for _, r := range routes {
		web.mux.HandleFunc(r.pattern, web.page(r))
		_, path, _ := strings.Cut(r.pattern, " ")
		if !known[path] {
			known[path] = true
			web.paths.HandleFunc(path, func(http.ResponseWriter, *http.Request) {})
		}
	}
	return web, nil
}

// noRoute is the pattern of what no page has.
const noRoute = "/"

// ServeHTTP finds the page.
func (web *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	setSecurityHeaders(w.Header(), r.URL.Path)
	web.mux.ServeHTTP(w, r)
}

// notFound answers where there is no page, or not for the method.
func (web *Handler) notFound(w http.ResponseWriter, r *http.Request) {
	r.Pattern = "none"
	var err error = fault.New(fault.UnknownPath, "We can’t find this page. Check the address, or go back to your forms.")
	if _, pattern := web.paths.Handler(r); pattern != "" {
		err = fault.New(fault.MethodNotAllowed, "This page doesn’t support that request. Go back and try again.").WithAllow(web.methodsFor(r))
	}
	// The error page has the menu of whoever is signed in.
	v := &pageRequest{w: w, r: r}
	if e := web.loadSession(v); e != nil {
		err = e
	}
	web.fail(v, err)
}

// methodsFor lists the methods that the path takes.
func (web *Handler) methodsFor(r *http.Request) string {
	var methods []string
	probe := *r
	for _, method := range []string{"GET", "HEAD", "POST", "PUT"} {
		probe.Method = method
		if _, pattern := web.mux.Handler(&probe); pattern != noRoute {
			methods = append(methods, method)
		}
	}
	return strings.Join(methods, ", ")
}

// pageRequest is one request for a page, by somebody who may be signed in.
type pageRequest struct {
	w       http.ResponseWriter
	r       *http.Request
	user    *account.User // who is signed in; nil: nobody
	session account.Session
}

// owner is the account whose forms and responses the page shows. For now it is always the
// user's own; what belongs to the user, such as sessions and applications, goes by user.
func (v *pageRequest) owner() string { return v.user.ID }

// ctx attributes the page's database work to the account whose data it shows.
func (v *pageRequest) ctx() context.Context {
	if v.user == nil {
		return v.r.Context()
	}
	return store.ForAccount(v.r.Context(), v.owner())
}

// field is a value that the page's form sent.
func (v *pageRequest) field(name string) string { return v.r.PostForm.Get(name) }

// searchText is a text to look for, without what no stored text has: PostgreSQL
// refuses even to look for that.
func searchText(text string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", ""), "")
}

func (web *Handler) page(route route) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v := &pageRequest{w: w, r: r}
		err := web.enter(v, route)
		if zipped, ok := v.w.(*compress.Writer); ok {
			if v.w = w; err == nil {
				zipped.Close() // the reader may have gone
			}
		}
		if err != nil {
			web.fail(v, err)
		}
	}
}

func (web *Handler) enter(v *pageRequest, route route) error {
	v.w.Header()["Cache-Control"] = noStore
	if err := web.loadSession(v); err != nil {
		return err
	}
	if v.r.Method == http.MethodPut {
		if err := web.origins.Check(v.r); err != nil {
			return fault.New(fault.Forbidden, "For your security, this request was blocked because it came from another site. Reload the page and try again.").WithCause(err)
		}
		v.r.Body = http.MaxBytesReader(v.w, v.r.Body, route.maxBody)
	}
	if v.r.Method == http.MethodPost {
		if err := web.origins.Check(v.r); err != nil {
			return fault.New(fault.Forbidden, "For your security, this request was blocked because it came from another site. Reload the page and try again.").WithCause(err)
		}
		v.r.Body = http.MaxBytesReader(v.w, v.r.Body, route.maxBody)
		if err := v.r.ParseForm(); err != nil {
			if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
				return fault.New(fault.TooLarge, "That request is too large. Shorten it and try again.")
			}
			return fault.New(fault.BadRequest, "The request could not be read. Reload the page and try again.").WithCause(err)
		}
	}
	if route.access == signedIn && v.user == nil {
		next := v.r.URL.RequestURI()
		if v.r.Method != http.MethodGet {
			next = "/"
		}
		return web.redirect(v, "/signin?next="+url.QueryEscape(next))
	}
	web.compress(v, route)
	return route.handle(web, v)
}

// redirect sends the browser on with a GET.
func (web *Handler) redirect(v *pageRequest, to string) error {
	v.w.Header().Set("Location", to)
	v.w.WriteHeader(http.StatusSeeOther)
	return nil
}

// Fail writes an error as a page. It and fail are the only places that do.
func (web *Handler) Fail(w http.ResponseWriter, r *http.Request, err error) {
	setSecurityHeaders(w.Header(), r.URL.Path)
	web.fail(&pageRequest{w: w, r: r}, err)
}

func (web *Handler) fail(v *pageRequest, err error) {
	e := fault.Wrap(err)
	// Whatever failed because the caller left is no failure of ours, and nobody reads
	// the answer.
	if v.ctx().Err() != nil && (e.Code.Status() >= 500 || errors.Is(err, context.Canceled)) {
		v.w.WriteHeader(fault.ClientClosedRequest)
		return
	}
	h := v.w.Header()
	id := h.Get("X-Request-Id")
	if e.Code.Status() >= 500 {
		web.Log.Error("page failed", "error", err, "method", v.r.Method, "path", v.r.URL.Path, "request_id", id)
	}
	if e.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(e.RetryAfter))
	}
	if e.Allow != "" {
		h.Set("Allow", e.Allow)
	}
	h.Set("Cache-Control", "no-store")
	p := errorPage{Message: web.translateError(v, err).Message, Code: int(e.Code)}
	switch e.Code.Status() {
	case http.StatusNotFound:
		p.Heading = "Page not found"
	case http.StatusForbidden:
		p.Heading = "Request blocked"
	case http.StatusTooManyRequests:
		p.Heading = "Too many requests"
	case http.StatusInternalServerError:
		p.Heading, p.RequestID = "Something went wrong", id
	case http.StatusServiceUnavailable:
		p.Heading, p.RequestID = "Temporarily unavailable", id
	default:
		p.Heading = "This request can’t be completed"
	}
	p.title = p.Heading
	if err := web.render(v, e.Code.Status(), "error", &p); err != nil {
		web.Log.Error("could not render error page", "error", err, "request_id", id)
	}
}

type errorPage struct {
	layout
	Heading   string
	Message   string
	Code      int
	RequestID string
}

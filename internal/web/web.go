// Package web is what people see: sign-in, consent, the console, the API reference.
// Pages are rendered on the server and work without JavaScript.
package web

import (
	"context"
	"crypto/rand"
	"errors"
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
	"formulary/internal/store"
)

// Config is what the pages are made of.
type Config struct {
	Store      *store.Store
	OAuth      *oauth.Service
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
	AddressGuesses *limit.Limiter[netip.Addr]
	AccountGuesses *limit.Limiter[string]
	Address        func(*http.Request) netip.Addr
	// Submissions limits what one address sends to forms; nil: no limit.
	Submissions *limit.Limiter[netip.Addr]
	// Presses limits what else an address does with forms that costs as much as a
	// submission; nil: no limit.
	Presses *limit.Limiter[netip.Addr]
	// SigningKeys are those that sign what pages carry along; they rotate.
	SigningKeys func(context.Context) (store.SigningKeys, error)
}

// Web answers everything that is not the API.
type Web struct {
	Config
	mux     *http.ServeMux
	paths   *http.ServeMux // the same without methods: tells 405 from 404
	origins *http.CrossOriginProtection
	pages   pages
	static  map[string]asset
	begun   *store.Cache[string, beginning]
	// nonceHere stands for the nonce while such a page is drawn. Nobody can know
	// it, and so nobody can have it in a form.
	nonceHere string
	signing   atomic.Pointer[signers]

	languages languages
	starters  starters
	markdown  markdown
	lastKnown lastKnown
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
	handle  func(*Web, *visit) error
}

// routes is every page there is.
var routes = []route{
	{"GET /{$}", signedIn, (*Web).home},

	{"POST /forms", signedIn, (*Web).createForm},
	{"POST /forms/{id}/duplicate", signedIn, (*Web).duplicateForm},
	{"POST /forms/{id}/delete", signedIn, (*Web).deleteForm},
	{"POST /forms/{id}/restore", signedIn, (*Web).restoreForm},
	{"GET /forms/{id}/build", signedIn, (*Web).showBuilder},
	{"PUT /forms/{id}/draft", signedIn, (*Web).saveDraft},
	{"POST /forms/{id}/publish", signedIn, (*Web).publishForm},
	{"GET /forms/{id}/preview", signedIn, (*Web).preview},
	{"POST /forms/{id}/preview", signedIn, (*Web).preview},
	{"GET /forms/{id}/flow", signedIn, (*Web).showFlow},
	{"GET /forms/{id}/share", signedIn, (*Web).showShare},
	{"POST /forms/{id}/share", signedIn, (*Web).changeOffer},
	{"GET /forms/{id}/prefill", signedIn, (*Web).prefillLink},
	{"POST /forms/{id}/close", signedIn, (*Web).closeForm},
	{"POST /forms/{id}/open", signedIn, (*Web).reopenForm},
	{"GET /forms/{id}/code/{kind}", signedIn, (*Web).qrCode},
	{"GET /forms/{id}/responses", signedIn, (*Web).showResponses},
	{"GET /forms/{id}/responses/export", signedIn, (*Web).exportResponses},
	{"POST /forms/{id}/responses/delete", signedIn, (*Web).deleteResponses},
	{"POST /forms/{id}/responses/restore", signedIn, (*Web).restoreResponses},
	{"GET /forms/{id}/responses/{response}", signedIn, (*Web).showResponse},
	{"GET /forms/{id}/summary", signedIn, (*Web).showSummary},

	{"GET /signin", anyone, (*Web).showSignin},
	{"POST /signin", anyone, (*Web).signin},
	{"POST /signout", anyone, (*Web).signout},
	{"GET /signup", anyone, (*Web).showSignup},
	{"POST /signup", anyone, (*Web).signup},
	{"GET /setup", anyone, (*Web).showSetup},
	{"POST /setup", anyone, (*Web).setup},
	{"GET /reset", anyone, (*Web).showReset},
	{"POST /reset", anyone, (*Web).reset},

	{"GET /.well-known/change-password", anyone, (*Web).wherePasswordsChange},

	{"GET /authorize", anyone, (*Web).authorize},
	{"POST /authorize", signedIn, (*Web).answer},

	{"GET /account", signedIn, (*Web).showAccount},
	{"POST /account/profile", signedIn, (*Web).changeProfile},
	{"POST /account/email", signedIn, (*Web).changeEmail},
	{"POST /account/password", signedIn, (*Web).changePassword},
	{"POST /account/sessions/{id}/end", signedIn, (*Web).endSession},
	{"POST /account/sessions/end-others", signedIn, (*Web).endOtherSessions},
	{"POST /account/delete", signedIn, (*Web).deleteAccount},
	{"GET /account/download", signedIn, (*Web).downloadAccount},

	{"GET /applications", signedIn, (*Web).listApplications},
	{"GET /applications/new", signedIn, (*Web).newApplication},
	{"POST /applications", signedIn, (*Web).createApplication},
	{"GET /applications/{id}", signedIn, (*Web).showApplication},
	{"POST /applications/{id}", signedIn, (*Web).changeApplication},
	{"POST /applications/{id}/secrets", signedIn, (*Web).rotateSecret},
	{"POST /applications/{id}/secrets/{secret}/drop", signedIn, (*Web).dropSecret},
	{"POST /applications/{id}/disable", signedIn, (*Web).disableApplication},
	{"POST /applications/{id}/enable", signedIn, (*Web).enableApplication},
	{"POST /applications/{id}/delete", signedIn, (*Web).deleteApplication},
	{"POST /applications/{id}/try", signedIn, (*Web).tryApplication},

	{"GET /connections", signedIn, (*Web).listConnections},
	{"POST /connections/{id}/disconnect", signedIn, (*Web).disconnect},

	{"GET /f/{id}", anyone, (*Web).showForm},
	{"POST /f/{id}", anyone, (*Web).answerForm},
	{"GET /f/{id}/done", anyone, (*Web).formDone},
	{"GET /embed.js", anyone, (*Web).embedScript},
	{"GET /oembed", anyone, (*Web).oEmbed},

	{"GET /docs/api", anyone, (*Web).showReference},
	{"GET /docs/api/{operation}", anyone, (*Web).showOperation},
	{"GET /docs/api/callback", anyone, (*Web).tryCallback},
	{"GET /static/{file}", anyone, (*Web).serveStatic},
	{"GET /favicon.ico", anyone, (*Web).favicon},
	{"GET " + SecurityTxt, anyone, (*Web).securityTxt},
}

// New prepares the pages.
func New(c Config) (*Web, error) {
	web := &Web{Config: c, begun: store.NewCache[string, beginning](c.Store, maxBegun), mux: http.NewServeMux(), paths: http.NewServeMux(), origins: http.NewCrossOriginProtection(), markdown: newMarkdown(), nonceHere: rand.Text()}
	var err error
	if web.static, err = loadStatic(); err != nil {
		return nil, err
	}
	if web.pages, err = loadPages(web.static, c.BaseURL); err != nil {
		return nil, err
	}
	if web.languages, err = loadWords(); err != nil {
		return nil, err
	}
	if web.starters, err = loadStarters(); err != nil {
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
	web.mux.HandleFunc(nowhere, web.lost)
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

// nowhere is the pattern of what no page has.
const nowhere = "/"

// ServeHTTP finds the page.
func (web *Web) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	guard(w.Header(), r.URL.Path)
	web.mux.ServeHTTP(w, r)
}

// lost answers where there is no page, or not for the method.
func (web *Web) lost(w http.ResponseWriter, r *http.Request) {
	r.Pattern = "none"
	var err error = fault.New(fault.NoPath, "We can’t find this page. Check the address, or go back to your forms.")
	if _, pattern := web.paths.Handler(r); pattern != "" {
		err = &fault.Error{Code: fault.MethodNotAllowed, Message: "This page doesn’t support that request. Go back and try again.", Allow: web.allowed(r)}
	}
	// The error page has the menu of whoever is signed in.
	v := &visit{w: w, r: r}
	if e := web.recognise(v); e != nil {
		err = e
	}
	web.fail(v, err)
}

// allowed lists the methods that the path takes.
func (web *Web) allowed(r *http.Request) string {
	var methods []string
	probe := *r
	for _, method := range []string{"GET", "HEAD", "POST", "PUT"} {
		probe.Method = method
		if _, pattern := web.mux.Handler(&probe); pattern != nowhere {
			methods = append(methods, method)
		}
	}
	return strings.Join(methods, ", ")
}

// maxPost bounds what a page's form can send, maxAnswers what respondents can.
const (
	maxPost    = 64 << 10
	maxAnswers = 1 << 20
)

// visit is one request for a page, by somebody who may be signed in.
type visit struct {
	w       http.ResponseWriter
	r       *http.Request
	person  *account.Person // nil: nobody is signed in
	session account.Session
}

// ctx attributes what a page does to the person who is signed in.
func (v *visit) ctx() context.Context {
	if v.person == nil {
		return v.r.Context()
	}
	return store.ForAccount(v.r.Context(), v.person.ID)
}

// field is a value that the page's form sent.
func (v *visit) field(name string) string { return v.r.PostForm.Get(name) }

// sought is a text to look for, without what no stored text has: PostgreSQL
// refuses even to look for that.
func sought(text string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", ""), "")
}

func (web *Web) page(route route) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v := &visit{w: w, r: r}
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

func (web *Web) enter(v *visit, route route) error {
	v.w.Header()["Cache-Control"] = noStore
	if err := web.recognise(v); err != nil {
		return err
	}
	if v.r.Method == http.MethodPut {
		if err := web.origins.Check(v.r); err != nil {
			return &fault.Error{Code: fault.Forbidden, Message: "For your security, this request was blocked because it came from another site. Reload the page and try again.", Cause: err}
		}
	}
	if v.r.Method == http.MethodPost {
		if err := web.origins.Check(v.r); err != nil {
			return &fault.Error{Code: fault.Forbidden, Message: "For your security, this request was blocked because it came from another site. Reload the page and try again.", Cause: err}
		}
		most := int64(maxPost)
		if strings.HasPrefix(v.r.URL.Path, "/f/") || strings.HasSuffix(v.r.URL.Path, "/preview") {
			most = maxAnswers
		}
		v.r.Body = http.MaxBytesReader(v.w, v.r.Body, most)
		if err := v.r.ParseForm(); err != nil {
			if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
				return fault.New(fault.TooLarge, "That request is too large. Shorten it and try again.")
			}
			return &fault.Error{Code: fault.BadRequest, Message: "The request could not be read. Reload the page and try again.", Cause: err}
		}
	}
	if route.access == signedIn && v.person == nil {
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
func (web *Web) redirect(v *visit, to string) error {
	v.w.Header().Set("Location", to)
	v.w.WriteHeader(http.StatusSeeOther)
	return nil
}

// Fail writes an error as a page. It and fail are the only places that do.
func (web *Web) Fail(w http.ResponseWriter, r *http.Request, err error) {
	guard(w.Header(), r.URL.Path)
	web.fail(&visit{w: w, r: r}, err)
}

func (web *Web) fail(v *visit, err error) {
	e := fault.From(err)
	// Whatever failed because the caller left is no failure of ours, and nobody reads
	// the answer.
	if v.ctx().Err() != nil && (e.Code.Status() >= 500 || errors.Is(err, context.Canceled)) {
		v.w.WriteHeader(fault.CallerLeft)
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
	p := errorPage{Message: web.told(v, err).Message, Code: int(e.Code)}
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

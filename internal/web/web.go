// Package web serves all pages. It contains the route table and what all routes share:
// access, body limits, headers and not-found errors. The pages are in its subpackages, one
// per audience; package page contains what they share.
package web

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"formulary/internal/account"
	"formulary/internal/compress"
	"formulary/internal/delivery"
	"formulary/internal/fault"
	"formulary/internal/file"
	"formulary/internal/id"
	"formulary/internal/limit"
	"formulary/internal/live"
	"formulary/internal/oauth"
	"formulary/internal/outbox"
	"formulary/internal/respond"
	"formulary/internal/store"
	"formulary/internal/web/identity"
	"formulary/internal/web/page"
	"formulary/internal/web/public"
	"formulary/internal/web/reference"
	"formulary/internal/web/workspace"
)

// Config is what the pages need.
type Config struct {
	Store      *store.Store
	OAuth      *oauth.Service
	Respond    *respond.Service
	Files      *file.Service
	Live       *live.Service
	Webhooks   *delivery.Service
	Mails      *outbox.Service
	Hasher     *account.Hasher
	BaseURL    string
	Secure     bool // people reach the service over HTTPS
	SignupOpen bool
	// Explorer is the client_id of the application that sends requests from the API
	// reference.
	Explorer string
	// Security is the content of security.txt.
	Security SecurityContact
	// Document returns the OpenAPI document that the reference shows.
	Document func() []byte
	Log      *slog.Logger
	Now      func() time.Time
	// Attempts at passwords, by address and by account.
	AddressAttempts *limit.Limiter[netip.Addr]
	AccountAttempts *limit.Limiter[string]
	Address         func(*http.Request) netip.Addr
	// Mails that strangers can cause, by their network and by recipient.
	MailsByNetwork   *limit.Limiter[netip.Addr]
	MailsByRecipient *limit.Limiter[string]
	// InvitationsByPerson limits to how many addresses a person gives access.
	InvitationsByPerson *limit.Limiter[string]
	// Actions limits requests of respondents that cost as much as a submission; nil: no
	// limit.
	Actions       *limit.Limiter[netip.Addr]
	KindTemplates fs.FS // templates/kinds/*.html of question types that tests add, or nil
	// SigningKeys returns the keys that sign nonces and links on public pages; they are rotated.
	SigningKeys func(context.Context) (store.SigningKeys, error)
}

// Handler handles all requests that are not for the API.
type Handler struct {
	site     *page.Site
	sessions *page.Sessions
	origins  *http.CrossOriginProtection
	mux      *http.ServeMux
	paths    *http.ServeMux // the same paths without methods, to distinguish 405 from 404

	public      *public.Pages
	workspace   *workspace.Pages
	identity    *identity.Pages
	reference   *reference.Pages
	securityTxt securityTxt
}

// New creates all pages and connects them to their routes.
func New(c Config) (*Handler, error) {
	site, err := page.New(page.Config{BaseURL: c.BaseURL, Log: c.Log, KeepsMails: !c.Mails.IsOn(), Spaces: c.Store.SpaceMenu})
	if err != nil {
		return nil, err
	}
	web := &Handler{
		site: site, sessions: &page.Sessions{Store: c.Store, Secure: c.Secure, Now: c.Now, Address: c.Address},
		mux: http.NewServeMux(), paths: http.NewServeMux(), origins: http.NewCrossOriginProtection(),
		securityTxt: securityTxt{contact: c.Security, baseURL: c.BaseURL, secure: c.Secure, now: c.Now},
	}
	if web.public, err = public.New(public.Config{
		Site: site, Store: c.Store, Respond: c.Respond, Now: c.Now, Address: c.Address, Actions: c.Actions, SigningKeys: c.SigningKeys, KindTemplates: c.KindTemplates,
		ReadPicture: c.Files.ReadPicture,
	}); err != nil {
		return nil, err
	}
	if web.workspace, err = workspace.New(workspace.Config{Site: site, Store: c.Store, Files: c.Files, Webhooks: c.Webhooks, Mails: c.Mails, Now: c.Now, Sessions: web.sessions, Streams: c.Live, ShowPreview: web.public.Preview, ShowEdit: web.public.EditResponse,
		Address: c.Address, MailsByNetwork: c.MailsByNetwork, MailsByRecipient: c.MailsByRecipient, InvitationsByPerson: c.InvitationsByPerson,
	}); err != nil {
		return nil, err
	}
	if web.identity, err = identity.New(identity.Config{
		Site: site, Store: c.Store, Sessions: web.sessions, OAuth: c.OAuth, Hasher: c.Hasher, SignupOpen: c.SignupOpen, Explorer: c.Explorer, Now: c.Now,
		Address: c.Address, AddressAttempts: c.AddressAttempts, AccountAttempts: c.AccountAttempts,
		Mails: c.Mails, MailsByNetwork: c.MailsByNetwork, MailsByRecipient: c.MailsByRecipient,
	}); err != nil {
		return nil, err
	}
	if web.reference, err = reference.New(reference.Config{Site: site, Document: c.Document, Explorer: c.Explorer}); err != nil {
		return nil, err
	}
	base, err := url.Parse(c.BaseURL)
	if err != nil {
		return nil, err
	}
	if err := web.origins.AddTrustedOrigin(base.Scheme + "://" + base.Host); err != nil {
		return nil, err
	}
	// Mail programs send it from anywhere. Only those who have the link can.
	web.origins.AddInsecureBypassPattern("POST " + outbox.UnsubscribePath)
	web.addRoutes()
	return web, nil
}

// noRoute is the pattern of requests that match no route.
const noRoute = "/"

func (web *Handler) addRoutes() {
	web.mux.HandleFunc(noRoute, web.notFound)
	known := map[string]bool{}
	for _, r := range web.routes() {
		web.mux.HandleFunc(r.pattern, web.handle(r))
		_, path, _ := strings.Cut(r.pattern, " ")
		if !known[path] {
			known[path] = true
			web.paths.HandleFunc(path, func(http.ResponseWriter, *http.Request) {})
		}
	}
}

// ServeHTTP handles a request.
func (web *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	setSecurityHeaders(w.Header(), r.URL.Path)
	if !id.IsStorable(r.URL.Path) {
		web.notFound(w, r)
		return
	}
	web.mux.ServeHTTP(w, r)
}

// WriteError sends an error that occurred before a route was found.
func (web *Handler) WriteError(w http.ResponseWriter, r *http.Request, err error) {
	setSecurityHeaders(w.Header(), r.URL.Path)
	web.site.Fail(&page.Request{Request: r, W: w}, err)
}

// notFound handles requests without a route for the path or the method.
func (web *Handler) notFound(w http.ResponseWriter, r *http.Request) {
	r.Pattern = "none"
	var err error = fault.New(fault.UnknownPath, "We can’t find this page. Check the address, or go back to your forms.")
	if _, pattern := web.paths.Handler(r); pattern != "" && id.IsStorable(r.URL.Path) {
		err = fault.New(fault.MethodNotAllowed, "This page doesn’t support that request. Go back and try again.").WithAllow(web.methodsFor(r))
	}
	// The error page has the menu of the user.
	req := &page.Request{Request: r, W: w}
	if e := web.sessions.Load(req); e != nil {
		err = e
	}
	web.site.Fail(req, err)
}

// methodsFor lists the methods that the path supports.
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

func (web *Handler) handle(route route) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		req := &page.Request{Request: r, W: w}
		err := web.enter(req, route)
		if zipped, ok := req.W.(*compress.Writer); ok {
			if req.W = w; err == nil {
				zipped.Close() // the client may have disconnected
			}
		}
		if err != nil {
			web.site.Fail(req, err)
		}
	}
}

// noStore is the default of Cache-Control, allocated once.
var noStore = []string{"no-store"}

// enter checks what the route requires of a request, and then runs its handler.
func (web *Handler) enter(req *page.Request, route route) error {
	req.W.Header()["Cache-Control"] = noStore
	if err := web.sessions.Load(req); err != nil {
		return err
	}
	if req.Method == http.MethodPost || req.Method == http.MethodPut {
		if err := web.origins.Check(req.Request); err != nil {
			return fault.New(fault.Forbidden, "For your security, this request was blocked because it came from another site. Reload the page and try again.").WithCause(err)
		}
		req.RawBody = req.Body
		req.Body = http.MaxBytesReader(req.W, req.Body, route.maxBody)
	}
	if req.Method == http.MethodPost {
		if err := req.ParseForm(); err != nil {
			if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
				return fault.New(fault.TooLarge, "That request is too large. Shorten it and try again.")
			}
			return fault.New(fault.BadRequest, "The request could not be read. Reload the page and try again.").WithCause(err)
		}
	}
	if route.access.signedIn && req.User == nil {
		next := req.URL.RequestURI()
		if req.Method != http.MethodGet {
			next = "/"
		}
		return req.Redirect("/signin?next=" + url.QueryEscape(next))
	}
	if err := web.enterSpace(req, route.access); err != nil {
		return err
	}
	if req.User != nil {
		req.SetActor(*req.User, web.sessions.Address(req.Request))
	}
	compressPage(req, route)
	return route.handle(req)
}

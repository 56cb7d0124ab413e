package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"net/netip"
	"net/url"
	"runtime"
	"runtime/debug"
	"strings"
	"time"
	_ "time/tzdata" // people have time zones, machines may have no list of them

	"formulary/internal/account"
	"formulary/internal/api"
	"formulary/internal/limit"
	"formulary/internal/oauth"
	"formulary/internal/respond"
	"formulary/internal/server"
	"formulary/internal/store"
	"formulary/internal/web"
)

type serveCommand struct {
	AccessTokenTTL    time.Duration `env:"FORMULARY_ACCESS_TOKEN_TTL" default:"1h" help:"How long an access token lives."`
	CodeTTL           time.Duration `env:"FORMULARY_CODE_TTL" default:"60s" help:"How long an authorization code lives."`
	RefreshIdle       time.Duration `env:"FORMULARY_REFRESH_IDLE" default:"2160h" help:"A refresh token ends after so long without use."`
	Signup            string        `env:"FORMULARY_SIGNUP" enum:"open,closed" default:"closed" help:"Whether strangers can make an account (open, closed)."`
	TrustedProxies    []string      `env:"FORMULARY_TRUSTED_PROXIES" help:"Addresses and networks whose X-Forwarded-For is believed." placeholder:"NETWORK"`
	AdminAddr         string        `env:"FORMULARY_ADMIN_ADDR" help:"Address for metrics and pprof; empty: off." placeholder:"ADDR"`
	Log               string        `env:"FORMULARY_LOG" enum:"text,json" default:"text" help:"How the log is written (text, json)."`
	RateLimit         string        `env:"FORMULARY_RATE_LIMIT" enum:"on,off" default:"on" help:"Limit requests (on, off). Guessing at passwords and secrets is always limited."`
	RatePerToken      int           `env:"FORMULARY_RATE_PER_TOKEN" default:"6000" help:"Requests per minute with the access tokens of one grant, all together."`
	RatePerAddress    int           `env:"FORMULARY_RATE_PER_ADDRESS" default:"12000" help:"Requests a minute of one address."`
	RatePerRespondent int           `env:"FORMULARY_RATE_PER_RESPONDENT" default:"120" help:"Submissions a minute of one address."`
	FormLimit         int64         `env:"FORMULARY_FORM_LIMIT" default:"10000" help:"Forms per account; 0: no limit."`
	VersionLimit      int64         `env:"FORMULARY_VERSION_LIMIT" default:"500" help:"Published versions per form; 0: no limit."`
	StorageLimit      byteSize      `env:"FORMULARY_STORAGE_LIMIT" default:"10GB" help:"Storage per account, such as 500MB or 10GB; 0: no limit." placeholder:"SIZE"`
	MaxConnections    int           `env:"FORMULARY_MAX_CONNECTIONS" default:"0" help:"Open connections at most; 0: derived from the limit of open files." placeholder:"N"`
	MaxPerAddress     int           `name:"max-connections-per-address" env:"FORMULARY_MAX_CONNECTIONS_PER_ADDRESS" default:"0" help:"Open connections of one address at most; 0: a quarter of all." placeholder:"N"`
	TLSCert           string        `name:"tls-cert" env:"FORMULARY_TLS_CERT" help:"Certificate chain (PEM); with it the service speaks https." placeholder:"FILE"`
	TLSKey            string        `name:"tls-key" env:"FORMULARY_TLS_KEY" help:"Private key of the certificate (PEM)." placeholder:"FILE"`
	SecurityContact   string        `env:"FORMULARY_SECURITY_CONTACT" help:"Where to report a vulnerability, for /.well-known/security.txt (mailto: or https: URL)." placeholder:"URL"`
	SecurityPolicy    string        `env:"FORMULARY_SECURITY_POLICY" help:"Page with the security policy, for the same file (https: URL)." placeholder:"URL"`
	Demo              bool          `env:"FORMULARY_DEMO" help:"Fill an empty database with a demo account, forms and an application."`
}

const (
	setupTTL        = 7 * 24 * time.Hour
	cleanupInterval = 10 * time.Minute
	closeInterval   = 15 * time.Second // lists by status close what is due themselves

	// Guesses at a secret: so many wrong ones at once, then one in a while.
	attemptWindow      = 15 * time.Minute
	attemptsPerAddress = 30
	attemptsPerAccount = 10
	attemptsPerClient  = 30

	// refreshPerGrant is how many tokens one grant gets per minute.
	refreshPerGrant = 120
)

func (c serveCommand) security() web.SecurityContact {
	return web.SecurityContact{Contact: c.SecurityContact, Policy: c.SecurityPolicy}
}

func (c serveCommand) check() error {
	if err := c.security().Check(); err != nil {
		return err
	}
	if (c.TLSCert == "") != (c.TLSKey == "") {
		return errors.New("a TLS certificate and its key go together")
	}
	for name, d := range map[string]time.Duration{
		"access token TTL": c.AccessTokenTTL, "code TTL": c.CodeTTL, "refresh idle time": c.RefreshIdle,
	} {
		if d < time.Second {
			return fmt.Errorf("the %s is at least a second", name)
		}
	}
	if c.FormLimit < 0 || c.VersionLimit < 0 {
		return errors.New("a limit must be 0 (no limit) or more")
	}
	if c.RatePerToken < 1 || c.RatePerAddress < 1 || c.RatePerRespondent < 1 {
		return errors.New("a rate is at least one request a minute; FORMULARY_RATE_LIMIT=off switches limits off")
	}
	if c.MaxConnections < 0 || c.MaxPerAddress < 0 {
		return errors.New("a limit of connections is at least 1; 0 derives it from the limit of open files")
	}
	return nil
}

// Run serves until ctx ends.
func (c serveCommand) Run(ctx context.Context, place Storage, io streams, t Tuning, tune tuner) error {
	if err := c.check(); err != nil {
		return err
	}
	addresses, err := server.ParseTrustedProxies(c.TrustedProxies)
	if err != nil {
		return err
	}
	log, logEnd := server.NewLog(io.err, c.Log == "json", slog.LevelInfo)
	defer logEnd.Close()
	// Before the store is opened: the number of its readers follows GOMAXPROCS.
	if tune != nil {
		tune(log)
	}
	s, err := place.open(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	s.SetQuotas(store.Quotas{Forms: c.FormLimit, Versions: c.VersionLimit, Bytes: int64(c.StorageLimit)})
	listener, err := net.Listen("tcp", place.Addr)
	if err != nil {
		return err
	}
	defer listener.Close()
	base, err := baseURL(place.BaseURL, listener.Addr(), c.TLSCert != "")
	if err != nil {
		return err
	}
	var shared *limit.Cluster
	if s.MultiNode() {
		shared = limit.NewCluster()
	}
	config, err := assemble(ctx, c, t, s, base, addresses, shared, log)
	if err != nil {
		return err
	}
	service, err := server.New(listener, config)
	if err != nil {
		return err
	}
	if err := c.greet(ctx, s, base, listener.Addr(), io, t); err != nil {
		return err
	}
	work, stop := context.WithCancel(ctx)
	defer stop()
	go runCleanup(work, s, c.RefreshIdle, log)
	if shared != nil {
		go s.Exchange(work, shared.Pending(), shared.Outgoing, shared.Receive)
	}
	if c.AdminAddr != "" {
		if err := serveAdmin(work, c.AdminAddr, config.Metrics, log); err != nil {
			return err
		}
	}
	// What starting up needed is given back to the system, once it is quiet.
	time.AfterFunc(time.Second, debug.FreeOSMemory)
	err = service.Serve(ctx)
	log.Info("stopped")
	return err
}

// actionsPerSubmission is how many presses of a form's buttons, and looks at its
// calculations while typing, are allowed for each submission.
const actionsPerSubmission = 5

// assemble makes the parts and puts them together.
func assemble(ctx context.Context, c serveCommand, t Tuning, s *store.Store, base string, addresses server.ClientIPs, shared *limit.Cluster, log *slog.Logger) (server.Config, error) {
	now := time.Now
	secure := strings.HasPrefix(base, "https:")
	explorer, err := s.EnsureExplorerApp(ctx, base+web.ExplorerCallbackPath, now())
	if err != nil {
		return server.Config{}, err
	}
	var tokens, refreshes *limit.Limiter[string]
	var perAddress, submissions, presses *limit.Limiter[netip.Addr]
	if c.RateLimit == "on" {
		submissions = limit.New[netip.Addr](c.RatePerRespondent, time.Minute, now).Join(shared, "respondent")
		presses = limit.New[netip.Addr](actionsPerSubmission*c.RatePerRespondent, time.Minute, now).Join(shared, "press")
		tokens = limit.New[string](c.RatePerToken, time.Minute, now).Join(shared, "token")
		refreshes = limit.New[string](refreshPerGrant, time.Minute, now).Join(shared, "refresh")
		perAddress = limit.New[netip.Addr](c.RatePerAddress, time.Minute, now).Join(shared, "address")
	}
	authorization := oauth.New(s, base, oauth.Lifetimes{Code: c.CodeTTL, Access: c.AccessTokenTTL, RefreshIdle: c.RefreshIdle}, refreshes, now)
	guesses, err := newAttemptLimits(ctx, s, shared, now)
	if err != nil {
		return server.Config{}, err
	}
	responding := respond.New(respond.Config{Store: s, Submissions: submissions, Now: now})
	programs := api.New(api.Config{
		Store: s, OAuth: authorization, Respond: responding, BaseURL: base, Log: log, Now: now, Tokens: tokens,
		Guesses: guesses.client,
		Address: addresses.ClientIP,
	})
	people, err := web.New(web.Config{
		Store: s, OAuth: authorization, Respond: responding, Hasher: account.NewHasher(runtime.GOMAXPROCS(0), t.HashCost), BaseURL: base, Secure: secure,
		SignupOpen: c.Signup == "open", Security: c.security(), Explorer: explorer, Document: programs.Document, Log: log, Now: now, Address: addresses.ClientIP,
		Presses: presses, SigningKeys: s.SigningKeys, KindTemplates: t.KindTemplates,
		AddressGuesses: guesses.address, AccountGuesses: guesses.account,
	})
	if err != nil {
		return server.Config{}, err
	}
	return server.Config{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if api.Handles(r) {
				programs.ServeHTTP(w, r)
			} else {
				people.ServeHTTP(w, r)
			}
		}),
		Fail: func(w http.ResponseWriter, r *http.Request, err error) {
			if api.Handles(r) {
				programs.WriteError(w, r, err)
			} else {
				people.Fail(w, r, err)
			}
		},
		Ready: s.Ready, Log: log, Secure: secure, Addresses: perAddress, Address: addresses.ClientIP, Metrics: server.NewMetrics(),
		CertFile: c.TLSCert, KeyFile: c.TLSKey, Drain: t.Drain,
		MaxConnections: c.MaxConnections, MaxPerAddress: c.MaxPerAddress, Trusted: addresses.Trusts,
	}, nil
}

// baseURL is the address by which people reach the service. It comes from the
// configuration, never from a request, which anybody can write.
func baseURL(configured string, listening net.Addr, tls bool) (string, error) {
	if configured != "" {
		u, err := url.Parse(configured)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" || strings.Trim(u.Path, "/") != "" {
			return "", fmt.Errorf("the base URL %q must look like https://forms.example.com", configured)
		}
		return u.Scheme + "://" + u.Host, nil
	}
	host, port, err := net.SplitHostPort(listening.String())
	if err != nil {
		return "", err
	}
	if ip, err := netip.ParseAddr(host); err == nil && ip.IsUnspecified() {
		host = "localhost"
	}
	scheme := "http"
	if tls {
		scheme = "https"
	}
	return scheme + "://" + net.JoinHostPort(host, port), nil
}

// greet tells the operator where the service is and, while there is no account,
// how to make the first.
func (c serveCommand) greet(ctx context.Context, s *store.Store, base string, addr net.Addr, io streams, t Tuning) error {
	fmt.Fprintf(io.out, "Formulary is at %s (%s, listening on %s)\n", base, s.Engine(), addr)
	some, err := s.HasUsers(ctx)
	if err != nil {
		return err
	}
	if c.Demo {
		if some {
			fmt.Fprintln(io.out, "The database is not empty, so no demo data was added.")
			return nil
		}
		return demo(ctx, s, base, io, t.HashCost)
	}
	if some {
		return nil
	}
	link, err := s.NewSetupLink(ctx, time.Now(), setupTTL)
	if err != nil {
		return err
	}
	fmt.Fprintf(io.out, "\nThere is no account yet. Make the first one here, once:\n%s/setup?token=%s\n\n", base, link)
	return nil
}

// runCleanup removes now and then what nobody can use any more.
func runCleanup(ctx context.Context, s *store.Store, refreshIdle time.Duration, log *slog.Logger) {
	tick := time.NewTicker(cleanupInterval)
	defer tick.Stop()
	due := time.NewTicker(closeInterval)
	defer due.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if err := s.Cleanup(ctx, time.Now(), refreshIdle); err != nil && ctx.Err() == nil {
				log.Error("sweep failed", "error", err)
			}
		case <-due.C:
			if err := s.CloseExpiredForms(ctx, time.Now()); err != nil && ctx.Err() == nil {
				log.Error("closing forms failed", "error", err)
			}
		}
	}
}

// serveAdmin shows metrics and profiles on an address of their own, which is
// the operator's to protect.
func serveAdmin(ctx context.Context, addr string, metrics *server.Metrics, log *slog.Logger) error {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return fmt.Errorf("admin address: %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle("/metrics", metrics.Handler())
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	admin := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	context.AfterFunc(ctx, func() { admin.Close() })
	go func() {
		if err := admin.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			log.Error("admin server ended", "error", err)
		}
	}()
	log.Info("admin", "address", listener.Addr().String())
	return nil
}

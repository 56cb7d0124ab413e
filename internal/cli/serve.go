package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"runtime"
	"runtime/debug"
	"strings"
	"time"
	_ "time/tzdata" // time zones, for machines that have no database of them

	"formulary/internal/account"
	"formulary/internal/api"
	"formulary/internal/delivery"
	"formulary/internal/file"
	"formulary/internal/limit"
	"formulary/internal/live"
	"formulary/internal/oauth"
	"formulary/internal/outbox"
	"formulary/internal/respond"
	"formulary/internal/server"
	"formulary/internal/store"
	"formulary/internal/web"
	"formulary/internal/web/reference"
)

type serveCommand struct {
	AccessTokenTTL    time.Duration `env:"FORMULARY_ACCESS_TOKEN_TTL" default:"1h" help:"Access token lifetime."`
	CodeTTL           time.Duration `env:"FORMULARY_CODE_TTL" default:"60s" help:"Authorization code lifetime."`
	RefreshIdle       time.Duration `env:"FORMULARY_REFRESH_IDLE" default:"2160h" help:"Refresh tokens expire after this long without use."`
	Signup            string        `env:"FORMULARY_SIGNUP" enum:"open,closed" default:"closed" help:"Whether anyone can sign up (open, closed)."`
	TrustedProxies    []string      `env:"FORMULARY_TRUSTED_PROXIES" help:"Proxy addresses and networks whose X-Forwarded-For header is trusted." placeholder:"NETWORK"`
	AdminAddr         string        `env:"FORMULARY_ADMIN_ADDR" help:"Address for metrics and pprof; empty to disable." placeholder:"ADDR"`
	Log               string        `env:"FORMULARY_LOG" enum:"text,json" default:"text" help:"Log format (text, json)."`
	RateLimit         string        `env:"FORMULARY_RATE_LIMIT" enum:"on,off" default:"on" help:"Rate limiting (on, off). Password and secret attempts are always limited."`
	RatePerToken      int           `env:"FORMULARY_RATE_PER_TOKEN" default:"6000" help:"Requests per minute for all access tokens of one grant."`
	RatePerAddress    int           `env:"FORMULARY_RATE_PER_ADDRESS" default:"12000" help:"Requests per minute per IP address."`
	RatePerRespondent int           `env:"FORMULARY_RATE_PER_RESPONDENT" default:"120" help:"Form submissions per minute per IP address."`
	LivePerGrant      int           `env:"FORMULARY_LIVE_PER_GRANT" default:"1000" help:"Open live streams per grant or session, on each node; 0 for no limit."`
	LivePerAccount    int           `env:"FORMULARY_LIVE_PER_ACCOUNT" default:"2000" help:"Open live streams per account, on each node; 0 for no limit."`
	FormLimit         int64         `env:"FORMULARY_FORM_LIMIT" default:"10000" help:"Forms per account; 0 for no limit."`
	VersionLimit      int64         `env:"FORMULARY_VERSION_LIMIT" default:"500" help:"Published versions per form; 0 for no limit."`
	FileLimit         byteSize      `env:"FORMULARY_FILE_LIMIT" default:"25MiB" help:"Size of the largest file that a respondent can upload, such as 25MB." placeholder:"SIZE"`
	Clamd             string        `env:"FORMULARY_CLAMD" help:"ClamAV daemon that scans files, as unix:/path or host:port. Nothing can be downloaded before it was scanned." placeholder:"ADDR"`
	StorageLimit      byteSize      `env:"FORMULARY_STORAGE_LIMIT" default:"10GB" help:"Storage per account, such as 500MB or 10GB; 0 for no limit." placeholder:"SIZE"`
	MaxConnections    int           `env:"FORMULARY_MAX_CONNECTIONS" default:"0" help:"Maximum number of open connections; 0 to derive it from the open file limit." placeholder:"N"`
	MaxPerAddress     int           `name:"max-connections-per-address" env:"FORMULARY_MAX_CONNECTIONS_PER_ADDRESS" default:"0" help:"Maximum number of open connections per IP address; 0 for a quarter of all." placeholder:"N"`
	TLSCert           string        `name:"tls-cert" env:"FORMULARY_TLS_CERT" help:"TLS certificate chain (PEM). Enables https." placeholder:"FILE"`
	TLSKey            string        `name:"tls-key" env:"FORMULARY_TLS_KEY" help:"TLS private key (PEM)." placeholder:"FILE"`
	SecurityContact   string        `env:"FORMULARY_SECURITY_CONTACT" help:"Contact for vulnerability reports in /.well-known/security.txt (mailto: or https: URL)." placeholder:"URL"`
	SecurityPolicy    string        `env:"FORMULARY_SECURITY_POLICY" help:"Security policy page in /.well-known/security.txt (https: URL)." placeholder:"URL"`
	SecretKey         string        `env:"FORMULARY_SECRET_KEY" help:"Key that encrypts the secrets of webhooks, at least 32 random characters. SQLite creates one in the data directory." placeholder:"KEY"`
	SecretKeyFile     string        `env:"FORMULARY_SECRET_KEY_FILE" help:"File to read the secret key from." placeholder:"FILE"`
	WebhookAllow      []string      `env:"FORMULARY_WEBHOOK_ALLOW" help:"Networks and hosts that webhooks may call beside public addresses, also with http:." placeholder:"NETWORK"`
	mailSettings      `embed:""`
	Demo              bool `env:"FORMULARY_DEMO" help:"Add a demo account with forms and an application if the database is empty."`
}

const (
	setupTTL        = 7 * 24 * time.Hour
	cleanupInterval = 10 * time.Minute
	closeInterval   = 15 * time.Second // lists by status close expired forms themselves
	moveInterval    = 15 * time.Second

	// Limits on wrong passwords and secrets: this many per window, which refill evenly.
	attemptWindow      = 15 * time.Minute
	attemptsPerAddress = 30
	attemptsPerAccount = 10
	attemptsPerClient  = 30

	// Limits on mails that strangers can cause: per window and network, and per hour and
	// recipient for each kind of mail.
	mailsPerNetwork   = 20
	mailsPerRecipient = 5

	// invitationsPerPerson is how many addresses a person can invite, or share a form with, per day.
	invitationsPerPerson = 200

	// refreshPerGrant is how many tokens a grant can refresh per minute.
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
		return errors.New("set both the TLS certificate and the TLS key")
	}
	for name, d := range map[string]time.Duration{
		"access token TTL": c.AccessTokenTTL, "authorization code TTL": c.CodeTTL, "refresh idle time": c.RefreshIdle,
	} {
		if d < time.Second {
			return fmt.Errorf("the %s must be at least one second", name)
		}
	}
	if c.FormLimit < 0 || c.VersionLimit < 0 {
		return errors.New("a form or version limit must be 0 (no limit) or more")
	}
	if c.RatePerToken < 1 || c.RatePerAddress < 1 || c.RatePerRespondent < 1 {
		return errors.New("a rate limit must be at least 1 request per minute; to turn limits off, set FORMULARY_RATE_LIMIT=off")
	}
	if c.LivePerGrant < 0 || c.LivePerAccount < 0 {
		return errors.New("a limit of live streams must be 0 (no limit) or more")
	}
	if c.MaxConnections < 0 || c.MaxPerAddress < 0 {
		return errors.New("a connection limit must be at least 1, or 0 to derive it from the open file limit")
	}
	return nil
}

// Run serves until ctx is canceled.
func (c serveCommand) Run(ctx context.Context, storage Storage, io streams, t Tuning, tune tuner) error {
	if err := c.check(); err != nil {
		return err
	}
	clientIPs, err := server.ParseTrustedProxies(c.TrustedProxies)
	if err != nil {
		return err
	}
	log, logEnd := server.NewLog(io.err, c.Log == "json", slog.LevelInfo)
	defer logEnd.Close()
	// Before the store opens, because its number of readers depends on GOMAXPROCS.
	if tune != nil {
		tune(log)
	}
	s, blobs, err := storage.openWithFiles(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	s.SetQuotas(store.Quotas{Forms: c.FormLimit, Versions: c.VersionLimit, Bytes: int64(c.StorageLimit)})
	listener, err := net.Listen("tcp", storage.Addr)
	if err != nil {
		return err
	}
	defer listener.Close()
	base, err := baseURL(storage.BaseURL, listener.Addr(), c.TLSCert != "")
	if err != nil {
		return err
	}
	var cluster *limit.Cluster
	if s.MultiNode() {
		cluster = limit.NewCluster()
	}
	streams := live.New(live.Config{Store: s, Encode: api.EventEncoder(base), Limits: live.Limits{PerHolder: c.LivePerGrant, PerAccount: c.LivePerAccount}, Log: log})
	// At once, so that the graceful shutdown does not wait for clients to disconnect.
	context.AfterFunc(ctx, streams.Close)
	deliveries, err := c.deliveries(storage, s, log)
	if err != nil {
		return err
	}
	deliveries.BaseURL = base
	dispatcher := delivery.NewDispatcher(deliveries)
	mails, err := c.outbox(outboxParts{store: s, sealer: deliveries.Sealer, base: base, leases: dispatcher, log: log})
	if err != nil {
		return err
	}
	files, err := c.files(storage, s, blobs, log)
	if err != nil {
		return err
	}
	d := dependencies{files: files, tuning: t, store: s, mails: mails, base: base, clientIPs: clientIPs, cluster: cluster, live: streams, deliveries: deliveries, log: log}
	config, err := c.assemble(ctx, d)
	if err != nil {
		return err
	}
	service, err := server.New(listener, config)
	if err != nil {
		return err
	}
	if err := c.greet(ctx, d, listener.Addr(), io); err != nil {
		return err
	}
	work, stop := context.WithCancel(ctx)
	defer stop()
	defer runFiles(work, stop, files)()
	go runCleanup(work, s, c.RefreshIdle, log)
	go runRetention(work, s, log)
	go runMoves(work, s, log)
	go runAppChanges(work, s, log)
	// Mails stop first: the dispatcher holds the leases.
	defer runDispatcher(work, stop, dispatcher)()
	defer runOutbox(work, stop, mails)()
	addDeliveryMetrics(config.Metrics, dispatcher)
	addMailMetrics(config.Metrics, mails)
	addFileMetrics(config.Metrics, files)
	if cluster != nil {
		go s.Exchange(work, cluster.Pending(), cluster.Outgoing, cluster.Receive)
	}
	if c.AdminAddr != "" {
		if err := serveAdmin(work, c.AdminAddr, config.Metrics, log); err != nil {
			return err
		}
	}
	if tune != nil {
		// Return the memory that was needed only during startup to the system.
		time.AfterFunc(time.Second, debug.FreeOSMemory)
	}
	err = service.Serve(ctx)
	log.Info("stopped")
	return err
}

// actionsPerSubmission is how many form actions (next, back, live calculations) are
// allowed per submission.
const actionsPerSubmission = 5

// dependencies are what serve opens before it builds the handlers.
type dependencies struct {
	tuning    Tuning
	store     *store.Store
	base      string // base URL
	clientIPs server.ClientIPs
	cluster   *limit.Cluster // nil for a single node
	live      *live.Service
	log       *slog.Logger

	deliveries delivery.Config
	mails      *outbox.Service
	files      *file.Service
}

// assemble builds the API and web handlers and the configuration of the server.
func (c serveCommand) assemble(ctx context.Context, d dependencies) (server.Config, error) {
	now := time.Now
	secure := strings.HasPrefix(d.base, "https:")
	explorer, err := d.store.EnsureExplorerApp(ctx, d.base+reference.ExplorerCallbackPath, now())
	if err != nil {
		return server.Config{}, err
	}
	var perGrant, refreshesPerGrant *limit.Limiter[string]
	var perAddress, submissions, uploads, actions *limit.Limiter[netip.Addr]
	if c.RateLimit == "on" {
		submissions = limit.New[netip.Addr](c.RatePerRespondent, time.Minute, now).Join(d.cluster, "respondent")
		uploads = limit.New[netip.Addr](actionsPerSubmission*c.RatePerRespondent, time.Minute, now).Join(d.cluster, "upload")
		actions = limit.New[netip.Addr](actionsPerSubmission*c.RatePerRespondent, time.Minute, now).Join(d.cluster, "press")
		perGrant = limit.New[string](c.RatePerToken, time.Minute, now).Join(d.cluster, "token")
		refreshesPerGrant = limit.New[string](refreshPerGrant, time.Minute, now).Join(d.cluster, "refresh")
		perAddress = limit.New[netip.Addr](c.RatePerAddress, time.Minute, now).Join(d.cluster, "address")
	}
	authorization := oauth.New(d.store, d.base, oauth.Lifetimes{Code: c.CodeTTL, Access: c.AccessTokenTTL, RefreshIdle: c.RefreshIdle}, refreshesPerGrant, now)
	attempts, err := newAttemptLimits(ctx, d.store, d.cluster, now)
	if err != nil {
		return server.Config{}, err
	}
	mails := newMailLimits(d.cluster, now)
	responses := respond.New(respond.Config{Store: d.store, Submissions: submissions, Uploads: uploads, Files: d.files, Now: now})
	webhooks := delivery.New(d.deliveries)
	apiHandler := api.New(api.Config{
		Store: d.store, OAuth: authorization, Respond: responses, Files: d.files, Live: d.live, Webhooks: webhooks, Mails: d.mails, BaseURL: d.base, Log: d.log, Now: now, Tokens: perGrant,
		ClientAttempts: attempts.client,
		Address:        d.clientIPs.ClientIP,
	})
	webHandler, err := web.New(web.Config{
		Store: d.store, OAuth: authorization, Respond: responses, Files: d.files, Live: d.live, Webhooks: webhooks, Hasher: account.NewHasher(runtime.GOMAXPROCS(0), d.tuning.HashCost), BaseURL: d.base, Secure: secure,
		SignupOpen: c.Signup == "open", Security: c.security(), Explorer: explorer, Document: apiHandler.Document, Log: d.log, Now: now, Address: d.clientIPs.ClientIP,
		Actions: actions, SigningKeys: d.store.SigningKeys, KindTemplates: d.tuning.KindTemplates,
		AddressAttempts: attempts.address, AccountAttempts: attempts.account,
		Mails: d.mails, MailsByNetwork: mails.network, MailsByRecipient: mails.recipient, InvitationsByPerson: mails.inviter,
	})
	if err != nil {
		return server.Config{}, err
	}
	return server.Config{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if api.Handles(r) {
				apiHandler.ServeHTTP(w, r)
			} else {
				webHandler.ServeHTTP(w, r)
			}
		}),
		WriteError: func(w http.ResponseWriter, r *http.Request, err error) {
			if api.Handles(r) {
				apiHandler.WriteError(w, r, err)
			} else {
				webHandler.WriteError(w, r, err)
			}
		},
		Ready: d.store.Ready, Log: d.log, Secure: secure, AddressLimiter: perAddress, ClientIP: d.clientIPs.ClientIP, Metrics: server.NewMetrics(),
		CertFile: c.TLSCert, KeyFile: c.TLSKey, Drain: d.tuning.Drain,
		MaxConnections: c.MaxConnections, MaxPerAddress: c.MaxPerAddress, Trusted: d.clientIPs.IsTrusted,
	}, nil
}

// baseURL returns the public URL of the service. It comes from the configuration, never
// from a request, whose headers cannot be trusted.
func baseURL(configured string, listening net.Addr, tls bool) (string, error) {
	if configured != "" {
		u, err := url.Parse(configured)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" || strings.Trim(u.Path, "/") != "" {
			return "", fmt.Errorf("the base URL %q is not valid; use one such as https://forms.example.com", configured)
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

// greet prints the address of the service and, if there is no account yet, the setup
// link.
func (c serveCommand) greet(ctx context.Context, d dependencies, addr net.Addr, io streams) error {
	fmt.Fprintf(io.out, "Formulary is running at %s (%s, listening on %s)\n", d.base, d.store.Engine(), addr)
	hasUsers, err := d.store.HasUsers(ctx)
	if err != nil {
		return err
	}
	if c.Demo {
		if hasUsers {
			fmt.Fprintln(io.out, "The database is not empty, so no demo data was added.")
			return nil
		}
		return demo(ctx, d.store, d.base, io, d.tuning.HashCost)
	}
	if hasUsers {
		return nil
	}
	link, err := d.store.NewSetupLink(ctx, time.Now(), setupTTL)
	if err != nil {
		return err
	}
	fmt.Fprintf(io.out, "\nNo accounts yet. Create the first one with this one-time link:\n%s/setup?token=%s\n\n", d.base, link)
	return nil
}

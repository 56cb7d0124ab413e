// Package server is the HTTP server: listener, TLS and connection limits; middleware with
// rate limit, request ID, log, metrics and panic recovery; and graceful shutdown.
package server

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync/atomic"
	"time"

	"formulary/internal/limit"
)

// Config configures a Server.
type Config struct {
	Handler http.Handler
	// WriteError writes an error as JSON or as a page, depending on the path.
	WriteError func(http.ResponseWriter, *http.Request, error)
	// Ready returns an error while requests cannot be served. /readyz calls it.
	Ready func(context.Context) error
	Log   *slog.Logger
	// Secure is set if clients reach the service over HTTPS, here or at a proxy.
	Secure bool
	// AddressLimiter limits the requests per client address; nil: no limit.
	AddressLimiter *limit.Limiter[netip.Addr]
	// ClientIP returns the client address of a request.
	ClientIP func(*http.Request) netip.Addr
	Metrics  *Metrics // nil: no metrics

	// MaxConnections limits the open connections; 0: derived from the limit of open files.
	MaxConnections int
	// MaxPerAddress limits the open connections per IPv4 address or IPv6 /64; 0: a quarter
	// of MaxConnections.
	MaxPerAddress int
	// Trusted reports whether an address is a trusted proxy, to which MaxPerAddress does
	// not apply; nil: there are no trusted proxies.
	Trusted func(netip.Addr) bool

	CertFile, KeyFile string // PEM files; empty: no TLS

	// Drain is how long the server still answers on open connections after it has stopped
	// listening. Each response tells its client to close the connection.
	Drain time.Duration
}

// Server serves HTTP on one listener.
type Server struct {
	Config
	http        *http.Server
	connections *connections
	stopping    atomic.Bool

	certificate *certificate // nil without TLS
}

// Limits of one connection. Downloads extend their write deadline while they make progress.
const (
	readHeaderTimeout = 10 * time.Second
	readTimeout       = 30 * time.Second // header and body
	writeTimeout      = 120 * time.Second
	idleTimeout       = 120 * time.Second
	maxHeaderBytes    = 32 << 10
	shutdownTimeout   = 30 * time.Second

	// DefaultDrain is long enough for several checks of a load balancer, even if the
	// machine is busy.
	DefaultDrain = time.Second
)

// New returns a server. It answers requests once Serve is called.
func New(listener net.Listener, c Config) (*Server, error) {
	counts := &connectionCounts{}
	if c.Metrics != nil {
		counts = &c.Metrics.connections
	}
	connections := newConnections(listener, c, counts)
	s := &Server{Config: c, connections: connections}
	s.http = &http.Server{
		Handler:           s.middleware(c.Handler),
		ReadHeaderTimeout: readHeaderTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ConnState:         connections.trackState,
		ConnContext:       withConn,
		// Debug level, because clients can cause these errors, such as failed TLS handshakes.
		// Accept errors are logged by connections.
		ErrorLog: slog.NewLogLogger(c.Log.Handler(), slog.LevelDebug),
	}
	if c.CertFile != "" {
		var err error
		if s.certificate, err = newCertificate(c.CertFile, c.KeyFile, c.Log, time.Now); err != nil {
			return nil, err
		}
		s.http.TLSConfig = &tls.Config{GetCertificate: s.certificate.get, MinVersion: tls.VersionTLS12}
	}
	return s, nil
}

// Serve answers requests until ctx ends. Then it stops listening, waits for Drain, and
// finishes the running requests within shutdownTimeout. While it drains, every response
// has "Connection: close", so that no client sends a request on a connection that is
// about to be closed.
func (s *Server) Serve(ctx context.Context) error {
	if s.certificate != nil {
		// Reload until Serve returns: handshakes continue while the server drains.
		reloadCtx, stopReload := context.WithCancel(context.WithoutCancel(ctx))
		defer stopReload()
		go s.certificate.reloadOnHangup(reloadCtx)
	}
	serveErr := make(chan error, 1)
	go func() {
		if s.CertFile != "" {
			serveErr <- s.http.ServeTLS(s.connections, "", "")
		} else {
			serveErr <- s.http.Serve(s.connections)
		}
	}()
	select {
	case err := <-serveErr:
		return err
	case <-ctx.Done():
	}
	s.connections.closeWhenQuiet()
	// Serve returns an error because the listener was closed; that is expected.
	<-serveErr
	// Only now, because clients open new connections once theirs are closed.
	s.stopping.Store(true)
	time.Sleep(s.Drain)
	shutdownCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
	defer cancel()
	if err := s.http.Shutdown(shutdownCtx); err != nil {
		return errors.Join(err, s.http.Close())
	}
	return nil
}

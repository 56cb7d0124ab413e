// Package server listens, and puts around whatever it serves what every request
// needs: limits, an id, a log line, metrics, recovery, and an end that fails
// nobody.
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

// Config is what a server is made of.
type Config struct {
	Handler http.Handler
	// Fail writes an error in the manner of the floor that the path belongs to.
	Fail func(http.ResponseWriter, *http.Request, error)
	// Ready says whether requests can be answered: /readyz asks it.
	Ready func(context.Context) error
	Log   *slog.Logger
	// Secure says that people reach the service by https.
	Secure bool
	// Addresses limits the requests of each address; nil: no limit.
	Addresses *limit.Limiter[netip.Addr]
	Address   func(*http.Request) netip.Addr
	Metrics   *Metrics

	// MaxConnections bounds the open connections; zero: as many as open files allow.
	MaxConnections int
	// MaxPerAddress bounds those of one address (IPv6: of one /64); zero: a quarter of
	// all.
	MaxPerAddress int
	// Trusted says whether an address is a trusted proxy, which has no bound of its
	// own; nil: none is.
	Trusted func(netip.Addr) bool

	CertFile, KeyFile string

	// Drain is how long open connections get, at the end, to learn that they should
	// close.
	Drain time.Duration
}

// Server is a running service.
type Server struct {
	Config
	http     *http.Server
	listener net.Listener
	stopping atomic.Bool

	certificate *certificate // nil without TLS
}

// Limits of one connection. Downloads extend their own write deadline as they go.
const (
	readHeaderTimeout = 10 * time.Second
	readTimeout       = 30 * time.Second // header and body
	writeTimeout      = 120 * time.Second
	idleTimeout       = 120 * time.Second
	maxHeader         = 32 << 10
	stopLimit         = 30 * time.Second

	// DefaultDrain covers several checks of a load balancer, also on a busy machine.
	DefaultDrain = time.Second
)

// New makes a server; requests are answered from Serve on.
func New(listener net.Listener, c Config) (*Server, error) {
	counts := &connectionCounts{}
	if c.Metrics != nil {
		counts = &c.Metrics.connections
	}
	bounded := newConnections(listener, c, counts)
	s := &Server{Config: c, listener: bounded}
	s.http = &http.Server{
		Handler:           s.middleware(c.Handler),
		ReadHeaderTimeout: readHeaderTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ConnState:         bounded.state,
		// TLS handshakes that fail, and the like: anybody can cause those. Accept errors
		// are logged by connections.
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

// Serve answers requests until ctx ends, then finishes what is running. While
// it drains, every answer tells its connection to close, so that no client
// sends into a connection that is about to go.
func (s *Server) Serve(ctx context.Context) error {
	if s.certificate != nil {
		served, end := context.WithCancel(context.WithoutCancel(ctx))
		defer end()
		go s.certificate.reloadOnHangup(served)
	}
	failed := make(chan error, 1)
	go func() {
		if s.CertFile != "" {
			failed <- s.http.ServeTLS(s.listener, "", "")
		} else {
			failed <- s.http.Serve(s.listener)
		}
	}()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	s.stopping.Store(true)
	s.listener.Close()
	// http.Server calls a listener that was closed under it an error.
	<-failed
	time.Sleep(s.Drain)
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopLimit)
	defer cancel()
	if err := s.http.Shutdown(stop); err != nil {
		return errors.Join(err, s.http.Close())
	}
	return nil
}

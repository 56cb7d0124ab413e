// Package server listens, and puts around whatever it serves what every request
// needs: limits, an id, a log line, metrics, recovery, and an end that fails
// nobody.
package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
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

	CertFile, KeyFile string
}

// Server is a running service.
type Server struct {
	Config
	http     *http.Server
	listener net.Listener
	stopping atomic.Bool
	lines    *lines // where Log ends, if it writes lines
}

const (
	// readLimit is for all of a request. With a limit of its own for the header,
	// net/http would set the clock once more for each.
	readLimit  = 30 * time.Second
	writeLimit = 120 * time.Second
	idleLimit  = 120 * time.Second
	maxHeader  = 32 << 10

	// drain is how long open connections get to learn that they should close.
	drain     = 300 * time.Millisecond
	stopLimit = 30 * time.Second
)

// New makes a server; requests are answered from Serve on.
func New(listener net.Listener, c Config) (*Server, error) {
	s := &Server{Config: c, listener: listener, lines: linesOf(c.Log)}
	s.http = &http.Server{
		Handler:        s.around(c.Handler),
		ReadTimeout:    readLimit,
		WriteTimeout:   writeLimit,
		IdleTimeout:    idleLimit,
		MaxHeaderBytes: maxHeader,
		ErrorLog:       slog.NewLogLogger(c.Log.Handler(), slog.LevelDebug),
	}
	if c.CertFile != "" {
		cert, err := tls.LoadX509KeyPair(c.CertFile, c.KeyFile)
		if err != nil {
			return nil, fmt.Errorf("read the TLS certificate: %w", err)
		}
		s.http.TLSConfig = &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}
	}
	return s, nil
}

// Serve answers requests until ctx ends, then finishes what is running. While
// it drains, every answer tells its connection to close, so that no client
// sends into a connection that is about to go.
func (s *Server) Serve(ctx context.Context) error {
	connections := newDeadlines(s.listener)
	served, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	go connections.watch(served)
	failed := make(chan error, 1)
	go func() {
		if s.CertFile != "" {
			failed <- s.http.ServeTLS(connections, "", "")
		} else {
			failed <- s.http.Serve(whole{connections})
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
	time.Sleep(drain)
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopLimit)
	defer cancel()
	if err := s.http.Shutdown(stop); err != nil {
		return errors.Join(err, s.http.Close())
	}
	return nil
}

// Package mailtest runs a real SMTP server for tests, in a process of its own.
package mailtest

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// variable tells a test binary that it is the server.
const variable = "FORMULARY_TEST_SMTP_SERVER"

// Main runs the tests of a package. TestMain calls it.
func Main(m *testing.M) {
	ServeIfAsked()
	os.Exit(m.Run())
}

// ServeIfAsked runs the server if this process is one, and does not return then. It is for
// packages that cannot use Main.
func ServeIfAsked() {
	text := os.Getenv(variable)
	if text == "" {
		return
	}
	var c config
	err := json.Unmarshal([]byte(text), &c)
	if err == nil {
		err = serve(c)
	}
	fmt.Fprintln(os.Stderr, "SMTP server:", err)
	os.Exit(1)
}

// Received is a mail that the server has accepted.
type Received struct {
	From, To   string
	ID         string // Message-ID
	Content    string
	UTF8       bool // the client asked for SMTPUTF8
	Unanswered bool // the connection was cut before the answer
}

// Server is a running server.
type Server struct {
	t       testing.TB
	config  config
	process *exec.Cmd
	ended   chan struct{}
	Address string

	mu       sync.Mutex
	received []Received
	changed  chan struct{}
}

// Option changes how a server runs.
type Option func(*config)

// WithoutTLS offers no encryption.
func WithoutTLS(c *config) { c.Plain = true }

// WithImplicitTLS encrypts from the start.
func WithImplicitTLS(c *config) { c.Implicit = true }

// WithoutContent does not report the content of mails.
func WithoutContent(c *config) { c.DiscardText = true }

// WithoutUTF8 accepts only ASCII in addresses.
func WithoutUTF8(c *config) { c.WithoutUTF8 = true }

// WithCertificate is for servers that use TLS.
func WithCertificate(pair Certificate) Option {
	return func(c *config) { c.CertFile, c.KeyFile = pair.CertFile, pair.KeyFile }
}

// WithUser requires authentication.
func WithUser(user, password string) Option {
	return func(c *config) { c.User, c.Password = user, password }
}

// WithGreeting refuses every connection with a code.
func WithGreeting(code int) Option { return func(c *config) { c.Greeting = code } }

// Start runs a server until the test ends.
func Start(t testing.TB, options ...Option) *Server {
	t.Helper()
	s := &Server{t: t, config: config{Address: "127.0.0.1:0"}, changed: make(chan struct{})}
	for _, option := range options {
		option(&s.config)
	}
	s.Restart()
	t.Cleanup(s.Stop)
	return s
}

// Restart runs a server that was stopped, at the same address and with other options.
func (s *Server) Restart(options ...Option) {
	s.t.Helper()
	for _, option := range options {
		option(&s.config)
	}
	text, err := json.Marshal(s.config)
	if err != nil {
		s.t.Fatal(err)
	}
	program, err := os.Executable()
	if err != nil {
		s.t.Fatal(err)
	}
	s.process = exec.Command(program)
	s.process.Env = append(os.Environ(), variable+"="+string(text))
	s.process.Stderr = os.Stderr
	// The server ends when the test does, whatever happens to it.
	if _, err := s.process.StdinPipe(); err != nil {
		s.t.Fatal(err)
	}
	out, err := s.process.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := s.process.Start(); err != nil {
		s.t.Fatal(err)
	}
	ready := make(chan string, 1)
	s.ended = make(chan struct{})
	go func() {
		defer close(s.ended)
		decoder := json.NewDecoder(bufio.NewReader(out))
		for {
			var r report
			if decoder.Decode(&r) != nil {
				close(ready)
				return
			}
			if r.Received == nil {
				ready <- r.Address
				continue
			}
			s.mu.Lock()
			s.received = append(s.received, *r.Received)
			close(s.changed)
			s.changed = make(chan struct{})
			s.mu.Unlock()
		}
	}()
	address, ok := <-ready
	if !ok {
		s.t.Fatal("the SMTP server did not start")
	}
	s.Address, s.config.Address = address, address
}

// Stop kills the server.
func (s *Server) Stop() {
	if s.process == nil {
		return
	}
	s.process.Process.Kill()
	<-s.ended
	s.process.Wait()
	s.process = nil
}

// Received returns the mails that the server has accepted so far.
func (s *Server) Received() []Received {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Received(nil), s.received...)
}

// maxWait is how long tests wait for something that has to happen.
const maxWait = 60 * time.Second

// Wait waits until the condition holds for the mails that the server has accepted.
func (s *Server) Wait(until func([]Received) bool) []Received {
	s.t.Helper()
	deadline := time.After(maxWait)
	for {
		s.mu.Lock()
		list, changed := append([]Received(nil), s.received...), s.changed
		s.mu.Unlock()
		if until(list) {
			return list
		}
		select {
		case <-changed:
		case <-deadline:
			s.t.Fatalf("the SMTP server has received %d mails", len(list))
		}
	}
}

// WaitFor waits for a number of mails.
func (s *Server) WaitFor(n int) []Received {
	s.t.Helper()
	return s.Wait(func(list []Received) bool { return len(list) >= n })
}

// Certificate is a self-signed certificate in files.
type Certificate struct {
	CertFile, KeyFile string
	Pool              *x509.CertPool // that trusts it
}

// NewCertificate creates a certificate for the name localhost and the address 127.0.0.1.
func NewCertificate(t testing.TB) Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "localhost"}, DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	c := Certificate{filepath.Join(folder, "cert.pem"), filepath.Join(folder, "key.pem"), x509.NewCertPool()}
	for name, block := range map[string]*pem.Block{c.CertFile: {Type: "CERTIFICATE", Bytes: der}, c.KeyFile: {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(name, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	c.Pool.AddCert(parsed)
	return c
}

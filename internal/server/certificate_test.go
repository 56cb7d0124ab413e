package server

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// tlsServer is a running TLS server whose certificate files, clock and log the test
// controls.
type tlsServer struct {
	t     *testing.T
	dir   string
	addr  string
	clock atomic.Int64 // seconds
	log   safeBuffer
}

// safeBuffer is a buffer for concurrent use.
type safeBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *safeBuffer) count(part string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strings.Count(b.text.String(), part)
}

func startTLS(t *testing.T) *tlsServer {
	t.Helper()
	f := &tlsServer{t: t, dir: t.TempDir()}
	f.writeKeyPair("cert.pem", "key.pem", 1)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f.addr = listener.Addr().String()
	var addresses ClientIPs
	s, err := New(listener, Config{
		Handler: http.NotFoundHandler(), Log: slog.New(slog.NewTextHandler(&f.log, nil)), ClientIP: addresses.ClientIP, Metrics: NewMetrics(),
		Ready:      func(context.Context) error { return nil },
		WriteError: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(500) },
		CertFile:   f.path("cert.pem"), KeyFile: f.path("key.pem"),
	})
	if err != nil {
		t.Fatal(err)
	}
	s.certificate.now = func() time.Time { return time.Unix(f.clock.Load(), 0) }
	s.certificate.checkedAt = s.certificate.now()
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	return f
}

func (f *tlsServer) path(name string) string { return filepath.Join(f.dir, name) }

// writeKeyPair writes a new certificate with the given serial number, and its key.
func (f *tlsServer) writeKeyPair(certName, keyName string, serial int64) {
	f.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		f.t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: "localhost"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		f.t.Fatal(err)
	}
	raw, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		f.t.Fatal(err)
	}
	f.writeFile(certName, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}))
	f.writeFile(keyName, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: raw}))
}

func (f *tlsServer) writeFile(name string, text []byte) {
	f.t.Helper()
	if err := os.MkdirAll(filepath.Dir(f.path(name)), 0o700); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(f.path(name), text, 0o600); err != nil {
		f.t.Fatal(err)
	}
}

func (f *tlsServer) rename(from, to string) {
	f.t.Helper()
	if err := os.Rename(f.path(from), f.path(to)); err != nil {
		f.t.Fatal(err)
	}
}

// link atomically replaces the file name by a symlink to target.
func (f *tlsServer) link(target, name string) {
	f.t.Helper()
	if err := os.Symlink(target, f.path("new link")); err != nil {
		f.t.Fatal(err)
	}
	f.rename("new link", name)
}

// serial connects to the server and returns the serial number of its certificate.
func (f *tlsServer) serial() int64 {
	f.t.Helper()
	conn, err := tls.Dial("tcp", f.addr, &tls.Config{InsecureSkipVerify: true})
	if err != nil {
		f.t.Fatal(err)
	}
	defer conn.Close()
	return conn.ConnectionState().PeerCertificates[0].SerialNumber.Int64()
}

func (f *tlsServer) expectSerial(want int64, step string) {
	f.t.Helper()
	if got := f.serial(); got != want {
		f.t.Errorf("%s: certificate has serial %d, want %d", step, got, want)
	}
}

// passCheckInterval advances the clock so that the next handshake checks the files.
func (f *tlsServer) passCheckInterval() { f.clock.Add(int64(certificateCheckInterval / time.Second)) }

// TestCertificateReload shows that new files are used, whether they were renamed into
// place, overwritten or linked, and only after the check interval.
func TestCertificateReload(t *testing.T) {
	f := startTLS(t)
	f.expectSerial(1, "start")

	f.writeKeyPair("next cert", "next key", 2)
	f.rename("next cert", "cert.pem")
	f.rename("next key", "key.pem")
	f.expectSerial(1, "renamed, before the next check")
	f.passCheckInterval()
	f.expectSerial(2, "renamed")

	f.writeKeyPair("cert.pem", "key.pem", 3)
	f.passCheckInterval()
	f.expectSerial(3, "overwritten")

	// certbot: live/ has symlinks to the files in archive/.
	f.writeKeyPair("archive/cert4", "archive/key4", 4)
	f.link("archive/cert4", "cert.pem")
	f.link("archive/key4", "key.pem")
	f.passCheckInterval()
	f.expectSerial(4, "new symlinks")
	f.writeKeyPair("archive/cert5", "archive/key5", 5)
	f.link("archive/cert5", "cert.pem")
	f.link("archive/key5", "key.pem")
	f.passCheckInterval()
	f.expectSerial(5, "changed symlinks")
	if n := f.log.count("TLS certificate reloaded"); n != 4 {
		t.Errorf("the log has %d reloads, want 4", n)
	}
	f.passCheckInterval()
	f.expectSerial(5, "unchanged")
	if n := f.log.count("level=WARN"); n != 0 {
		t.Errorf("the log has %d warnings, want 0", n)
	}
}

// TestInvalidCertificateKeepsOldOne shows that the old certificate stays in use while the
// new files are incomplete, and that each unusable pair is logged once.
func TestInvalidCertificateKeepsOldOne(t *testing.T) {
	f := startTLS(t)
	warnings := 0
	expectOldCertificate := func(step string) {
		t.Helper()
		warnings++
		// Two checks, one warning.
		for range 2 {
			f.passCheckInterval()
			f.expectSerial(1, step)
		}
		if n := f.log.count("could not reload TLS certificate"); n != warnings {
			t.Errorf("%s: the log has %d warnings, want %d", step, n, warnings)
		}
	}
	f.writeKeyPair("next cert", "next key", 2)
	cert, err := os.ReadFile(f.path("next cert"))
	if err != nil {
		t.Fatal(err)
	}
	f.writeFile("cert.pem", cert[:len(cert)/2])
	expectOldCertificate("half a certificate")
	f.writeFile("cert.pem", nil)
	expectOldCertificate("an empty certificate")
	f.writeFile("cert.pem", cert)
	expectOldCertificate("the key of another certificate")
	if err := os.Remove(f.path("key.pem")); err != nil {
		t.Fatal(err)
	}
	expectOldCertificate("a missing key")
	if err := os.Remove(f.path("cert.pem")); err != nil {
		t.Fatal(err)
	}
	expectOldCertificate("missing files")
	f.writeFile("cert.pem", cert)
	f.rename("next key", "key.pem")
	f.passCheckInterval()
	f.expectSerial(2, "complete pair")
}

// TestCertificateReloadsOnHangup shows that SIGHUP reloads the files at once.
func TestCertificateReloadsOnHangup(t *testing.T) {
	f := startTLS(t)
	process, err := os.FindProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	f.expectSerial(1, "start")
	// Without a handler, SIGHUP would end this process. The server may not have
	// registered its own handler yet.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	f.writeKeyPair("next cert", "next key", 2)
	f.rename("next cert", "cert.pem")
	f.rename("next key", "key.pem")
	for deadline := time.Now().Add(20 * time.Second); f.serial() != 2; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the old certificate is still in use")
		}
		if err := process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
	}
}

// TestCertificateRequiredAtStart shows that New fails if the files cannot be read.
func TestCertificateRequiredAtStart(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	_, err = New(listener, Config{Log: slog.New(slog.DiscardHandler), Metrics: NewMetrics(), CertFile: "missing", KeyFile: "missing"})
	if err == nil || !strings.Contains(err.Error(), "TLS certificate") {
		t.Errorf("missing files: got error %v", err)
	}
}

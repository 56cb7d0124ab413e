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

// tlsServer is a running server with a certificate, a clock and a log of its own.
type tlsServer struct {
	t     *testing.T
	dir   string
	addr  string
	clock atomic.Int64 // seconds
	log   safeBuffer
}

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
	f.write("cert.pem", "key.pem", 1)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f.addr = listener.Addr().String()
	var addresses ClientIPs
	s, err := New(listener, Config{
		Handler: http.NotFoundHandler(), Log: slog.New(slog.NewTextHandler(&f.log, nil)), Address: addresses.ClientIP, Metrics: NewMetrics(),
		Ready:    func(context.Context) error { return nil },
		Fail:     func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(500) },
		CertFile: f.path("cert.pem"), KeyFile: f.path("key.pem"),
	})
	if err != nil {
		t.Fatal(err)
	}
	s.certificate.now = func() time.Time { return time.Unix(f.clock.Load(), 0) }
	s.certificate.checked = s.certificate.now()
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

// write makes a certificate with a serial number, and its key.
func (f *tlsServer) write(certName, keyName string, serial int64) {
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
	f.put(certName, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}))
	f.put(keyName, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: raw}))
}

func (f *tlsServer) put(name string, text []byte) {
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

func (f *tlsServer) link(to, name string) {
	f.t.Helper()
	if err := os.Symlink(to, f.path("new link")); err != nil {
		f.t.Fatal(err)
	}
	f.rename("new link", name)
}

// serial connects and returns the serial number of the certificate that it got.
func (f *tlsServer) serial() int64 {
	f.t.Helper()
	conn, err := tls.Dial("tcp", f.addr, &tls.Config{InsecureSkipVerify: true})
	if err != nil {
		f.t.Fatal(err)
	}
	defer conn.Close()
	return conn.ConnectionState().PeerCertificates[0].SerialNumber.Int64()
}

func (f *tlsServer) want(serial int64, after string) {
	f.t.Helper()
	if got := f.serial(); got != serial {
		f.t.Errorf("after %s the certificate is number %d, not %d", after, got, serial)
	}
}

// later lets the time pass after which the files are looked at again.
func (f *tlsServer) later() { f.clock.Add(int64(certificateCheck / time.Second)) }

func TestCertificateFollowsItsFiles(t *testing.T) {
	f := startTLS(t)
	f.want(1, "the start")

	f.write("next cert", "next key", 2)
	f.rename("next cert", "cert.pem")
	f.rename("next key", "key.pem")
	f.want(1, "renaming, before the files are looked at")
	f.later()
	f.want(2, "renaming")

	f.write("cert.pem", "key.pem", 3)
	f.later()
	f.want(3, "writing over the files")

	// certbot's way: live/ has links to what archive/ keeps.
	f.write("archive/cert4", "archive/key4", 4)
	f.link("archive/cert4", "cert.pem")
	f.link("archive/key4", "key.pem")
	f.later()
	f.want(4, "links")
	f.write("archive/cert5", "archive/key5", 5)
	f.link("archive/cert5", "cert.pem")
	f.link("archive/key5", "key.pem")
	f.later()
	f.want(5, "links that lead elsewhere")
	if n := f.log.count("TLS certificate reloaded"); n != 4 {
		t.Errorf("the log tells of %d reloads, not 4", n)
	}
	f.later()
	f.want(5, "nothing")
	if n := f.log.count("level=WARN"); n != 0 {
		t.Errorf("%d warnings", n)
	}
}

func TestBrokenCertificateLeavesTheOldOne(t *testing.T) {
	f := startTLS(t)
	refused := 0
	keeps := func(after string) {
		t.Helper()
		refused++
		// Looked at twice, warned about once.
		for range 2 {
			f.later()
			f.want(1, after)
		}
		if n := f.log.count("could not reload TLS certificate"); n != refused {
			t.Errorf("after %s the log has %d warnings, not %d", after, n, refused)
		}
	}
	f.write("next cert", "next key", 2)
	whole, err := os.ReadFile(f.path("next cert"))
	if err != nil {
		t.Fatal(err)
	}
	f.put("cert.pem", whole[:len(whole)/2])
	keeps("half a certificate")
	f.put("cert.pem", nil)
	keeps("an empty certificate")
	f.put("cert.pem", whole)
	keeps("a certificate with the key of another")
	if err := os.Remove(f.path("key.pem")); err != nil {
		t.Fatal(err)
	}
	keeps("a missing key")
	if err := os.Remove(f.path("cert.pem")); err != nil {
		t.Fatal(err)
	}
	keeps("missing files")
	f.put("cert.pem", whole)
	f.rename("next key", "key.pem")
	f.later()
	f.want(2, "the whole pair")
}

func TestCertificateReloadsOnHangup(t *testing.T) {
	f := startTLS(t)
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	f.want(1, "the start") // it serves, and so it listens to signals soon
	// The default of SIGHUP would end this process.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	f.write("next cert", "next key", 2)
	f.rename("next cert", "cert.pem")
	f.rename("next key", "key.pem")
	for deadline := time.Now().Add(20 * time.Second); f.serial() != 2; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the old certificate is still in use")
		}
		if err := self.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
	}
}

func TestCertificateMustBeGoodAtStart(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	_, err = New(listener, Config{Log: slog.New(slog.DiscardHandler), Metrics: NewMetrics(), CertFile: "missing", KeyFile: "missing"})
	if err == nil || !strings.Contains(err.Error(), "TLS certificate") {
		t.Errorf("without its files: %v", err)
	}
}

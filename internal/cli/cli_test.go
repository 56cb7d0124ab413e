package cli_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"formulary/internal/cli"
	"formulary/internal/cli/clitest"
	"formulary/internal/store/storetest"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"formulary": cli.Main})
}

// The scripts in testdata run the real program as people do, on each engine.
func TestScripts(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, place storetest.Place) {
		testscript.Run(t, testscript.Params{
			Dir: "testdata",
			Setup: func(env *testscript.Env) error {
				// Each script has a place of its own.
				own := storetest.SQLite(t)
				if place.Engine == "postgres" {
					own = storetest.Postgres(t)
				}
				env.Setenv("FORMULARY_DATA", own.Data)
				env.Setenv("FORMULARY_DATABASE_URL", own.URL)
				other := storetest.SQLite(t)
				if place.Engine == "postgres" {
					other = storetest.Postgres(t)
				}
				env.Setenv("OTHER_DATA", other.Data)
				env.Setenv("OTHER_URL", other.URL)
				env.Setenv("ADDR", freeAddress(t))
				env.Setenv("ADMIN", freeAddress(t))
				return nil
			},
			Cmds: map[string]func(*testscript.TestScript, bool, []string){"waitfor": waitFor, "submit": submit},
		})
	})
}

// freeAddress is one that nobody listens on.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// submit ADDRESS PATH JSON sends answers.
func submit(ts *testscript.TestScript, neg bool, args []string) {
	res, err := http.Post("http://"+args[0]+args[1], "application/json", strings.NewReader(args[2]))
	if err != nil {
		ts.Fatalf("submit: %v", err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusCreated {
		ts.Fatalf("submit: %d", res.StatusCode)
	}
}

// waitFor ADDRESS PATH waits until a server answers.
func waitFor(ts *testscript.TestScript, neg bool, args []string) {
	deadline := time.Now().Add(20 * time.Second)
	for time.Now().Before(deadline) {
		res, err := http.Get("http://" + args[0] + args[1])
		if err == nil {
			res.Body.Close()
			if res.StatusCode == 200 {
				return
			}
		}
		time.Sleep(20 * time.Millisecond)
	}
	ts.Fatalf("nothing at %s", args[0])
}

func TestTLS(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "localhost"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, kind string, content []byte) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: content}), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	certFile, keyFile := write("cert.pem", "CERTIFICATE", cert), write("key.pem", "EC PRIVATE KEY", raw)
	s := clitest.StartTLS(t, storetest.SQLite(t), "--tls-cert="+certFile, "--tls-key="+keyFile)
	pool := x509.NewCertPool()
	pool.AddCert(mustParse(t, cert))
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}
	res, err := client.Get(s.URL + "/signin")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != 200 || res.Header.Get("Strict-Transport-Security") == "" || !strings.Contains(string(text), "Sign in") {
		t.Errorf("over https: %d %v", res.StatusCode, err)
	}
}

func mustParse(t *testing.T, der []byte) *x509.Certificate {
	t.Helper()
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}

// Limits per token are announced in every answer and hold.
func TestTokenLimit(t *testing.T) {
	t.Parallel()
	s := clitest.Start(t, storetest.SQLite(t), "--rate-per-token=5")
	s.AddUser("ada@example.com")
	app := s.AddApp("ada@example.com", "https://x.example/")
	one, two := s.Token("ada@example.com", app, "forms:read"), s.Token("ada@example.com", app, "forms:read")
	for range 5 {
		a := s.Call("GET", "/api/v1/me", one.Access, "")
		if a.StatusCode != 200 || a.Header.Get("RateLimit-Policy") != `"token";q=5;w=60` {
			t.Errorf("%d %v", a.StatusCode, a.Header)
		}
	}
	if a := s.Call("GET", "/api/v1/me", one.Access, ""); a.Code() != 429001 || a.Header.Get("Retry-After") == "" {
		t.Errorf("the sixth: %s", a.Text)
	}
	if a := s.Call("GET", "/api/v1/me", two.Access, ""); a.StatusCode != 200 {
		t.Errorf("another token: %s", a.Text)
	}
}

// Pages of other sites can read that they ask too often, and may still ask whether they
// may ask.
func TestAddressLimit(t *testing.T) {
	t.Parallel()
	s := clitest.Start(t, storetest.SQLite(t), "--rate-per-address=3")
	var last clitest.Answer
	for range 4 {
		last = s.Call("GET", "/api/v1/me", "", "", "Origin: https://shop.example")
	}
	if last.Code() != 429001 || last.Header.Get("Retry-After") == "" || last.Header.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("the fourth: %d %v", last.StatusCode, last.Header)
	}
	if p := s.Browser().Get("/signin"); p.StatusCode != 429 || p.Header.Get("X-Frame-Options") != "DENY" || p.Header.Get("Referrer-Policy") != "no-referrer" {
		t.Errorf("a page: %d %v", p.StatusCode, p.Header)
	}
	r, err := http.NewRequest("OPTIONS", s.URL+"/api/oauth2/token", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Origin", "https://shop.example")
	r.Header.Set("Access-Control-Request-Method", "POST")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != 204 || res.Header.Get("Access-Control-Allow-Origin") != "*" || res.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("asked first: %d %v", res.StatusCode, res.Header)
	}
}

// The runtime's settings belong to the process: serving in a test changes none.
func TestServeLeavesRuntimeAlone(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	clitest.Start(t, storetest.SQLite(t)).Stop()
	if after := runtime.GOMAXPROCS(0); after != before {
		t.Errorf("GOMAXPROCS was %d and is %d", before, after)
	}
}

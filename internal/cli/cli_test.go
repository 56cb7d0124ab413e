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
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"formulary/internal/cli"
	"formulary/internal/cli/clitest"
	"formulary/internal/mail/mailtest"
	"formulary/internal/store/storetest"
)

func TestMain(m *testing.M) {
	mailtest.ServeIfAsked()
	testscript.Main(m, map[string]func(){"formulary": cli.Main})
}

// TestScripts runs the scripts in testdata with the real binary, on each engine.
func TestScripts(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, storage storetest.Storage) {
		testscript.Run(t, testscript.Params{
			Dir: "testdata",
			Setup: func(env *testscript.Env) error {
				// Each script gets two empty databases.
				main := storetest.SQLite(t)
				if storage.Engine == "postgres" {
					main = storetest.Postgres(t)
				}
				env.Setenv("FORMULARY_DATA", main.Data)
				env.Setenv("FORMULARY_DATABASE_URL", main.URL)
				other := storetest.SQLite(t)
				if storage.Engine == "postgres" {
					other = storetest.Postgres(t)
				}
				env.Setenv("OTHER_DATA", other.Data)
				env.Setenv("OTHER_URL", other.URL)
				address, admin := freeAddress(t), freeAddress(t)
				for admin == address {
					admin = freeAddress(t)
				}
				env.Setenv("ADDR", address)
				env.Setenv("ADMIN", admin)
				return nil
			},
			Cmds: map[string]func(*testscript.TestScript, bool, []string){"waitfor": waitFor, "submit": submit, "waitlines": waitLines, "capture": capture},
		})
	})
}

// freeAddress returns an address with an unused port.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// submit implements "submit ADDRESS PATH JSON", which submits a response.
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

// capture implements "capture NAME PATTERN", which sets a variable to the first match in the last
// output.
func capture(ts *testscript.TestScript, neg bool, args []string) {
	found := regexp.MustCompile(args[1]).FindString(ts.ReadFile("stdout"))
	if found == "" {
		ts.Fatalf("%s is not in the output", args[1])
	}
	ts.Setenv(args[0], found)
}

// waitFor implements "waitfor ADDRESS PATH", which waits until the server answers with
// 200.
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

// waitLines implements "waitlines FILE N", which waits until a file has N lines.
func waitLines(ts *testscript.TestScript, neg bool, args []string) {
	want, err := strconv.Atoi(args[1])
	ts.Check(err)
	var got int
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		content, err := os.ReadFile(ts.MkAbs(args[0]))
		if got = strings.Count(string(content), "\n"); err == nil && got == want {
			return
		}
	}
	ts.Fatalf("%s has %d lines, want %d", args[0], got, want)
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
	pool.AddCert(mustParseCert(t, cert))
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}
	res, err := client.Get(s.URL + "/signin")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != 200 {
		t.Errorf("over https: %d %v", res.StatusCode, err)
	}
	if res.Header.Get("Strict-Transport-Security") == "" {
		t.Error("no Strict-Transport-Security header")
	}
	if !strings.Contains(string(text), "Sign in") {
		t.Errorf("not the sign-in page: %s", text)
	}
}

func mustParseCert(t *testing.T, der []byte) *x509.Certificate {
	t.Helper()
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}

// TestTokenLimit: the rate limit of a token is announced in every response and
// enforced.
func TestTokenLimit(t *testing.T) {
	t.Parallel()
	s := clitest.Start(t, storetest.MigratedSQLite(t), "--rate-per-token=5")
	s.AddUser("ada@example.com")
	app := s.AddApp("ada@example.com", "https://x.example/")
	first, second := s.Token("ada@example.com", app, "forms:read"), s.Token("ada@example.com", app, "forms:read")
	for range 5 {
		a := s.Call("GET", "/api/v1/me", first.Access, "")
		if a.StatusCode != 200 || a.Header.Get("RateLimit-Policy") != `"token";q=5;w=60` {
			t.Errorf("%d %v", a.StatusCode, a.Header)
		}
	}
	if a := s.Call("GET", "/api/v1/me", first.Access, ""); a.Code() != 429001 || a.Header.Get("Retry-After") == "" {
		t.Errorf("the sixth: %s", a.Text)
	}
	if a := s.Call("GET", "/api/v1/me", second.Access, ""); a.StatusCode != 200 {
		t.Errorf("another token: %s", a.Text)
	}
}

// TestAddressLimit: pages of other origins can read the 429 of the address limit, and
// preflight requests are not limited.
func TestAddressLimit(t *testing.T) {
	t.Parallel()
	s := clitest.Start(t, storetest.MigratedSQLite(t), "--rate-per-address=3")
	var last clitest.Response
	for range 4 {
		last = s.Call("GET", "/api/v1/me", "", "", "Origin: https://shop.example")
	}
	if last.Code() != 429001 || last.Header.Get("Retry-After") == "" {
		t.Errorf("fourth request: %d %v", last.StatusCode, last.Header)
	}
	r, err := http.NewRequest("OPTIONS", s.URL+"/api/oauth2/token", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Origin", "https://shop.example")
	r.Header.Set("Access-Control-Request-Method", "POST")
	preflight, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer preflight.Body.Close()
	for _, c := range []struct {
		name    string
		res     *http.Response
		status  int
		headers map[string]string
	}{
		{"API", last.Response, 429, map[string]string{"Access-Control-Allow-Origin": "*"}},
		{"page", s.Browser().Get("/signin").Response, 429, map[string]string{"X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer"}},
		{"preflight", preflight, 204, map[string]string{"Access-Control-Allow-Origin": "*", "Cache-Control": "no-store"}},
	} {
		if c.res.StatusCode != c.status {
			t.Errorf("%s: status %d, want %d", c.name, c.res.StatusCode, c.status)
		}
		for name, want := range c.headers {
			if got := c.res.Header.Get(name); got != want {
				t.Errorf("%s: %s is %q, want %q", c.name, name, got, want)
			}
		}
	}
}

// TestServeLeavesRuntimeAlone: serve changes no process-wide runtime settings in tests.
func TestServeLeavesRuntimeAlone(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	clitest.Start(t, storetest.MigratedSQLite(t)).Stop()
	if after := runtime.GOMAXPROCS(0); after != before {
		t.Errorf("GOMAXPROCS was %d and is %d", before, after)
	}
}

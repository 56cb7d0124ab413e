// Package clitest runs the whole service for a test, through the command line, and acts
// on it as a user, an application or an administrator.
package clitest

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"formulary/internal/account"
	"formulary/internal/cli"
	"formulary/internal/store/storetest"
)

// Password is strong enough for every test account.
const Password = "quiet-otter-paints-7-doors"

// testTuning saves time: hashing takes microseconds, and shutdown does not wait for
// clients.
var testTuning = cli.Tuning{HashCost: account.HashCost{MemoryKiB: 64, Passes: 1}, Drain: time.Millisecond}

// Service is a running Formulary.
type Service struct {
	t       testing.TB
	Storage storetest.Storage
	URL     string // base URL
	Local   string // URL of the address that the service listens on
	Out     string // output of serve, set when the test ends

	client *http.Client // validates every API response
	log    *lockedBuffer
	stop   context.CancelFunc
	done   chan int
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// Start runs "formulary serve" on a free port and waits until it is ready.
func Start(t testing.TB, storage storetest.Storage, flags ...string) *Service {
	t.Helper()
	return start(t, storage, testTuning, true, flags)
}

// StartWithKinds is Start for a service with additional question kinds, whose templates
// are templates/kinds/*.html.
func StartWithKinds(t testing.TB, storage storetest.Storage, templates fs.FS) *Service {
	t.Helper()
	tuning := testTuning
	tuning.KindTemplates = templates
	return start(t, storage, tuning, true, nil)
}

func start(t testing.TB, storage storetest.Storage, tuning cli.Tuning, wait bool, flags []string) *Service {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	s := &Service{t: t, Storage: storage, log: &lockedBuffer{}, stop: stop, done: make(chan int, 1)}
	reader, writer := io.Pipe()
	output := make(chan string, 1)
	go func() {
		var text strings.Builder
		lines := bufio.NewScanner(reader)
		for lines.Scan() {
			text.WriteString(lines.Text() + "\n")
		}
		output <- text.String()
	}()
	address := make(chan [2]string, 1)
	out := io.MultiWriter(writer, &addressFinder{found: address})
	go func() {
		args := s.args("serve", "--addr=127.0.0.1:0")
		if storage.URL != "" { // SQLite creates one
			args = append(args, "--secret-key=a-secret-key-of-more-than-32-characters")
		}
		code := tuning.Run(ctx, append(args, flags...), strings.NewReader(""), out, s.log)
		writer.Close()
		s.done <- code
	}()
	select {
	case found := <-address:
		s.URL, s.Local = found[0], "http://"+found[1]
	case code := <-s.done:
		t.Fatalf("serve ended with %d before it was ready:\n%s%s", code, <-output, s.log)
	case <-time.After(30 * time.Second):
		t.Fatalf("serve did not start:\n%s", s.log)
	}
	s.client = checkedClient(t, s.URL)
	if wait {
		s.waitReady()
	}
	t.Cleanup(func() {
		s.Stop()
		s.Out = <-output
	})
	return s
}

// Connect returns a service that runs in another process.
func Connect(t testing.TB, storage storetest.Storage, address string) *Service {
	return &Service{t: t, Storage: storage, URL: address, Local: address, client: checkedClient(t, address)}
}

func checkedClient(t testing.TB, base string) *http.Client {
	return &http.Client{Transport: &checkedTransport{t: t, base: base}, Timeout: 30 * time.Second, CheckRedirect: noRedirect}
}

// addressFinder reads the address of the service from the output of serve.
type addressFinder struct {
	text  bytes.Buffer
	found chan [2]string
	done  bool
}

var addressLine = regexp.MustCompile(`(?m)^Formulary is running at (\S+) .*listening on ([^)]+)\)$`)

func (f *addressFinder) Write(p []byte) (int, error) {
	f.text.Write(p)
	if m := addressLine.FindSubmatch(f.text.Bytes()); m != nil && !f.done {
		f.done = true
		f.found <- [2]string{string(m[1]), string(m[2])}
	}
	return len(p), nil
}

func (s *Service) waitReady() {
	s.t.Helper()
	for range 500 {
		res, err := http.Get(s.Local + "/readyz")
		if err == nil {
			res.Body.Close()
			if res.StatusCode == http.StatusOK {
				return
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
	s.t.Fatalf("the service at %s is not ready:\n%s", s.URL, s.log)
}

// Stop ends the service as SIGTERM does and checks its exit code.
func (s *Service) Stop() {
	s.t.Helper()
	if s.stop == nil {
		return
	}
	s.stop()
	s.stop = nil
	select {
	case code := <-s.done:
		if code != 0 {
			s.t.Errorf("serve ended with %d:\n%s", code, s.log)
		}
	case <-time.After(40 * time.Second):
		s.t.Errorf("serve did not stop:\n%s", s.log)
	}
}

// Log returns the log of the service so far.
func (s *Service) Log() string { return s.log.String() }

func (s *Service) args(command ...string) []string {
	return append(command, "--data="+s.Storage.Data, "--database-url="+s.Storage.URL)
}

// Command runs a command on the service's database and returns its output. It must
// succeed.
func (s *Service) Command(stdin string, command ...string) string {
	s.t.Helper()
	return Command(s.t, s.Storage, stdin, command...)
}

// Command runs a command on a database and returns its output. It must succeed.
func Command(t testing.TB, storage storetest.Storage, stdin string, command ...string) string {
	t.Helper()
	var out, errOut bytes.Buffer
	args := append(command, "--data="+storage.Data, "--database-url="+storage.URL)
	if code := testTuning.Run(context.Background(), args, strings.NewReader(stdin), &out, &errOut); code != 0 {
		t.Fatalf("formulary %s: exit %d\n%s%s", strings.Join(command, " "), code, out.String(), errOut.String())
	}
	return out.String()
}

// AddUser creates a user with Password.
func (s *Service) AddUser(email string) {
	s.t.Helper()
	s.Command(Password+"\n", "user", "add", email, "--password-stdin")
}

// DataFile reads a file of the data directory.
func (s *Service) DataFile(name string) []byte {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join(s.Storage.Data, name))
	if err != nil {
		s.t.Fatal(err)
	}
	return text
}

// StartTLS is Start for a service with its own certificate. The caller needs a client
// that trusts it.
func StartTLS(t testing.TB, storage storetest.Storage, flags ...string) *Service {
	t.Helper()
	return start(t, storage, testTuning, false, flags)
}

// WaitFor polls for up to 30 seconds and reports whether the condition became true. Use
// it after commands: they run in another process, whose changes a service on PostgreSQL
// sees a few milliseconds later.
func WaitFor(condition func() bool) bool {
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if condition() {
			return true
		}
	}
	return false
}

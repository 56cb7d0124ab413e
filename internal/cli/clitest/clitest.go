// Package clitest runs the whole service for a test, through the command line
// that people use, and speaks to it as people, applications and operators do.
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

// Password is good enough for every account of a test.
const Password = "quiet-otter-paints-7-doors"

// fast is for tests: a hash in microseconds, and no client that needs time to hang up.
var fast = cli.Tuning{HashCost: account.HashCost{MemoryKiB: 64, Passes: 1}, Drain: time.Millisecond}

// Service is a running Formulary.
type Service struct {
	t     testing.TB
	Place storetest.Place
	URL   string // as people know it
	Local string // as this machine reaches it
	Out   string // what serve said when it started

	client *http.Client // checks every answer of the API
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

// Start runs "formulary serve" with more flags on a free port and waits until it
// is ready.
func Start(t testing.TB, place storetest.Place, flags ...string) *Service {
	t.Helper()
	return start(t, place, fast, true, flags)
}

// StartWithKinds is Start for a service that has more kinds of question, with their
// templates as templates/kinds/*.html.
func StartWithKinds(t testing.TB, place storetest.Place, templates fs.FS) *Service {
	t.Helper()
	tuning := fast
	tuning.KindTemplates = templates
	return start(t, place, tuning, true, nil)
}

func start(t testing.TB, place storetest.Place, tuning cli.Tuning, wait bool, flags []string) *Service {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	s := &Service{t: t, Place: place, log: &lockedBuffer{}, stop: stop, done: make(chan int, 1)}
	reader, writer := io.Pipe()
	said := make(chan string, 1)
	go func() {
		var text strings.Builder
		lines := bufio.NewScanner(reader)
		for lines.Scan() {
			text.WriteString(lines.Text() + "\n")
		}
		said <- text.String()
	}()
	address := make(chan [2]string, 1)
	out := io.MultiWriter(writer, &addressFinder{found: address})
	go func() {
		code := tuning.Run(ctx, append(s.args("serve", "--addr=127.0.0.1:0"), flags...), strings.NewReader(""), out, s.log)
		writer.Close()
		s.done <- code
	}()
	select {
	case found := <-address:
		s.URL, s.Local = found[0], "http://"+found[1]
	case code := <-s.done:
		t.Fatalf("serve ended with %d before it was ready:\n%s%s", code, <-said, s.log)
	case <-time.After(30 * time.Second):
		t.Fatalf("serve did not start:\n%s", s.log)
	}
	s.client = checkedClient(t, s.URL)
	if wait {
		s.waitReady()
	}
	t.Cleanup(func() {
		s.Stop()
		s.Out = <-said
	})
	return s
}

// Connect is a service that runs already, in another process.
func Connect(t testing.TB, place storetest.Place, address string) *Service {
	return &Service{t: t, Place: place, URL: address, Local: address, client: checkedClient(t, address)}
}

func checkedClient(t testing.TB, base string) *http.Client {
	return &http.Client{Transport: &checked{t: t, base: base}, Timeout: 30 * time.Second, CheckRedirect: noRedirect}
}

// addressFinder watches for the line that says where the service is.
type addressFinder struct {
	text  bytes.Buffer
	found chan [2]string
	done  bool
}

var addressLine = regexp.MustCompile(`(?m)^Formulary is at (\S+) .*listening on ([^)]+)\)$`)

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

// Stop ends the service as SIGTERM would and checks that it ended well.
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

// Log is what the service has written to its log so far.
func (s *Service) Log() string { return s.log.String() }

func (s *Service) args(command ...string) []string {
	return append(command, "--data="+s.Place.Data, "--database-url="+s.Place.URL)
}

// Command runs a command beside the service and returns what it printed; it must
// succeed.
func (s *Service) Command(stdin string, command ...string) string {
	s.t.Helper()
	return Command(s.t, s.Place, stdin, command...)
}

// Command runs a command on a place and returns what it printed; it must
// succeed.
func Command(t testing.TB, place storetest.Place, stdin string, command ...string) string {
	t.Helper()
	var out, errOut bytes.Buffer
	args := append(command, "--data="+place.Data, "--database-url="+place.URL)
	if code := fast.Run(context.Background(), args, strings.NewReader(stdin), &out, &errOut); code != 0 {
		t.Fatalf("formulary %s: exit %d\n%s%s", strings.Join(command, " "), code, out.String(), errOut.String())
	}
	return out.String()
}

// AddUser makes an account with Password.
func (s *Service) AddUser(email string) {
	s.t.Helper()
	s.Command(Password+"\n", "user", "add", email, "--password-stdin")
}

// DataFile reads a file of the data folder.
func (s *Service) DataFile(name string) []byte {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join(s.Place.Data, name))
	if err != nil {
		s.t.Fatal(err)
	}
	return text
}

// StartTLS is Start for a service that speaks https itself; the test brings a
// client that knows its certificate.
func StartTLS(t testing.TB, place storetest.Place, flags ...string) *Service {
	t.Helper()
	return start(t, place, fast, false, flags)
}

// WaitFor asks again and again, and says whether it came true. It is for what a command
// did, which is another process: on PostgreSQL the service hears of it a moment later.
func WaitFor(holds func() bool) bool {
	for deadline := time.Now().Add(5 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if holds() {
			return true
		}
	}
	return false
}

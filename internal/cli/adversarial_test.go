package cli_test

import (
	"bufio"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"formulary/internal/cli/clitest"
	"formulary/internal/store/storetest"
)

const (
	// Environment variables: the same seed repeats the same requests, and "make
	// hostile" sends many more.
	hostileSeed     = "HOSTILE_SEED"
	hostileRequests = "HOSTILE_REQUESTS"

	hostileConns       = 4    // concurrent connections per database engine
	requestsPerFixture = 5000 // after so many requests the fixture is worn out
	maxFailures        = 12
	// maxMemory is far above normal use: it detects memory that grows with the number
	// of requests.
	maxMemory = 512 << 20
	// With so many requests, every target should have been mutated.
	fullCoverage = 100_000
)

// TestHostileInput sends mutated requests to every parameter, header and field, as
// different users. Each is answered as the OpenAPI document says, shows no data of
// other users, and leaves the service healthy.
func TestHostileInput(t *testing.T) {
	t.Parallel()
	seed, requests := envInt(t, hostileSeed, 1), envInt(t, hostileRequests, 6000)
	file, err := os.Open("../../docs/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	doc, err := clitest.ReadDocument(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s=%d %s=%d", hostileSeed, seed, hostileRequests, requests)
	storetest.Each(t, func(t *testing.T, storage storetest.Storage) {
		clitest.Command(t, storage, clitest.Password+"\n", "user", "add", ada, "--password-stdin")
		// Attempts at passwords and secrets are limited by client address. Each request
		// claims another address, so that most of them are processed.
		p := launch(t, storage, "env", "FORMULARY_SIGNUP=open", "FORMULARY_TRUSTED_PROXIES=127.0.0.0/8", "FORMULARY_LOG=text",
			"FORMULARY_WEBHOOK_ALLOW=127.0.0.0/8", "FORMULARY_SECRET_KEY=a-secret-key-of-more-than-32-characters")
		h := &hostileRun{t: t, program: p, statuses: map[int]int{}, covered: map[string]bool{}, targets: map[string]bool{}}
		start := time.Now()
		remaining := requests / 2
		for round := 0; remaining > 0 && h.failures.Load() < maxFailures; round++ {
			n := min(remaining, requestsPerFixture)
			remaining -= n
			h.round(newFixture(t, clitest.Connect(t, storage, p.url), doc, round), uint64(seed), n)
		}
		took := time.Since(start)
		p.waitUntil("ready", func() bool { return p.get("/readyz", "").status == http.StatusOK })
		currentMemory, peakMemory := processMemory(t, p)
		if peakMemory > maxMemory {
			t.Errorf("the service used up to %d MB", peakMemory>>20)
		}
		p.stop()
		h.readLog()
		uncovered := slices.DeleteFunc(slices.Sorted(maps.Keys(h.targets)), func(target string) bool { return h.covered[target] })
		if requests >= fullCoverage && len(uncovered) > 0 && h.failures.Load() == 0 {
			t.Errorf("%d of %d targets were never mutated, among them %q", len(uncovered), len(h.targets), uncovered[:min(len(uncovered), 10)])
		}
		t.Logf("%d requests in %v; answers by status: %v", h.sent.Load(), took.Round(time.Millisecond), h.statuses)
		reportFigure(t, "hostile requests", "%d requests, covering %d of %d parameters, headers and fields: every answer is documented, no panic; at most %d MB of memory, %d MB at the end",
			h.sent.Load(), len(h.targets)-len(uncovered), len(h.targets), peakMemory>>20, currentMemory>>20)
	})
}

func envInt(t *testing.T, name string, defaultValue int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return defaultValue
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// hostileRun is a run against one service.
type hostileRun struct {
	t        *testing.T
	program  *program
	sent     atomic.Int64
	failures atomic.Int64

	mu       sync.Mutex
	statuses map[int]int
	targets  map[string]bool // parts of requests that should be mutated
	covered  map[string]bool
}

// round sends requests on several connections at once. What a connection sends depends
// on the seed only, except for IDs and secrets.
func (h *hostileRun) round(w *fixture, seed uint64, requests int) {
	names := w.names()
	targets, err := w.targets()
	if err != nil {
		h.t.Fatal(err)
	}
	for _, target := range targets {
		h.targets[target] = true
	}
	before := maps.Clone(h.covered)
	incomplete := slices.DeleteFunc(slices.Clone(w.seeds), func(r *request) bool {
		return !slices.ContainsFunc(targets, func(target string) bool { return strings.HasPrefix(target, r.name+" ") && !before[target] })
	})
	var wg sync.WaitGroup
	for i := range hostileConns {
		wg.Go(func() {
			g := &generator{Rand: rand.New(rand.NewPCG(seed, uint64(w.number*hostileConns+i))), fixture: w, names: names, covered: maps.Clone(before), incomplete: incomplete}
			defer func() {
				h.mu.Lock()
				defer h.mu.Unlock()
				maps.Copy(h.covered, g.covered)
			}()
			l := &rawConn{address: w.rawConn.address}
			defer l.close()
			for n := range requests / hostileConns {
				if h.failures.Load() >= maxFailures {
					return
				}
				h.sendNext(g, l, fmt.Sprintf("round %d, line %d, request %d", w.number, i, n))
			}
		})
	}
	wg.Wait()
}

func (h *hostileRun) sendNext(g *generator, l *rawConn, where string) {
	r, err := g.next()
	if err != nil {
		h.t.Error(err)
		return
	}
	raw, err := r.encode(l.address)
	if err != nil {
		h.t.Error(err)
		return
	}
	a := l.send(r, raw)
	h.sent.Add(1)
	h.mu.Lock()
	h.statuses[a.status]++
	h.mu.Unlock()
	if err := g.fixture.check(r, a); err != nil && h.failures.Add(1) <= maxFailures {
		h.t.Errorf("%s: %s by %s: %v\nanswer: %s\nrequest: %.1200q\n%s", where, r.name, r.as.name, err, a, raw, saveRequest(raw))
	}
}

// saveRequest writes a request to a file for replay.
func saveRequest(raw []byte) string {
	file, err := os.CreateTemp("", "formulary-hostile-*.http")
	if err != nil {
		return err.Error()
	}
	defer file.Close()
	if _, err := file.Write(raw); err != nil {
		return err.Error()
	}
	return "the whole request is in " + file.Name()
}

// names returns all names that the document and the pages use.
func (w *fixture) names() []string {
	all := map[string]bool{}
	for _, schema := range w.doc.Components.Schemas {
		for name := range schema.Value.Properties {
			all[name] = true
		}
	}
	for _, r := range w.seeds {
		for _, p := range slices.Concat(r.query, r.form) {
			all[p.name] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// readLog fails for errors and panics in the log of the service.
func (h *hostileRun) readLog() {
	h.t.Helper()
	file, err := os.Open(h.program.log)
	if err != nil {
		h.t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 16<<20)
	for problems := 0; lines.Scan() && problems < maxFailures; {
		if text := lines.Text(); strings.Contains(text, "level=ERROR") || strings.Contains(text, "panic") {
			h.t.Errorf("in the log: %.3000s", text)
			problems++
		}
	}
	if err := lines.Err(); err != nil {
		h.t.Error(err)
	}
}

var memoryLine = regexp.MustCompile(`(?m)^Vm(RSS|HWM):\s+(\d+) kB$`)

// processMemory returns the resident memory of the service, current and peak.
func processMemory(t *testing.T, p *program) (current, peak int) {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range memoryLine.FindAllStringSubmatch(string(text), -1) {
		kilobytes, err := strconv.Atoi(m[2])
		if err != nil {
			t.Fatal(err)
		}
		if m[1] == "RSS" {
			current = kilobytes << 10
		} else {
			peak = kilobytes << 10
		}
	}
	return current, peak
}

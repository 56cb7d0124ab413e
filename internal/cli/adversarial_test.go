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
	// hostileSeed and hostileRequests are named by the environment: a seed sends
	// the same requests again, and "make hostile" sends many more.
	hostileSeed     = "HOSTILE_SEED"
	hostileRequests = "HOSTILE_REQUESTS"

	hostileLines = 4    // at once, on each engine
	roundLength  = 5000 // requests for which a world is good
	mostFailures = 12
	// mostMemory is what the service may hold at any time. It is far less; this
	// finds what grows with the number of requests.
	mostMemory = 400 << 20
	// With so many requests, something hostile comes to every place.
	everywhere = 100_000
)

// Whatever is sent into every parameter, header and field, by whomever: it is
// answered as the document says, nobody sees what belongs to others, and the
// service is as well afterwards as before.
func TestHostileInput(t *testing.T) {
	t.Parallel()
	seed, requests := setting(t, hostileSeed, 1), setting(t, hostileRequests, 6000)
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
	storetest.Each(t, func(t *testing.T, place storetest.Place) {
		clitest.Command(t, place, clitest.Password+"\n", "user", "add", ada, "--password-stdin")
		// Who is asked for secrets limits guesses by address; so that most are
		// read at all, each request says that it comes from another one.
		p := launch(t, place, "env", "FORMULARY_SIGNUP=open", "FORMULARY_TRUSTED_PROXIES=127.0.0.0/8", "FORMULARY_LOG=text")
		h := &hostile{t: t, program: p, statuses: map[int]int{}, reached: map[string]bool{}, places: map[string]bool{}}
		start := time.Now()
		left := requests / 2
		for round := 0; left > 0 && h.failures.Load() < mostFailures; round++ {
			n := min(left, roundLength)
			left -= n
			h.round(newWorld(t, clitest.Connect(t, place, p.url), doc, round), uint64(seed), n)
		}
		took := time.Since(start)
		p.eventually("ready", func() bool { return p.get("/readyz", "").status == http.StatusOK })
		now, most := memory(t, p)
		if most > mostMemory {
			t.Errorf("the service held %d MB", most>>20)
		}
		p.stop()
		h.readLog()
		spared := slices.DeleteFunc(slices.Sorted(maps.Keys(h.places)), func(place string) bool { return h.reached[place] })
		if requests >= everywhere && len(spared) > 0 && h.failures.Load() == 0 {
			t.Errorf("nothing hostile came to %d of %d places, among them %q", len(spared), len(h.places), spared[:min(len(spared), 10)])
		}
		t.Logf("%d requests in %v; answers by status: %v", h.sent.Load(), took.Round(time.Millisecond), h.statuses)
		figure(t, "hostile requests", "%d, into %d of %d parameters, headers and fields: no answer that the document does not have, no panic; memory at most %d MB, %d MB in the end",
			h.sent.Load(), len(h.places)-len(spared), len(h.places), most>>20, now>>20)
	})
}

func setting(t *testing.T, name string, usual int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return usual
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// hostile is a run against one service.
type hostile struct {
	t        *testing.T
	program  *program
	sent     atomic.Int64
	failures atomic.Int64

	mu       sync.Mutex
	statuses map[int]int
	places   map[string]bool // where something hostile should go
	reached  map[string]bool
}

// round sends so many requests, on several lines at once. What a line sends
// depends on the seed alone; ids and secrets are others each time.
func (h *hostile) round(w *world, seed uint64, requests int) {
	names := w.names()
	places, err := w.places()
	if err != nil {
		h.t.Fatal(err)
	}
	for _, place := range places {
		h.places[place] = true
	}
	before := maps.Clone(h.reached)
	var all sync.WaitGroup
	for i := range hostileLines {
		all.Go(func() {
			g := &generator{Rand: rand.New(rand.NewPCG(seed, uint64(w.number*hostileLines+i))), world: w, names: names, reached: maps.Clone(before)}
			defer func() {
				h.mu.Lock()
				defer h.mu.Unlock()
				maps.Copy(h.reached, g.reached)
			}()
			l := &line{address: w.line.address}
			defer l.close()
			for n := range requests / hostileLines {
				if h.failures.Load() >= mostFailures {
					return
				}
				h.one(g, l, fmt.Sprintf("round %d, line %d, request %d", w.number, i, n))
			}
		})
	}
	all.Wait()
}

func (h *hostile) one(g *generator, l *line, where string) {
	r, err := g.next()
	if err != nil {
		h.t.Error(err)
		return
	}
	raw, err := r.bytes(l.address)
	if err != nil {
		h.t.Error(err)
		return
	}
	a := l.send(r, raw)
	h.sent.Add(1)
	h.mu.Lock()
	h.statuses[a.status]++
	h.mu.Unlock()
	if err := g.world.check(r, a); err != nil && h.failures.Add(1) <= mostFailures {
		h.t.Errorf("%s: %s by %s: %v\nanswer: %s\nrequest: %.1200q\n%s", where, r.name, r.as.name, err, a, raw, keep(raw))
	}
}

// keep writes a request to a file, from which it can be sent again.
func keep(raw []byte) string {
	file, err := os.CreateTemp("", "formulary-hostile-*.http")
	if err != nil {
		return err.Error()
	}
	defer file.Close()
	if _, err := file.Write(raw); err != nil {
		return err.Error()
	}
	return "all of it is in " + file.Name()
}

// names are all that the document and the pages call anything.
func (w *world) names() []string {
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

// readLog looks for what the service itself calls its fault.
func (h *hostile) readLog() {
	h.t.Helper()
	file, err := os.Open(h.program.log)
	if err != nil {
		h.t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 16<<20)
	for found := 0; lines.Scan() && found < mostFailures; {
		if text := lines.Text(); strings.Contains(text, "level=ERROR") || strings.Contains(text, "panic") {
			h.t.Errorf("in the log: %.3000s", text)
			found++
		}
	}
	if err := lines.Err(); err != nil {
		h.t.Error(err)
	}
}

var memoryLine = regexp.MustCompile(`(?m)^Vm(RSS|HWM):\s+(\d+) kB$`)

// memory is what the service holds in memory now, and held at most.
func memory(t *testing.T, p *program) (now, most int) {
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
			now = kilobytes << 10
		} else {
			most = kilobytes << 10
		}
	}
	return now, most
}

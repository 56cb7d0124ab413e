package cli_test

import (
	"fmt"
	"math"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"text/tabwriter"
	"time"

	"formulary/internal/store/storetest"
)

const (
	// memoryKillLimit ends a server before it exhausts the machine, and fails the
	// family. It is far above normal use.
	memoryKillLimit = 3 << 29
	// repeats is the number of measurements per request; the median counts.
	repeats = 3
	// A request that costs more than maxRepeatCost is not repeated.
	maxRepeatCost = 3 * time.Second
	// attackers is the number of connections that attack while the bystander is served.
	attackers         = 4
	attackTime        = 4 * time.Second
	maxAttackRequests = 1000                   // requests
	attackDelay       = 500 * time.Millisecond // head start of the attack before the bystander's first request
	settleLimit       = 30 * time.Second
	clockTick         = 10 * time.Millisecond // resolution of /proc/PID/stat
)

// measuredServer is a server process whose cost is measured.
type measuredServer struct {
	*program
	t               *testing.T
	storage         storetest.Storage
	flags           []string
	files           int // limit of open files; 0: the default
	admin           string
	idle            int // resident bytes before the attack
	killedForMemory atomic.Bool
	stop            chan struct{}
}

func startMeasuredServer(t *testing.T, storage storetest.Storage, files int, flags ...string) *measuredServer {
	t.Helper()
	m := &measuredServer{t: t, storage: storage, flags: flags, files: files, admin: freeAddress(t)}
	m.start()
	return m
}

func (m *measuredServer) start() {
	m.t.Helper()
	m.killedForMemory.Store(false)
	m.stop = make(chan struct{})
	wrapper := append(slices.Clone(webhookEnv), "FORMULARY_ADMIN_ADDR="+m.admin, "FORMULARY_SIGNUP=open")
	if m.files > 0 {
		wrapper = append(wrapper, "sh", "-c", fmt.Sprintf(`ulimit -n %d && exec "$@"`, m.files), "sh")
	}
	m.program = launchWith(m.t, m.storage, wrapper, append([]string{"--addr=127.0.0.1:0"}, m.flags...)...)
	go m.watch(m.program, m.stop)
}

// watch kills the server when it exceeds memoryKillLimit.
func (m *measuredServer) watch(p *program, stop chan struct{}) {
	for {
		select {
		case <-stop:
			return
		case <-time.After(20 * time.Millisecond):
		}
		if now, _ := residentMemory(p.cmd.Process.Pid); now > memoryKillLimit {
			m.killedForMemory.Store(true)
			p.cmd.Process.Kill()
			return
		}
	}
}

func (m *measuredServer) finish() {
	close(m.stop)
	m.program.kill()
}

// restart replaces the server after a request that it did not survive or finish.
func (m *measuredServer) restart() {
	m.t.Helper()
	m.finish()
	m.start()
}

// residentMemory returns the current and the peak memory of a process.
func residentMemory(pid int) (current, peak int) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, 0 // the process has exited
	}
	for _, m := range memoryLine.FindAllStringSubmatch(string(text), -1) {
		kilobytes, _ := strconv.Atoi(m[2])
		if m[1] == "RSS" {
			current = kilobytes << 10
		} else {
			peak = kilobytes << 10
		}
	}
	return current, peak
}

// cpu returns the CPU time of the process so far.
func (m *measuredServer) cpu() time.Duration {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", m.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	// The process name in parentheses may contain spaces.
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * clockTick
}

// waitIdle waits until the process used no CPU for the given number of checks in a row,
// and returns its CPU time. The server may continue to work on an abandoned request,
// with pauses on a busy machine.
func (m *measuredServer) waitIdle(idleChecks int) time.Duration {
	before := m.cpu()
	for deadline, idle := time.Now().Add(requestLimit), 0; idle < idleChecks && time.Now().Before(deadline) && !m.killedForMemory.Load(); {
		time.Sleep(4 * clockTick)
		now := m.cpu()
		if idle++; now-before >= clockTick {
			idle = 0
		}
		before = now
	}
	return before
}

// waitForMemory collects garbage until at most bound bytes are resident, for at most
// settleLimit, and returns the resident bytes.
func (m *measuredServer) waitForMemory(bound int) int {
	now := 0
	for deadline := time.Now().Add(settleLimit); time.Now().Before(deadline); time.Sleep(500 * time.Millisecond) {
		res, err := http.Get("http://" + m.admin + "/debug/pprof/heap?gc=1") // runs the garbage collector first
		if err != nil {
			return 0
		}
		res.Body.Close()
		if now, _ = residentMemory(m.cmd.Process.Pid); now <= bound {
			break
		}
	}
	return now
}

// idleMemory returns the memory of the idle server, once collecting garbage frees no
// more.
func (m *measuredServer) idleMemory() int {
	last := m.waitForMemory(math.MaxInt)
	for range 20 {
		time.Sleep(300 * time.Millisecond)
		now := m.waitForMemory(math.MaxInt)
		if now > last-1<<20 {
			return min(now, last)
		}
		last = now
	}
	return last
}

// familyCost is the measured cost of a family.
type familyCost struct {
	name           string
	requests       int
	bytes          int
	all            []time.Duration // of every request, per 100 KB
	worst          time.Duration   // median of the most expensive variant, per 100 KB
	worstName      string
	retained, peak int // memory above idle: afterwards and at most
	waits          waitTimes
	statuses       map[int]int
	problems       []string
}

// measureExpensive is the full version: each family runs against its own server
// process.
func measureExpensive(t *testing.T, storage storetest.Storage, list []family, seed uint64) {
	w := newCostFixture(t, storage)
	var costs []familyCost
	for _, f := range list {
		t.Run(f.name, func(t *testing.T) {
			fixture := *w
			fixture.t, fixture.rand = t, newRandom(seed, f.name)
			c := measureFamily(t, storage, &fixture, f)
			costs = append(costs, c)
			t.Log(c.line())
			for _, p := range c.problems {
				t.Error(p)
			}
		})
	}
	t.Logf("expensive requests on %s, seed %d\n%s", storage.Engine, seed, costTable(costs))
}

func measureFamily(t *testing.T, storage storetest.Storage, w *costFixture, f family) familyCost {
	// A separate server creates the forms, so that their cost is not measured.
	builder := startMeasuredServer(t, storage, 0, "--rate-limit=off")
	w.base = builder.url
	requests := f.build(w)
	if f.watchesDeliveries {
		w.watchDeliveries()
	}
	builder.finish()

	flags := []string{"--rate-limit=off"}
	if f.limited {
		flags = nil
	}
	m := startMeasuredServer(t, storage, f.files, flags...)
	defer m.finish()
	w.base = m.url
	var warmUp waitTimes
	for range 3 {
		w.visitOnce(&warmUp)
	}
	m.idle = m.idleMemory()
	c := familyCost{name: f.name, statuses: map[int]int{}}
	for _, r := range requests {
		c.measure(m, w, f, r)
	}
	if w.base = m.url; f.background == nil {
		f.background = (*costFixture).attack
	}
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() { f.background(w, requests, done) })
	time.Sleep(attackDelay)
	c.waits = w.measureBystander(attackTime)
	close(done)
	wg.Wait()
	w.client.CloseIdleConnections()
	m.waitIdle(1)
	_, c.peak = residentMemory(m.cmd.Process.Pid)
	c.peak -= m.idle
	if !m.killedForMemory.Load() {
		w.removeWebhooks() // what they have to deliver ends with them
	}
	c.retained = m.waitForMemory(m.idle+maxRetained) - m.idle
	c.checkLimits(m)
	return c
}

// measure sends a request several times and records the cost.
func (c *familyCost) measure(m *measuredServer, w *costFixture, f family, r costlyRequest) {
	var costs []time.Duration
	for range repeats {
		idleChecks := 1
		if r.abandoned {
			idleChecks = 25
		}
		before, delivered := m.waitIdle(idleChecks), w.receiver.bytes.Load()
		out := w.send(r)
		spent := m.waitIdle(idleChecks) - before
		bytes := out.bytes
		if f.downloads {
			bytes += out.responseBytes
		}
		if f.delivers {
			bytes += int(w.receiver.bytes.Load() - delivered)
		}
		cost := time.Duration(float64(spent) * cpuBytes / float64(max(bytes, cpuBytes)))
		costs = append(costs, cost)
		c.requests++
		c.statuses[out.status]++
		c.bytes += out.bytes
		c.all = append(c.all, cost)
		if m.killedForMemory.Load() {
			c.problems = append(c.problems, fmt.Sprintf("%s (%d bytes): the server used %s of memory and was killed", r.name, out.bytes, megabytes(memoryKillLimit)))
		} else if out.err != nil {
			c.problems = append(c.problems, fmt.Sprintf("%s (%d bytes): %v after %v", r.name, out.bytes, out.err, out.took.Round(time.Millisecond)))
		} else if out.status >= 500 {
			c.problems = append(c.problems, fmt.Sprintf("%s (%d bytes): status %d", r.name, out.bytes, out.status))
		}
		if m.killedForMemory.Load() || out.err != nil {
			m.restart()
			w.base = m.url
			break
		}
		if spent > maxRepeatCost {
			break
		}
	}
	medianCost := median(costs)
	if testing.Verbose() && medianCost > maxCPU/4 {
		m.t.Logf("%s: %d ms of CPU per 100 KB", r.name, medianCost.Milliseconds())
	}
	if medianCost > c.worst {
		c.worst, c.worstName = medianCost, r.name
	}
	if medianCost > maxCPU {
		c.problems = append(c.problems, fmt.Sprintf("%s: %d ms of CPU per 100 KB sent", r.name, medianCost.Milliseconds()))
	}
}

// checkLimits records which limits the family exceeded.
func (c *familyCost) checkLimits(m *measuredServer) {
	if c.retained > maxRetained {
		c.problems = append(c.problems, fmt.Sprintf("%s more than idle stay in memory", megabytes(c.retained)))
	}
	for _, w := range []struct {
		name string
		list []time.Duration
		most time.Duration
	}{{"page", c.waits.page, maxWait}, {"sign-in", c.waits.signIn, maxWait}, {"submission", c.waits.submission, maxWait}, {"delivery", c.waits.delivery, maxDeliveryWait}} {
		if wait := median(w.list); wait > w.most {
			c.problems = append(c.problems, fmt.Sprintf("a bystander's %s waits for %v", w.name, wait.Round(time.Millisecond)))
		}
	}
	if n := len(c.waits.failed); n > 0 {
		c.problems = append(c.problems, fmt.Sprintf("%d of a bystander's requests failed, the first: %s", n, c.waits.failed[0]))
	}
	if m.killedForMemory.Load() {
		c.problems = append(c.problems, "the server used too much memory during the attack and was killed")
	}
}

// attack sends the requests continuously on several connections.
func (w *costFixture) attack(requests []costlyRequest, until <-chan struct{}) {
	w.attackWith(attackers, requests, until)
}

func (w *costFixture) attackWith(connections int, requests []costlyRequest, until <-chan struct{}) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range connections {
		wg.Go(func() {
			for {
				n := next.Add(1)
				select {
				case <-until:
					return
				default:
				}
				if n > int64(w.scaled(maxAttackRequests, 20)) {
					return
				}
				w.send(requests[int(n)%len(requests)])
			}
		})
	}
	wg.Wait()
}

func (c familyCost) line() string {
	return fmt.Sprintf("%s\t%d\t%d KB\t%d\t%d (%s)\t%d MB\t%d MB\t%s\t%s",
		c.name, c.requests, c.bytes>>10, median(c.all).Milliseconds(), c.worst.Milliseconds(), c.worstName, c.retained>>20, c.peak>>20, c.waits, strings.TrimPrefix(fmt.Sprint(c.statuses), "map"))
}

// costTable formats the report.
func costTable(costs []familyCost) string {
	var out strings.Builder
	table := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "family\trequests\tsent\tCPU ms/100 KB median\tmax (request)\tmemory over idle\tat most\tbystander's page/sign-in/submission/delivery\tstatuses")
	for _, c := range costs {
		fmt.Fprintln(table, c.line())
	}
	table.Flush()
	return out.String()
}

package cli_test

import (
	"fmt"
	"math"
	"net/http"
	"os"
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
	// memoryStop ends a server before it takes the machine with it, and fails the
	// family: none needs nearly so much.
	memoryStop = 3 << 29
	// repeats is how often each request is measured; the median counts.
	repeats = 3
	// hopeless is the cost from which a request is not repeated.
	hopeless = 3 * time.Second
	// attackers send at once while a stranger is served.
	attackers   = 4
	attackTime  = 4 * time.Second
	attackMost  = 1000                   // requests
	attackLead  = 500 * time.Millisecond // before the stranger comes
	settleLimit = 30 * time.Second
	clockTick   = 10 * time.Millisecond // of /proc/PID/stat
)

// measured is a server in a process of its own, with what is known of its cost.
type measured struct {
	*program
	t     *testing.T
	place storetest.Place
	flags []string
	files int // how many it may have open; 0: as usual
	admin string
	idle  int // bytes in memory before the attack
	ended atomic.Bool
	stop  chan struct{}
}

func startMeasured(t *testing.T, place storetest.Place, files int, flags ...string) *measured {
	t.Helper()
	m := &measured{t: t, place: place, flags: flags, files: files, admin: freeAddress(t)}
	m.start()
	return m
}

func (m *measured) start() {
	m.t.Helper()
	m.ended.Store(false)
	m.stop = make(chan struct{})
	around := []string{"env", "FORMULARY_ADMIN_ADDR=" + m.admin, "FORMULARY_SIGNUP=open"}
	if m.files > 0 {
		around = append(around, "sh", "-c", fmt.Sprintf(`ulimit -n %d && exec "$@"`, m.files), "sh")
	}
	m.program = launchWith(m.t, m.place, around, append([]string{"--addr=127.0.0.1:0"}, m.flags...)...)
	go m.watch(m.program, m.stop)
}

// watch ends the server when it takes too much memory.
func (m *measured) watch(p *program, stop chan struct{}) {
	for {
		select {
		case <-stop:
			return
		case <-time.After(20 * time.Millisecond):
		}
		if now, _ := residentMemory(p.cmd.Process.Pid); now > memoryStop {
			m.ended.Store(true)
			p.cmd.Process.Kill()
			return
		}
	}
}

func (m *measured) finish() {
	close(m.stop)
	m.program.kill()
}

// restart begins with a fresh server after a request that the old one did not
// survive or did not finish.
func (m *measured) restart() {
	m.t.Helper()
	m.finish()
	m.start()
}

// residentMemory is what the process holds now, and held at most.
func residentMemory(pid int) (now, most int) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, 0 // it has ended
	}
	for _, m := range memoryLine.FindAllStringSubmatch(string(text), -1) {
		kilobytes, _ := strconv.Atoi(m[2])
		if m[1] == "RSS" {
			now = kilobytes << 10
		} else {
			most = kilobytes << 10
		}
	}
	return now, most
}

// cpu is the time that the process has spent so far.
func (m *measured) cpu() time.Duration {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", m.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	// The name in brackets may hold spaces; what follows does not.
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * clockTick
}

// quiet waits until the process has stopped working, for so many looks in a row, and
// returns its CPU time: a request that was abandoned may go on, and on a busy machine
// with pauses.
func (m *measured) quiet(looks int) time.Duration {
	before := m.cpu()
	for deadline, still := time.Now().Add(requestLimit), 0; still < looks && time.Now().Before(deadline) && !m.ended.Load(); {
		time.Sleep(4 * clockTick)
		now := m.cpu()
		if still++; now-before >= clockTick {
			still = 0
		}
		before = now
	}
	return before
}

// settled waits until garbage is collected and given back, at most for
// settleLimit, and returns the memory that remains.
func (m *measured) settled(bound int) int {
	now := 0
	for deadline := time.Now().Add(settleLimit); time.Now().Before(deadline); time.Sleep(500 * time.Millisecond) {
		res, err := http.Get("http://" + m.admin + "/debug/pprof/heap?gc=1") // collects first
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

// calm is the memory of the idle server: once collecting gives back no more.
func (m *measured) calm() int {
	last := m.settled(math.MaxInt)
	for range 20 {
		time.Sleep(300 * time.Millisecond)
		now := m.settled(math.MaxInt)
		if now > last-1<<20 {
			return min(now, last)
		}
		last = now
	}
	return last
}

// familyCost is what a family cost.
type familyCost struct {
	name       string
	requests   int
	bytes      int
	all        []time.Duration // per 100 KB, of every request
	worst      time.Duration   // per 100 KB, median of a variant
	worstName  string
	over, most int // memory over idle, once done and at most
	waits      waits
	statuses   map[int]int
	problems   []string
}

// measureExpensive is the full version: each family in turn, against a server of
// its own.
func measureExpensive(t *testing.T, place storetest.Place, list []family, seed uint64) {
	w := newCostWorld(t, place)
	var costs []familyCost
	for _, f := range list {
		t.Run(f.name, func(t *testing.T) {
			world := *w
			world.t, world.rand = t, generatorOf(seed, f.name)
			c := measureFamily(t, place, &world, f)
			costs = append(costs, c)
			t.Log(c.line())
			for _, p := range c.problems {
				t.Error(p)
			}
		})
	}
	t.Logf("expensive requests on %s, seed %d\n%s", place.Engine, seed, costTable(costs))
}

func measureFamily(t *testing.T, place storetest.Place, w *costWorld, f family) familyCost {
	// Forms are built on a server of their own, so that what building costs is
	// not measured.
	builder := startMeasured(t, place, 0, "--rate-limit=off")
	w.base = builder.url
	requests := f.make(w)
	builder.finish()

	flags := []string{"--rate-limit=off"}
	if f.limited {
		flags = nil
	}
	m := startMeasured(t, place, f.files, flags...)
	defer m.finish()
	w.base = m.url
	var warm waits
	for range 3 {
		w.visit(&warm)
	}
	m.idle = m.calm()
	c := familyCost{name: f.name, statuses: map[int]int{}}
	for _, r := range requests {
		c.measure(m, w, f, r)
	}
	if w.base = m.url; f.beside == nil {
		f.beside = (*costWorld).attack
	}
	until := make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() { f.beside(w, requests, until) })
	time.Sleep(attackLead)
	c.waits = w.probe(attackTime)
	close(until)
	all.Wait()
	w.client.CloseIdleConnections()
	m.quiet(1)
	_, c.most = residentMemory(m.cmd.Process.Pid)
	c.most -= m.idle
	c.over = m.settled(m.idle+mostKept) - m.idle
	c.judge(m)
	return c
}

// measure sends one request a few times and notes what it cost.
func (c *familyCost) measure(m *measured, w *costWorld, f family, r costly) {
	var costs []time.Duration
	for range repeats {
		looks := 1
		if r.cut {
			looks = 25
		}
		before := m.quiet(looks)
		out := w.send(r)
		spent := m.quiet(looks) - before
		bytes := out.bytes
		if f.downloads {
			bytes += out.answered
		}
		cost := time.Duration(float64(spent) * cpuBytes / float64(max(bytes, cpuBytes)))
		costs = append(costs, cost)
		c.requests++
		c.statuses[out.status]++
		c.bytes += out.bytes
		c.all = append(c.all, cost)
		if m.ended.Load() {
			c.problems = append(c.problems, fmt.Sprintf("%s (%d bytes): the server took %s of memory and was ended", r.name, out.bytes, megabytes(memoryStop)))
		} else if out.err != nil {
			c.problems = append(c.problems, fmt.Sprintf("%s (%d bytes): %v after %v", r.name, out.bytes, out.err, out.took.Round(time.Millisecond)))
		} else if out.status >= 500 {
			c.problems = append(c.problems, fmt.Sprintf("%s (%d bytes): status %d", r.name, out.bytes, out.status))
		}
		if m.ended.Load() || out.err != nil {
			m.restart()
			w.base = m.url
			break
		}
		if spent > hopeless {
			break
		}
	}
	middle := median(costs)
	if testing.Verbose() && middle > mostCPU/4 {
		m.t.Logf("%s: %d ms of CPU per 100 KB", r.name, middle.Milliseconds())
	}
	if middle > c.worst {
		c.worst, c.worstName = middle, r.name
	}
	if middle > mostCPU {
		c.problems = append(c.problems, fmt.Sprintf("%s: %d ms of CPU per 100 KB sent", r.name, middle.Milliseconds()))
	}
}

// judge notes what is over the limits once the family is done.
func (c *familyCost) judge(m *measured) {
	if c.over > mostKept {
		c.problems = append(c.problems, fmt.Sprintf("%s more than idle remain in memory", megabytes(c.over)))
	}
	for _, w := range []struct {
		name string
		list []time.Duration
	}{{"page", c.waits.page}, {"sign-in", c.waits.signIn}, {"submission", c.waits.submission}} {
		if wait := median(w.list); wait > mostWait {
			c.problems = append(c.problems, fmt.Sprintf("a stranger's %s waits for %v", w.name, wait.Round(time.Millisecond)))
		}
	}
	if n := len(c.waits.failed); n > 0 {
		c.problems = append(c.problems, fmt.Sprintf("%d of a stranger's requests failed, the first: %s", n, c.waits.failed[0]))
	}
	if m.ended.Load() {
		c.problems = append(c.problems, "the server took too much memory during the attack and was ended")
	}
}

// attack sends the requests again and again on several connections.
func (w *costWorld) attack(requests []costly, until <-chan struct{}) {
	w.attackWith(attackers, requests, until)
}

func (w *costWorld) attackWith(connections int, requests []costly, until <-chan struct{}) {
	var next atomic.Int64
	var all sync.WaitGroup
	for range connections {
		all.Go(func() {
			for {
				n := next.Add(1)
				select {
				case <-until:
					return
				default:
				}
				if n > int64(w.some(attackMost, 20)) {
					return
				}
				w.send(requests[int(n)%len(requests)])
			}
		})
	}
	all.Wait()
}

func (c familyCost) line() string {
	return fmt.Sprintf("%s\t%d\t%d KB\t%d\t%d (%s)\t%d MB\t%d MB\t%s\t%s",
		c.name, c.requests, c.bytes>>10, median(c.all).Milliseconds(), c.worst.Milliseconds(), c.worstName, c.over>>20, c.most>>20, c.waits, strings.TrimPrefix(fmt.Sprint(c.statuses), "map"))
}

// costTable is the report.
func costTable(costs []familyCost) string {
	var out strings.Builder
	table := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "family\trequests\tsent\tCPU ms/100 KB median\tmax (request)\tmemory over idle\tat most\tstranger's page/sign-in/submission\tstatuses")
	for _, c := range costs {
		fmt.Fprintln(table, c.line())
	}
	table.Flush()
	return out.String()
}

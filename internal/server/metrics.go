package server

import (
	"bytes"
	"cmp"
	"fmt"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Metrics counts requests by what answered them and how long it took, and shows
// that as Prometheus reads it. Its text format is a few lines; the library for it
// would be a tenth of the binary.
type Metrics struct {
	requests sync.Map // label → *timing
	panics   atomic.Int64
	start    time.Time

	connections connectionCounts
}

type label struct {
	method, route string
	status        int
}

// bounds are the buckets of a timing, in seconds.
var bounds = [...]float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}

// timing is how many requests took how long; the last bucket has no bound.
type timing struct {
	buckets [len(bounds) + 1]atomic.Int64
	nanos   atomic.Int64
}

// NewMetrics starts counting.
func NewMetrics() *Metrics { return &Metrics{start: time.Now()} }

func (m *Metrics) observe(r *http.Request, status int, took time.Duration) {
	l := label{r.Method, r.Pattern, status}
	if l.route == "" {
		l.route = "none"
	}
	switch l.method {
	case "GET", "HEAD", "POST", "PATCH", "PUT", "DELETE", "OPTIONS":
	default:
		l.method = "other" // a stranger must not be able to make up labels
	}
	found, ok := m.requests.Load(l)
	if !ok {
		found, _ = m.requests.LoadOrStore(l, &timing{})
	}
	t := found.(*timing)
	bucket, _ := slices.BinarySearch(bounds[:], took.Seconds())
	t.buckets[bucket].Add(1)
	t.nanos.Add(int64(took))
}

// Handler shows the metrics.
func (m *Metrics) Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		var page bytes.Buffer
		m.writeRequests(&page)
		single(&page, "formulary_panics_total", "counter", "Requests that panicked.", float64(m.panics.Load()))
		m.writeConnections(&page)
		m.writeProcess(&page)
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		w.Write(page.Bytes()) // the reader may have gone
	})
}

func (m *Metrics) writeRequests(page *bytes.Buffer) {
	const name = "formulary_http_request_seconds"
	fmt.Fprintf(page, "# HELP %s Request duration by method, route and status.\n# TYPE %[1]s histogram\n", name)
	var labels []label
	m.requests.Range(func(key, _ any) bool {
		labels = append(labels, key.(label))
		return true
	})
	slices.SortFunc(labels, func(a, b label) int {
		return cmp.Or(cmp.Compare(a.route, b.route), cmp.Compare(a.method, b.method), cmp.Compare(a.status, b.status))
	})
	for _, l := range labels {
		found, _ := m.requests.Load(l)
		t := found.(*timing)
		of := fmt.Sprintf(`method=%q,route=%q,status="%d"`, l.method, l.route, l.status)
		var sum int64
		for i := range t.buckets {
			sum += t.buckets[i].Load()
			bound := "+Inf"
			if i < len(bounds) {
				bound = number(bounds[i])
			}
			fmt.Fprintf(page, "%s_bucket{%s,le=%q} %d\n", name, of, bound, sum)
		}
		fmt.Fprintf(page, "%s_sum{%s} %s\n%[1]s_count{%[2]s} %[4]d\n", name, of, number(time.Duration(t.nanos.Load()).Seconds()), sum)
	}
}

func (m *Metrics) writeConnections(page *bytes.Buffer) {
	c := &m.connections
	single(page, "formulary_connections_open", "gauge", "Open connections.", float64(c.open.Load()))
	single(page, "formulary_connections_idle_closed_total", "counter", "Idle connections closed at a connection limit.", float64(c.evicted.Load()))
	const refused = "formulary_connections_refused_total"
	fmt.Fprintf(page, "# HELP %s Connections refused at a connection limit.\n# TYPE %[1]s counter\n", refused)
	fmt.Fprintf(page, "%s{limit=\"address\"} %d\n%[1]s{limit=\"total\"} %[3]d\n", refused, c.refusedAddress.Load(), c.refusedTotal.Load())
	single(page, "formulary_accept_errors_total", "counter", "Connections that could not be accepted.", float64(c.acceptErrors.Load()))
}

// writeProcess shows the program itself, by the names that dashboards know.
func (m *Metrics) writeProcess(page *bytes.Buffer) {
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	single(page, "go_goroutines", "gauge", "Number of goroutines.", float64(runtime.NumGoroutine()))
	single(page, "go_memstats_heap_inuse_bytes", "gauge", "Heap memory in use.", float64(memory.HeapInuse))
	single(page, "go_memstats_sys_bytes", "gauge", "Memory obtained from the operating system.", float64(memory.Sys))
	single(page, "go_memstats_alloc_bytes_total", "counter", "Total bytes allocated.", float64(memory.TotalAlloc))
	single(page, "go_gc_cycles_total", "counter", "Total garbage collections.", float64(memory.NumGC))
	single(page, "process_start_time_seconds", "gauge", "Process start time in Unix seconds.", float64(m.start.UnixMilli())/1000)
	if cpu, resident, ok := processUsage(); ok {
		single(page, "process_cpu_seconds_total", "counter", "Total CPU time.", cpu)
		single(page, "process_resident_memory_bytes", "gauge", "Resident memory size.", resident)
	}
	if files, err := os.ReadDir("/proc/self/fd"); err == nil {
		single(page, "process_open_fds", "gauge", "Open file descriptors.", float64(len(files)))
	}
}

// processUsage reads what the system knows of this process, where it is Linux.
func processUsage() (cpu, resident float64, ok bool) {
	text, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return 0, 0, false
	}
	// The second field is the program's name, which may have spaces in it.
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) < 22 {
		return 0, 0, false
	}
	const ticks = 100 // a second, on every Linux that Go runs on
	user, _ := strconv.ParseFloat(fields[11], 64)
	system, _ := strconv.ParseFloat(fields[12], 64)
	pages, _ := strconv.ParseFloat(fields[21], 64)
	return (user + system) / ticks, pages * float64(os.Getpagesize()), true
}

func single(page *bytes.Buffer, name, kind, help string, value float64) {
	fmt.Fprintf(page, "# HELP %s %s\n# TYPE %s %s\n%s %s\n", name, help, name, kind, name, number(value))
}

func number(value float64) string { return strconv.FormatFloat(value, 'g', -1, 64) }

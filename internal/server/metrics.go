package server

import (
	"bytes"
	"cmp"
	"fmt"
	"net/http"
	"os"
	"runtime"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Metrics counts requests by method, route, status and duration, and writes the counts
// in the text format of Prometheus. The format takes a few lines of code; the Prometheus
// library would make the binary 10% larger.
type Metrics struct {
	requests sync.Map // requestLabels → *histogram
	panics   atomic.Int64
	start    time.Time

	connections connectionCounts
	added       []Metric
}

// Metric is a metric of another part of the service, with one value and no labels.
type Metric struct {
	Name, Kind, Help string
	Value            func() float64
}

// Add adds metrics. It is called before they are served.
func (m *Metrics) Add(list ...Metric) { m.added = append(m.added, list...) }

type requestLabels struct {
	method, route string
	status        int
}

// bucketBounds are the upper bounds of the histogram buckets, in seconds.
var bucketBounds = [...]float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}

// histogram counts requests by duration. The last bucket has no upper bound.
type histogram struct {
	buckets  [len(bucketBounds) + 1]atomic.Int64
	sumNanos atomic.Int64
}

// NewMetrics returns empty metrics. The process start time is the time of the call.
func NewMetrics() *Metrics { return &Metrics{start: time.Now()} }

func (m *Metrics) observe(r *http.Request, status int, took time.Duration) {
	l := requestLabels{r.Method, r.Pattern, status}
	if l.route == "" {
		l.route = "none"
	}
	switch l.method {
	case "GET", "HEAD", "POST", "PATCH", "PUT", "DELETE", "OPTIONS":
	default:
		l.method = "other" // clients must not be able to create labels
	}
	value, ok := m.requests.Load(l)
	if !ok {
		value, _ = m.requests.LoadOrStore(l, &histogram{})
	}
	h := value.(*histogram)
	bucket, _ := slices.BinarySearch(bucketBounds[:], took.Seconds())
	h.buckets[bucket].Add(1)
	h.sumNanos.Add(int64(took))
}

// Handler serves the metrics.
func (m *Metrics) Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		var page bytes.Buffer
		m.writeRequests(&page)
		writeMetric(&page, "formulary_panics_total", "counter", "Requests that panicked.", float64(m.panics.Load()))
		m.writeConnections(&page)
		for _, added := range m.added {
			writeMetric(&page, added.Name, added.Kind, added.Help, added.Value())
		}
		m.writeProcess(&page)
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		w.Write(page.Bytes()) // an error means that the client has disconnected
	})
}

func (m *Metrics) writeRequests(page *bytes.Buffer) {
	const name = "formulary_http_request_seconds"
	fmt.Fprintf(page, "# HELP %s Request duration by method, route and status.\n# TYPE %[1]s histogram\n", name)
	var labels []requestLabels
	m.requests.Range(func(key, _ any) bool {
		labels = append(labels, key.(requestLabels))
		return true
	})
	sort.Slice(labels, func(i, j int) bool {
		a, b := labels[i], labels[j]
		return cmp.Or(cmp.Compare(a.route, b.route), cmp.Compare(a.method, b.method), cmp.Compare(a.status, b.status)) < 0
	})
	for _, l := range labels {
		value, _ := m.requests.Load(l)
		h := value.(*histogram)
		series := fmt.Sprintf(`method=%q,route=%q,status="%d"`, l.method, l.route, l.status)
		var count int64
		for i := range h.buckets {
			count += h.buckets[i].Load()
			bound := "+Inf"
			if i < len(bucketBounds) {
				bound = formatNumber(bucketBounds[i])
			}
			fmt.Fprintf(page, "%s_bucket{%s,le=%q} %d\n", name, series, bound, count)
		}
		fmt.Fprintf(page, "%s_sum{%s} %s\n%[1]s_count{%[2]s} %[4]d\n", name, series, formatNumber(time.Duration(h.sumNanos.Load()).Seconds()), count)
	}
}

func (m *Metrics) writeConnections(page *bytes.Buffer) {
	c := &m.connections
	writeMetric(page, "formulary_connections_open", "gauge", "Open connections.", float64(c.open.Load()))
	writeMetric(page, "formulary_connections_idle_closed_total", "counter", "Idle connections closed at a connection limit.", float64(c.evicted.Load()))
	const refused = "formulary_connections_refused_total"
	fmt.Fprintf(page, "# HELP %s Connections refused at a connection limit.\n# TYPE %[1]s counter\n", refused)
	fmt.Fprintf(page, "%s{limit=\"address\"} %d\n%[1]s{limit=\"total\"} %[3]d\n", refused, c.refusedAddress.Load(), c.refusedTotal.Load())
	writeMetric(page, "formulary_accept_errors_total", "counter", "Connections that could not be accepted.", float64(c.acceptErrors.Load()))
}

// writeProcess writes metrics of the process under the names that the Prometheus client
// library uses, so that existing dashboards work.
func (m *Metrics) writeProcess(page *bytes.Buffer) {
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	writeMetric(page, "go_goroutines", "gauge", "Number of goroutines.", float64(runtime.NumGoroutine()))
	writeMetric(page, "go_memstats_heap_inuse_bytes", "gauge", "Heap memory in use.", float64(memory.HeapInuse))
	writeMetric(page, "go_memstats_sys_bytes", "gauge", "Memory obtained from the operating system.", float64(memory.Sys))
	writeMetric(page, "go_memstats_alloc_bytes_total", "counter", "Total bytes allocated.", float64(memory.TotalAlloc))
	writeMetric(page, "go_gc_cycles_total", "counter", "Total garbage collections.", float64(memory.NumGC))
	writeMetric(page, "process_start_time_seconds", "gauge", "Process start time in Unix seconds.", float64(m.start.UnixMilli())/1000)
	if cpu, resident, ok := processUsage(); ok {
		writeMetric(page, "process_cpu_seconds_total", "counter", "Total CPU time.", cpu)
		writeMetric(page, "process_resident_memory_bytes", "gauge", "Resident memory size.", resident)
	}
	if files, err := os.ReadDir("/proc/self/fd"); err == nil {
		writeMetric(page, "process_open_fds", "gauge", "Open file descriptors.", float64(len(files)))
	}
}

// processUsage returns the CPU seconds and resident bytes of this process. It works on
// Linux only; ok is false elsewhere.
func processUsage() (cpu, resident float64, ok bool) {
	text, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return 0, 0, false
	}
	// The second field is the program name in parentheses; it may contain spaces.
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) < 22 {
		return 0, 0, false
	}
	const ticksPerSecond = 100 // USER_HZ on every Linux that Go supports
	user, _ := strconv.ParseFloat(fields[11], 64)
	system, _ := strconv.ParseFloat(fields[12], 64)
	pages, _ := strconv.ParseFloat(fields[21], 64)
	return (user + system) / ticksPerSecond, pages * float64(os.Getpagesize()), true
}

// writeMetric writes a metric that has one value and no labels.
func writeMetric(page *bytes.Buffer, name, kind, help string, value float64) {
	fmt.Fprintf(page, "# HELP %s %s\n# TYPE %s %s\n%s %s\n", name, help, name, kind, name, formatNumber(value))
}

func formatNumber(value float64) string { return strconv.FormatFloat(value, 'g', -1, 64) }

package server

import (
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Metrics counts requests by what answered them and how long it took.
type Metrics struct {
	registry *prometheus.Registry
	requests *prometheus.HistogramVec
	panics   prometheus.Counter
	known    sync.Map // label → prometheus.Observer: looking one up costs more than counting
}

type label struct {
	method, route string
	status        int
}

// NewMetrics starts counting.
func NewMetrics() *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "formulary_http_request_seconds",
			Help:    "How long requests took, by method, route and status.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
		}, []string{"method", "route", "status"}),
		panics: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "formulary_panics_total", Help: "Requests that fell over.",
		}),
	}
	m.registry.MustRegister(m.requests, m.panics,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Handler shows the metrics.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

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
	o, ok := m.known.Load(l)
	if !ok {
		o, _ = m.known.LoadOrStore(l, m.requests.WithLabelValues(l.method, l.route, strconv.Itoa(l.status)))
	}
	o.(prometheus.Observer).Observe(took.Seconds())
}

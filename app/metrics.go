package app

import (
	"fmt"
	"net/http"
	"sync"

	"github.com/VictoriaMetrics/metrics"

	"quartermaster/app/rest"
	"quartermaster/schema/db"
)

// meters are what /metrics shows.
type meters struct {
	set      *metrics.Set
	requests sync.Map // of rest.Observation without its time, to *meter
}

// meter counts one route's requests, and their durations as a Prometheus histogram.
type meter struct {
	requests, count *metrics.Counter
	sum             *metrics.FloatCounter
	buckets         []*metrics.Counter // cumulative, one a bound, the last +Inf
}

// bounds suit answers that take between a tenth of a millisecond and seconds.
var bounds = []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}

func newMeters(d *db.DB) *meters {
	m := &meters{set: metrics.NewSet()}
	m.set.NewGauge("quartermaster_database_bytes", func() float64 { return float64(d.Size()) })
	m.set.NewGauge("quartermaster_writes_total", func() float64 { n, _ := d.Waits(); return float64(n) })
	m.set.NewGauge("quartermaster_write_wait_seconds_total", func() float64 { _, t := d.Waits(); return t.Seconds() })
	return m
}

func (m *meters) meter(o rest.Observation) *meter {
	labels := fmt.Sprintf("service=%q,method=%q,route=%q,status=\"%d\"", o.Service, o.Method, o.Route, o.Status)
	const took = "quartermaster_http_request_seconds"
	t := &meter{
		requests: m.set.GetOrCreateCounter("quartermaster_http_requests_total{" + labels + "}"),
		count:    m.set.GetOrCreateCounter(took + "_count{" + labels + "}"),
		sum:      m.set.GetOrCreateFloatCounter(took + "_sum{" + labels + "}"),
	}
	for _, b := range bounds {
		t.buckets = append(t.buckets, m.set.GetOrCreateCounter(fmt.Sprintf("%s_bucket{%s,le=\"%g\"}", took, labels, b)))
	}
	t.buckets = append(t.buckets, m.set.GetOrCreateCounter(took+"_bucket{"+labels+`,le="+Inf"}`))
	return t
}

// observe counts one served request.
func (m *meters) observe(o rest.Observation) {
	key := o
	key.Took = 0
	v, ok := m.requests.Load(key)
	if !ok {
		v, _ = m.requests.LoadOrStore(key, m.meter(o))
	}
	t, _ := v.(*meter)
	seconds := o.Took.Seconds()
	t.requests.Inc()
	t.count.Inc()
	t.sum.Add(seconds)
	for i := len(bounds); i >= 0 && (i == len(bounds) || seconds <= bounds[i]); i-- {
		t.buckets[i].Inc()
	}
}

// delivered counts one delivery by what became of it.
func (m *meters) delivered(service, state string) {
	m.set.GetOrCreateCounter(fmt.Sprintf("quartermaster_deliveries_total{service=%q,state=%q}", service, state)).Inc()
}

func (m *meters) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/metrics" {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	m.set.WritePrometheus(w)
	metrics.WriteProcessMetrics(w)
}

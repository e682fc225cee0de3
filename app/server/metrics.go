package server

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/VictoriaMetrics/metrics"

	"quartermaster/app/rest"
	"quartermaster/schema/db"
)

// meters are what /metrics shows.
type meters struct {
	set      *metrics.Set
	requests sync.Map // of rest.Observation without its time, to *meter
}

// meter counts the requests to one route that ended with one status, by how long they
// took: each with the first of the bounds that it kept. What is shown is summed up when
// it is asked for.
type meter struct {
	requests [len(bounds) + 1]atomic.Int64 // the last is beyond them all
	nanos    atomic.Int64
}

// bounds suit answers that take between a tenth of a millisecond and seconds.
var bounds = [...]time.Duration{
	100 * time.Microsecond, 250 * time.Microsecond, 500 * time.Microsecond, time.Millisecond, 2500 * time.Microsecond,
	5 * time.Millisecond, 10 * time.Millisecond, 25 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond,
	250 * time.Millisecond, 500 * time.Millisecond, time.Second, 2500 * time.Millisecond, 5 * time.Second, 10 * time.Second,
}

func newMeters(d *db.DB, unbooked func(context.Context) (int64, error)) *meters {
	m := &meters{set: metrics.NewSet()}
	m.set.NewGauge("quartermaster_unbooked_payments", func() float64 {
		n, err := unbooked(context.Background())
		if err != nil {
			return math.NaN()
		}
		return float64(n)
	})
	m.set.NewGauge("quartermaster_database_bytes", func() float64 { return float64(d.Size()) })
	m.set.NewGauge("quartermaster_writes_total", func() float64 { return float64(d.Stats().Writes) })
	m.set.NewGauge("quartermaster_write_wait_seconds_total", func() float64 { return d.Stats().Waited.Seconds() })
	return m
}

// show adds the meter to what /metrics shows: a counter, and a Prometheus histogram.
func (m *meters) show(t *meter, o rest.Observation) {
	labels := fmt.Sprintf("service=%q,method=%q,route=%q,status=\"%d\"", o.Service, o.Method, o.Route, o.Status)
	const took = "quartermaster_http_request_seconds"
	all := func() float64 { return t.within(len(bounds)) }
	m.set.NewGauge("quartermaster_http_requests_total{"+labels+"}", all)
	m.set.NewGauge(took+"_count{"+labels+"}", all)
	m.set.NewGauge(took+"_sum{"+labels+"}", func() float64 { return time.Duration(t.nanos.Load()).Seconds() })
	for i, b := range bounds {
		m.set.NewGauge(fmt.Sprintf("%s_bucket{%s,le=\"%g\"}", took, labels, b.Seconds()), func() float64 { return t.within(i) })
	}
	m.set.NewGauge(took+"_bucket{"+labels+`,le="+Inf"}`, all)
}

// within is how many requests kept the bound.
func (t *meter) within(bound int) float64 {
	var n int64
	for i := range bound + 1 {
		n += t.requests[i].Load()
	}
	return float64(n)
}

// observe counts one served request.
func (m *meters) observe(o rest.Observation) {
	key := o
	key.Took = 0
	v, ok := m.requests.Load(key)
	if !ok {
		if v, ok = m.requests.LoadOrStore(key, new(meter)); !ok {
			m.show(v.(*meter), key) //nolint:forcetypeassert // it has no others
		}
	}
	t, _ := v.(*meter)
	i, _ := slices.BinarySearch(bounds[:], o.Took)
	t.requests[i].Add(1)
	t.nanos.Add(int64(o.Took))
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

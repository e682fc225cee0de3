package server

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/VictoriaMetrics/metrics"

	"quartermaster/app/mailer"
	"quartermaster/app/rest"
	"quartermaster/schema/db"
)

// meters are the metrics of /metrics.
type meters struct {
	set      *metrics.Set
	requests sync.Map // of rest.Observation without its time, to *meter
}

// meter counts the requests to one route with one status, by duration: each at the first bound that it met. Sums are
// computed when they are read.
type meter struct {
	requests [len(bounds) + 1]atomic.Int64 // the last is beyond all bounds
	nanos    atomic.Int64
}

// bounds suit answers between a tenth of a millisecond and seconds.
var bounds = [...]time.Duration{
	100 * time.Microsecond, 250 * time.Microsecond, 500 * time.Microsecond, time.Millisecond, 2500 * time.Microsecond,
	5 * time.Millisecond, 10 * time.Millisecond, 25 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond,
	250 * time.Millisecond, 500 * time.Millisecond, time.Second, 2500 * time.Millisecond, 5 * time.Second,
	10 * time.Second,
}

// families describe the metrics. A histogram has several names with its own as prefix.
var families = []struct{ name, kind, help string }{
	{"quartermaster_backup_age_seconds", "gauge", "Time since the last backup by command or page; NaN before the first."},
	{"quartermaster_database_bytes", "gauge", "Size of the database file and its log."},
	{"quartermaster_deliveries_total", "counter", "Webhook attempts since the start, by service and outcome."},
	{"quartermaster_disk_free_bytes", "gauge", "Free disk space where the database file is."},
	{"quartermaster_failed_deliveries", "gauge", "Webhook deliveries in the log that failed and were not sent again."},
	{"quartermaster_http_request_seconds", "histogram", "Time of requests, by service, method, route and status."},
	{"quartermaster_http_requests_total", "counter", "Requests since the start, by service, method, route and status."},
	{"quartermaster_mails", "gauge", "Messages to be mailed, by state."},
	{"quartermaster_unbooked_payments", "gauge", "Payments that arrived and could not be booked."},
	{"quartermaster_write_wait_seconds_total", "counter", "Time that writes have waited for their commit."},
	{"quartermaster_writes_total", "counter", "Writes since the start."},
}

func newMeters(d *db.DB, unbooked func(context.Context) (int64, error)) *meters {
	metrics.ExposeMetadata(true) // of the process's own; ours have theirs in families
	m := &meters{set: metrics.NewSet()}
	gauge := func(name string, read func() (float64, error)) { // NaN: it cannot be read, or there is none
		m.set.NewGauge(name, func() float64 {
			v, err := read()
			if err != nil {
				return math.NaN()
			}
			return v
		})
	}
	count := func(name string, read func() (int64, error)) {
		gauge(name, func() (float64, error) { n, err := read(); return float64(n), err })
	}
	count("quartermaster_unbooked_payments", func() (int64, error) { return unbooked(context.Background()) })
	gauge("quartermaster_backup_age_seconds", func() (float64, error) {
		age, err := d.BackupAge(context.Background())
		return age.Seconds(), err
	})
	count("quartermaster_failed_deliveries", func() (int64, error) {
		return d.QueryInt("SELECT count(*) FROM deliveries WHERE state = 'failed'")
	})
	for _, state := range mailer.States {
		count(fmt.Sprintf("quartermaster_mails{state=%q}", state), func() (int64, error) {
			return d.QueryInt("SELECT count(*) FROM mails WHERE state = '" + state + "'")
		})
	}
	gauge("quartermaster_disk_free_bytes", func() (float64, error) {
		free, err := db.FreeDisk(d.Path())
		return float64(free), err
	})
	m.set.NewGauge("quartermaster_database_bytes", func() float64 { return float64(d.Size()) })
	m.set.NewGauge("quartermaster_writes_total", func() float64 { return float64(d.Stats().Writes) })
	m.set.NewGauge("quartermaster_write_wait_seconds_total", func() float64 { return d.Stats().Waited.Seconds() })
	return m
}

// show adds the meter to /metrics: a counter, and a Prometheus histogram.
func (m *meters) show(t *meter, o rest.Observation) {
	labels := fmt.Sprintf("service=%q,method=%q,route=%q,status=\"%d\"", o.Service, o.Method, o.Route, o.Status)
	const took = "quartermaster_http_request_seconds"
	all := func() float64 { return t.within(len(bounds)) }
	m.set.NewGauge("quartermaster_http_requests_total{"+labels+"}", all)
	m.set.NewGauge(took+"_count{"+labels+"}", all)
	m.set.NewGauge(took+"_sum{"+labels+"}", func() float64 { return time.Duration(t.nanos.Load()).Seconds() })
	for i, b := range bounds {
		m.set.NewGauge(fmt.Sprintf("%s_bucket{%s,le=\"%g\"}", took, labels, b.Seconds()),
			func() float64 { return t.within(i) })
	}
	m.set.NewGauge(took+"_bucket{"+labels+`,le="+Inf"}`, all)
}

// within is the number of requests within the bound.
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

// delivered counts one delivery by outcome.
func (m *meters) delivered(service, state string) {
	m.set.GetOrCreateCounter(fmt.Sprintf("quartermaster_deliveries_total{service=%q,state=%q}", service, state)).Inc()
}

func (m *meters) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/metrics" {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	m.write(w)
	metrics.WriteProcessMetrics(w)
}

// write writes the metrics, each family after its HELP and TYPE.
func (m *meters) write(w io.Writer) {
	var all bytes.Buffer
	m.set.WritePrometheus(&all)
	told := ""
	for line := range strings.Lines(all.String()) {
		if strings.HasPrefix(line, "#") { // the library's lines of our histograms
			continue
		}
		name, _, _ := strings.Cut(line, " ")
		name, _, _ = strings.Cut(name, "{")
		for _, f := range families {
			if f.name != told && (name == f.name || f.kind == "histogram" && strings.HasPrefix(name, f.name+"_")) {
				told = f.name
				_, _ = fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s %s\n", f.name, f.help, f.name, f.kind)
			}
		}
		_, _ = io.WriteString(w, line)
	}
}

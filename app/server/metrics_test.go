package server

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/VictoriaMetrics/metrics"

	"quartermaster/app/rest"
	"quartermaster/schema/assert"
)

func TestHistogram(t *testing.T) {
	m := &meters{set: metrics.NewSet()}
	for _, took := range []time.Duration{
		0, 100*time.Microsecond - 1, 100 * time.Microsecond, 100*time.Microsecond + 1, 10 * time.Second, 10*time.Second + 1, time.Hour,
	} {
		m.observe(rest.Observation{Service: "store", Method: "GET", Route: "/r", Status: 200, Took: took})
	}
	m.observe(rest.Observation{Service: "store", Method: "GET", Route: "/r", Status: 404, Took: time.Second})
	var out bytes.Buffer
	m.write(&out)
	const labels = `{service="store",method="GET",route="/r",status="200"`
	for _, want := range []string{
		"# TYPE quartermaster_http_request_seconds histogram\nquartermaster_http_request_seconds_bucket{",
		"# TYPE quartermaster_http_requests_total counter\nquartermaster_http_requests_total{",
		"quartermaster_http_requests_total" + labels + "} 7",
		"quartermaster_http_request_seconds_count" + labels + "} 7",
		"quartermaster_http_request_seconds_sum" + labels + "} 3620.0003",
		"quartermaster_http_request_seconds_bucket" + labels + `,le="0.0001"} 3`,
		"quartermaster_http_request_seconds_bucket" + labels + `,le="0.00025"} 4`,
		"quartermaster_http_request_seconds_bucket" + labels + `,le="5"} 4`,
		"quartermaster_http_request_seconds_bucket" + labels + `,le="10"} 5`,
		"quartermaster_http_request_seconds_bucket" + labels + `,le="+Inf"} 7`,
		`quartermaster_http_requests_total{service="store",method="GET",route="/r",status="404"} 1`,
	} {
		assert.That(t, strings.Contains(out.String(), want), "no %s in:\n%s", want, out.String())
	}
}

// TestMetricsAreDocumented compares the metrics with docs/metrics.md.
func TestMetricsAreDocumented(t *testing.T) {
	text := assert.Value(os.ReadFile("../../docs/metrics.md"))(t)
	for _, f := range families {
		assert.Contains(t, string(text), "| `"+f.name+"` | "+f.kind+" | "+f.help+" |", "docs/metrics.md lacks")
	}
	n := strings.Count(string(text), "| `quartermaster_")
	assert.That(t, n == len(families), "docs/metrics.md names %d families, there are %d", n, len(families))
}

package screens

import (
	"net/http"
	"strings"
	"testing"

	"quartermaster/app/apptest"
)

// BenchmarkPages requests the demo's pages, for a profile of their cost.
func BenchmarkPages(b *testing.B) {
	s := demoShop(b)
	v := s.Person("store", "alice", "admin")
	for _, c := range []struct{ service, path string }{
		{"maintenance", "/"}, {"maintenance", "/work-orders"}, {"reorder", "/skus"}, {"rental", "/"}, {"rental", "/leases"}, {"rental", "/leases/1"}, {"rental", "/arrears"}, {"store", "/"}, {"store", "/orders"},
	} {
		at := v.At(s.URL(c.service, ""))
		b.Run(c.service+strings.ReplaceAll(c.path, "/", "."), func(b *testing.B) {
			for range b.N {
				if got := plainGet(at, c.path); got != http.StatusOK {
					b.Fatal(got)
				}
			}
		})
	}
}

// plainGet requests a page without parsing the document.
func plainGet(v *apptest.Visitor, path string) int {
	r, err := http.NewRequest(http.MethodGet, v.Base+path, nil)
	if err != nil {
		v.T.Fatal(err)
	}
	r.Header.Set("Accept", "text/html")
	r.Header.Set("Accept-Encoding", "gzip")
	resp, err := v.Client.Do(r)
	if err != nil {
		v.T.Fatal(err)
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}

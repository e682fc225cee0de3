package maintenance

import (
	"fmt"
	"strings"
	"testing"

	"quartermaster/schema/fault"
)

func TestAssetStatus(t *testing.T) {
	s := open(t)
	s.lathe("100", "2026-11-01")
	a, err := s.SetAssetStatus(ctx, cli, 1, " Needs_Attention ")
	s.Must(err)
	if a.Status != "needs-attention" || len(a.Meters) != 1 {
		t.Errorf("%s", asJSON(t, a))
	}
	entries := len(s.audit())
	_, err = s.SetAssetStatus(ctx, cli, 1, "needs-attention")
	s.Must(err)
	if len(s.audit()) != entries {
		t.Error("the same status again was audited")
	}
	s.untouched(fault.Invalid, "operational, needs-attention, down, retired", func() error { _, err := s.SetAssetStatus(ctx, cli, 1, "broken"); return err })
	s.untouched(fault.NotFound, "asset 5", func() error { _, err := s.SetAssetStatus(ctx, cli, 5, "down"); return err })
}

func TestAssetAndPartPages(t *testing.T) {
	s := open(t)
	for i := range 7 {
		s.rows("assets", "asset_tag,status", fmt.Sprintf("A-%d|%s", i, assetStatuses[i%2]))
		s.rows("meters", "asset_tag,name,unit,reading,read_date", fmt.Sprintf("A-%d|hours|h|%d|2026-11-01", i, i))
		s.rows("parts", "part_number", fmt.Sprintf("P-%d", i))
	}
	walk := func(route, list string, query ...string) (got string) {
		t.Helper()
		after := ""
		for range 20 {
			q := append([]string{"limit", "3"}, query...)
			if after != "" {
				q = append(q, "after", after)
			}
			page, err := s.get(route, "", q...)
			s.Must(err)
			v := parsed(t, page)
			rows, _ := v.Get(list)
			for _, row := range rows.Items {
				id, _ := row.Get("id")
				got += string(id.Raw()) + " "
			}
			next, ok := v.Get("next")
			if !ok {
				t.Fatalf("%s without next: %s", route, page)
			}
			if after = string(next.Raw()); after == "null" {
				return got
			}
		}
		t.Fatalf("%s never ends", route)
		return ""
	}
	if got := walk("GET /api/assets", "assets"); got != "1 2 3 4 5 6 7 " {
		t.Errorf("assets %s", got)
	}
	if got := walk("GET /api/assets", "assets", "status", "operational"); got != "1 3 5 7 " {
		t.Errorf("operational assets %s", got)
	}
	if got := walk("GET /api/parts", "parts"); got != "1 2 3 4 5 6 7 " {
		t.Errorf("parts %s", got)
	}
	one, err := s.get("GET /api/assets", "", "limit", "1")
	s.Must(err)
	const want = `{"assets":[{"id":1,"asset_tag":"A-0","name":"A-0","category":null,"location":null,"manufacturer":null,"model":null,"serial_number":null,` +
		`"status":"operational","notes":null,"meters":[{"id":1,"name":"hours","unit":"h","reading":0,"read_date":"2026-11-01","avg_per_day":null}]}],"next":1}`
	if one != want {
		t.Errorf("got  %s\nwant %s", one, want)
	}
	for _, route := range []string{"GET /api/assets", "GET /api/parts"} {
		_, err := s.get(route, "", "limit", "0")
		s.Refused(err, fault.Invalid, "limit")
		if page, err := s.get(route, "", "limit", "5000"); err != nil || !strings.HasSuffix(page, `"next":null}`) {
			t.Errorf("%s: over 1000: %v", route, err)
		}
	}
	_, err = s.get("GET /api/assets", "", "status", "broken")
	s.Refused(err, fault.Invalid, "operational, needs-attention, down, retired")
}

package maintenance

import (
	"strings"
	"testing"

	"quartermaster/schema/assert"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

func TestPartsAndDetail(t *testing.T) {
	s := open(t)
	s.lathe("100", "2026-11-01")
	s.rows("parts", s.header("parts"), "6204|Ball bearing|piece|10|4|425|Bearings Ltd|shelf 3", "OIL|Oil|l|2.5|0|999||")
	wo := s.opens(WorkOrder{PartsCost: exact.Decimal{Unscaled: 400, Places: 2}, LaborMinutes: 60})
	use := func(number, qty string) (Used, error) { return do3(s, cli, usePart, wo.ID, number, milli(t, qty)) }
	u, err := use("6204", "6")
	s.Must(err)
	if u.Part.Quantity != 4000 || !u.Part.LowStock || u.WorkOrder.PartsCostCents != 400+2550 || u.Use.CostCents != 2550 {
		t.Errorf("six bearings: %s", asJSON(t, u))
	}
	if u, err = use("OIL", "0.333"); err != nil || u.Use.CostCents != 333 { // 332.667
		t.Errorf("oil: %s %v", asJSON(t, u), err)
	}
	s.untouched(fault.Invalid, "4", func() error { _, err := use("6204", "4.001"); return err })
	s.untouched(fault.Invalid, "above 0", func() error { _, err := use("6204", "0"); return err })
	s.untouched(fault.Invalid, "above 0", func() error { _, err := use("6204", "-1"); return err })
	s.untouched(fault.NotFound, "9999", func() error { _, err := use("9999", "1"); return err })
	s.untouched(fault.NotFound, "work order 7", func() error { _, err := do3(s, cli, usePart, 7, "OIL", 1); return err })
	_, err = use("6204", "4")
	assert.NoError(t, err, "all that is left")
	// A new price does not change earlier use.
	s.rows("parts", "part_number,unit_cost_cents,quantity", "6204|1000|5")
	_, err = use("6204", "1")
	assert.OK(t, err)
	photo, err := s.photographs(wo.ID, `C:\pictures\before.PNG`, "before", []byte("\x89PNG\r\n\x1a\nrest"))
	s.Must(err)
	got := assert.Value(s.call("workorder_detail", `{"id":1}`))(s.T)
	const want = `"parts":[{"part_id":1,"part_number":"6204","name":"Ball bearing","qty":6,"unit_cost_cents":425,"cost_cents":2550},` +
		`{"part_id":2,"part_number":"OIL","name":"Oil","qty":0.333,"unit_cost_cents":999,"cost_cents":333},` +
		`{"part_id":1,"part_number":"6204","name":"Ball bearing","qty":4,"unit_cost_cents":425,"cost_cents":1700},` +
		`{"part_id":1,"part_number":"6204","name":"Ball bearing","qty":1,"unit_cost_cents":1000,"cost_cents":1000}],` +
		`"photos":[{"id":1,"filename":"before.PNG","caption":"before"}],` +
		`"cost":{"labor_cents":0,"parts_typed_cents":400,"parts_used_cents":5583,"total_cents":5983}}`
	assert.That(t, strings.HasSuffix(got, want) && strings.Contains(got, `"total_cost_cents":5983,`),
		"detail\n%s\nwant the end\n%s", got, want)
	if back, data, err := s.Photo(ctx, photo.ID); err != nil || string(data) != "\x89PNG\r\n\x1a\nrest" || back.Filename != "before.PNG" {
		t.Errorf("photo: %v %q %v", back, data, err)
	}
	_, err = s.call("workorder_detail", `{"id":5}`)
	s.Refused(err, fault.NotFound, "work order 5")
	s.moves(wo.ID, "in-progress", "done")
	s.untouched(fault.Invalid, "done", func() error { _, err := use("OIL", "0.1"); return err })
	s.opens(WorkOrder{})
	s.moves(2, "cancelled")
	s.untouched(fault.Invalid, "cancelled", func() error { _, err := do3(s, cli, usePart, 2, "OIL", 100); return err })
}

func TestPartsBound(t *testing.T) {
	s := open(t)
	s.lathe("100", "2026-11-01")
	s.rows("parts", "part_number,quantity,unit_cost_cents", "GOLD|1000000000|10000000000")
	s.opens(WorkOrder{})
	s.untouched(fault.Invalid, "in all", func() error { _, err := do3(s, cli, usePart, 1, "GOLD", 1_000_000_000_000); return err })
	s.untouched(fault.Invalid, "in all", func() error { _, err := do3(s, cli, usePart, 1, "GOLD", 10_000_001); return err })
	_, err := do3(s, cli, usePart, 1, "GOLD", 10_000_000)
	assert.NoError(t, err)
	s.untouched(fault.Invalid, "in all", func() error { _, err := do3(s, cli, usePart, 1, "GOLD", 1); return err })
}

func (s *fixture) photographs(order int64, name, caption string, data []byte) (Photo, error) {
	return db.Update(ctx, s.DB, cli, func(tx *db.Tx) (Photo, error) { return addPhoto(tx, order, name, caption, data) })
}

func TestPhotos(t *testing.T) {
	s := open(t)
	s.lathe("100", "2026-11-01")
	s.opens(WorkOrder{})
	add := func(name string, data []byte) (Photo, error) { return s.photographs(1, name, "", data) }
	for name, head := range map[string]string{"a.jpg": "\xff\xd8\xff\xe0", "b.png": "\x89PNG\r\n\x1a\n", "c.webp": "RIFF\x10\x00\x00\x00WEBP"} {
		p := assert.Value(add(name, []byte(head+"data")))(s.T)
		assert.That(t, p.Filename == name && p.Caption == nil, "%s: %s", name, asJSON(t, p))
	}
	big := make([]byte, MaxPhoto)
	copy(big, "\xff\xd8\xff")
	if _, err := add("big.jpg", big); err != nil {
		t.Errorf("10 MiB: %v", err)
	}
	s.untouched(fault.Invalid, "10485760", func() error { _, err := add("big.jpg", append(big, 0)); return err })
	for _, data := range []string{"", "GIF89a", "\x89PNG", "RIFF\x10\x00\x00\x00WAVE", "RIFF", "<svg>"} {
		s.untouched(fault.Invalid, "JPEG, PNG or WebP", func() error { _, err := add("x.jpg", []byte(data)); return err })
	}
	s.untouched(fault.NotFound, "work order 4", func() error { _, err := s.photographs(4, "a.jpg", "", []byte("\xff\xd8\xff")); return err })
	_, _, err := s.Photo(ctx, 99)
	s.Refused(err, fault.NotFound, "photo 99")
}

func TestLowStock(t *testing.T) {
	for _, c := range []struct {
		quantity, minimum exact.Milli
		want              bool
	}{{0, 0, false}, {5, 0, false}, {5, 5, true}, {5001, 5000, false}, {4999, 5000, true}, {0, 1, true}} {
		assert.Equal(t, lowStock(c.quantity, c.minimum), c.want, "%v of at least %v", c.quantity, c.minimum)
	}
}

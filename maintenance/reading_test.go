package maintenance

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"quartermaster/schema/assert"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

func TestWhichMeter(t *testing.T) {
	s := open(t)
	s.rows("assets", "asset_tag,name", "V-1|Van", "B-1|Bench", "O-1|Other")
	s.rows("meters", "asset_tag,name,unit,reading,read_date", "V-1|odometer|km|5000|2026-11-01", "V-1|engine|h|100|2026-11-01", "O-1|hours|h|1|2026-11-01")
	post := func(asset int64, meter string) (Recorded, error) {
		return do(s, ana, recordReading, NewReading{AssetID: asset, Meter: meter, Reading: 6_000_000})
	}
	for _, ref := range []string{"odometer", "1", "ODOMETER"} {
		r := assert.Value(post(1, ref))(s.T)
		assert.That(t, r.Meter.Name == "odometer", "%s means %s", ref, r.Meter.Name)
	}
	s.untouched(fault.Invalid, "engine (2), odometer (1)", func() error { _, err := post(1, ""); return err })
	s.untouched(fault.Invalid, "engine (2), odometer (1)", func() error { _, err := post(1, "3"); return err })
	s.untouched(fault.Invalid, "has no meter", func() error { _, err := post(2, ""); return err })
	r, err := post(3, "")
	assert.That(t, err == nil && r.Meter.Name == "hours", "the only meter: %v %v", r.Meter.Name, err)
}

func TestReadingWarning(t *testing.T) {
	s := open(t)
	s.lathe("100", "2026-11-10")
	s.reads("200", "2026-11-19") // 100 in 9 days
	if r := s.reads("311.111", ""); r.Warning != nil {
		t.Errorf("ten times 11.11 in a day: %s", *r.Warning)
	}
	s = open(t)
	s.lathe("100", "2026-11-10")
	s.reads("200", "2026-11-19")
	r := s.reads("311.112", "")
	if r.Warning == nil || !strings.Contains(*r.Warning, "111.112 h in 1 day") || !strings.Contains(*r.Warning, "11.1111 a day") {
		t.Errorf("a thousandth more: %s", asJSON(t, r))
	}
	s.untouched(fault.Conflict, "below the present value", func() error { _, err := s.read("311.111", "", false); return err })
	if r, err := s.read("100000", "", true); err != nil || r.Warning != nil {
		t.Errorf("a correction is no jump: %s %v", asJSON(t, r), err)
	}
}

// TestUseAgainstNaive posts readings at random and compares use per day with a walk over all of them.
func TestUseAgainstNaive(t *testing.T) {
	type posted struct {
		point
		correction bool
	}
	naive := func(all []posted, today exact.Day) *exact.Decimal {
		begin := 0
		for i, p := range all {
			if p.correction {
				begin = i
			}
		}
		var line []point
		for _, p := range all[begin:] {
			if p.Day < today-89 || all[begin].correction && p.Day < all[begin].Day {
				continue
			}
			at := len(line)
			for at > 0 && line[at-1].Day > p.Day {
				at--
			}
			line = append(line[:at], append([]point{p.point}, line[at:]...)...)
		}
		if len(line) < 2 {
			return nil
		}
		first, last := line[0], line[len(line)-1]
		days, went := int64(last.Day-first.Day), int64(last.Value-first.Value)
		if days == 0 || went < 0 {
			return nil
		}
		return &exact.Decimal{Unscaled: exact.RoundHalfUp(went*10, days), Places: 4}
	}
	show := func(d *exact.Decimal) string {
		if d == nil {
			return "unknown"
		}
		return d.String()
	}
	for seed := range uint64(3) {
		s := open(t)
		r := rand.New(rand.NewPCG(seed, 3))
		start := "2026-03-01"
		s.On(start)
		s.lathe("", "")
		var all []posted
		value := exact.Milli(0)
		today := day(t, start)
		for range 60 {
			today += exact.Day(r.IntN(6))
			s.On(today.String())
			p := posted{point: point{Day: today - exact.Day(r.IntN(2)*r.IntN(120)), Value: value + exact.Milli(r.IntN(3)*r.IntN(100_000))}}
			if r.IntN(12) == 0 {
				p.correction, p.Value = true, exact.Milli(r.IntN(200_000))
			}
			got, err := do(s, ana, recordReading, NewReading{AssetID: 1, Reading: p.Value, ReadDate: &p.Day, Correction: p.correction})
			s.Must(err)
			all = append(all, p)
			value = p.Value
			want := show(naive(all, today))
			if show(got.Meter.AvgPerDay) != want || show(s.meter("hours").AvgPerDay) != want {
				t.Fatalf("seed %d, after %d readings: answered %s, listed %s, want %s", seed, len(all), show(got.Meter.AvgPerDay), show(s.meter("hours").AvgPerDay), want)
			}
		}
		today += 40
		s.On(today.String())
		got, want := show(s.meter("hours").AvgPerDay), show(naive(all, today))
		assert.That(t, got == want, "seed %d, 40 days later: %s, want %s", seed, got, want)
	}
}

// TestReadingsKeepTheirOrder checks that the readings' index keeps the order that use per day needs.
func TestReadingsKeepTheirOrder(t *testing.T) {
	s := open(t)
	s.lathe("100", "2026-11-01")
	s.reads("110", "2026-11-05")
	s.reads("120", "2026-11-03")
	_, err := s.read("10", "2026-11-06", true)
	s.Must(err)
	s.reads("12", "2026-11-20")
	want := []string{"L-1|hours|100|2026-11-01|0", "L-1|hours|110|2026-11-05|0", "L-1|hours|120|2026-11-03|0", "L-1|hours|10|2026-11-06|1", "L-1|hours|12|2026-11-20|0"}
	assert.Equal(t, strings.Join(s.export("readings"), "\n"), strings.Join(want, "\n"), "exported")
	var epochs []int64
	s.Must(s.DB.View(ctx, func(c *db.Conn) (err error) {
		epochs, err = db.All(c, db.Int, "SELECT epoch FROM readings ORDER BY seq")
		return err
	}))
	assert.That(t, fmt.Sprint(epochs) == "[0 0 0 1 1]", "epochs %v", epochs)
}

package exact

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"
	_ "time/tzdata"

	"quartermaster/schema/assert"
)

func TestParseDay(t *testing.T) {
	for _, c := range []struct {
		text string
		want Day
	}{
		{"1970-01-01", 0},
		{"1970-01-02", 1},
		{"1969-12-31", -1},
		{"1970-01-31", 30},
		{"1970-02-01", 31},
		{"1970-12-31", 364},
		{"1971-01-01", 365},
		{"1972-02-29", 789}, // 2*365 + 31 + 28
		{"1972-03-01", 790},
		{"2000-01-01", 10957}, // 30*365 + 7 leap days
		{"2000-02-29", 11016},
		{"2000-03-01", 11017},
		{"0001-01-01", MinDay},
		{"9999-12-31", MaxDay},
		{"1900-02-28", -25509},
		{"1900-03-01", -25508},
		{"2100-02-28", 47540},
		{"2100-03-01", 47541},
		{"2024-02-29", 19782},
		{"2023-02-28", 19416},
		{"2023-03-01", 19417},
	} {
		got, ok := ParseDay(c.text)
		assert.That(t, ok && got == c.want, "ParseDay(%q) = %d, %v, want %d", c.text, got, ok, c.want)
		got, ok = ParseDayBytes([]byte(c.text))
		assert.That(t, ok && got == c.want, "ParseDayBytes(%q) = %d, %v, want %d", c.text, got, ok, c.want)
		assert.Equal(t, c.want.String(), c.text, "Day(%d)", c.want)
	}
}

var notDays = []string{
	"", "2026", "2026-01", "2026-1-05", "2026-01-5", "26-01-05", "2026-01-05 ", " 2026-01-05",
	"2026/01/05", "2026-01/05", "20260105", "2026-00-01", "2026-13-01", "2026-20-01", "2026-01-00",
	"2026-01-32", "2026-04-31", "2026-06-31", "2026-09-31", "2026-11-31", "2026-02-29", "1900-02-29",
	"2100-02-29", "2000-02-30", "2024-02-30", "0000-01-01", "-001-01-01", "+026-01-05", "2026-01-05T",
	"202a-01-05", "2026-a1-05", "2026-01-a5", "2026-01-0:", "2026-01-/5", "２026-01-05", "2026-01-99",
}

func TestParseDayRefuses(t *testing.T) {
	for _, s := range notDays {
		d, ok := ParseDay(s)
		assert.That(t, !ok && d == 0, "ParseDay(%q) = %v, %v", s, d, ok)
	}
}

// TestEveryDay walks all days that have a text and compares with package time.
func TestEveryDay(t *testing.T) {
	at := time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)
	var buf []byte
	for d := MinDay; d <= MaxDay; d++ {
		y, m, day := d.Date()
		y2, m2, day2 := at.Date()
		assert.Must(t, y == y2 && m == m2 && day == day2, "Day(%d).Date() = %d-%d-%d, want %v", d, y, m, day, at)
		buf = d.Append(buf[:0])
		got, ok := ParseDayBytes(buf)
		assert.Must(t, ok && got == d, "ParseDayBytes(%s) = %d, %v, want %d", buf, got, ok, d)
		month := Month(y*12 + int(m) - 1)
		assert.Must(t, d.Month() == month && month.Day(day) == d, "%v: month %v, back %v", d, d.Month(), month.Day(day))
		at = at.AddDate(0, 0, 1)
	}
}

func TestDayAgainstTime(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	zones := []*time.Location{time.UTC, zone(t, "Europe/Berlin"), zone(t, "Asia/Kathmandu"), zone(t, "America/New_York"),
		zone(t, "Pacific/Apia"), time.FixedZone("far", -12*3600)}
	for range 20000 {
		at := time.Unix(r.Int64N(2e10)-1e10, r.Int64N(1e9)).In(zones[r.IntN(len(zones))])
		y, m, d := at.Date()
		if got := DayOf(at); got != DateOf(y, m, d) || got.String() != at.Format(time.DateOnly) && y > 0 {
			t.Fatalf("DayOf(%v) = %v", at, got)
		}
		y, mo, d := r.IntN(20000)-10000, r.IntN(200)-100, r.IntN(2000)-1000
		got, want := DateOf(y, time.Month(mo), d), DayOf(time.Date(y, time.Month(mo), d, 0, 0, 0, 0, time.UTC))
		assert.Must(t, got == want, "DateOf(%d, %d, %d) = %v, want %v", y, mo, d, got, want)
		any := Day(r.Int32() - math.MaxInt32/2)
		got = DateOf(any.Date())
		assert.Must(t, got == any, "DateOf(Day(%d).Date()) = %d", any, got)
	}
	for _, d := range []Day{math.MinInt32, math.MaxInt32} {
		got := DateOf(d.Date())
		assert.That(t, got == d, "DateOf(Day(%d).Date()) = %d", d, got)
	}
}

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	loc := assert.Value(time.LoadLocation(name))(t)
	return loc
}

func TestDayTime(t *testing.T) {
	for _, c := range []struct{ zone, day, want string }{
		{"UTC", "2026-01-05", "2026-01-05T00:00:00Z"},
		{"UTC", "0001-01-01", "0001-01-01T00:00:00Z"},
		{"UTC", "9999-12-31", "9999-12-31T00:00:00Z"},
		{"Europe/Berlin", "2026-03-29", "2026-03-29T00:00:00+01:00"},
		{"Europe/Berlin", "2026-03-30", "2026-03-30T00:00:00+02:00"},
		{"Europe/Berlin", "2026-10-25", "2026-10-25T00:00:00+02:00"},
		{"Europe/Berlin", "2099-07-01", "2099-07-01T00:00:00+02:00"},
		{"Asia/Kathmandu", "2026-01-05", "2026-01-05T00:00:00+05:45"},
		// Clocks go from 24:00 to 01:00: the day begins at one.
		{"America/Sao_Paulo", "2018-11-04", "2018-11-04T01:00:00-02:00"},
		{"Asia/Beirut", "2022-03-27", "2022-03-27T01:00:00+03:00"},
		// Clocks go from 01:00 back to 00:00: the first of the two midnights.
		{"America/Havana", "2023-11-05", "2023-11-05T00:00:00-04:00"},
		// Clocks go from 24:00 back to 23:00: midnight comes an hour later.
		{"America/Sao_Paulo", "2019-02-17", "2019-02-17T00:00:00-03:00"},
		// Clocks went from 00:01 back to 23:01: the day began, and began again.
		{"America/St_Johns", "2010-11-07", "2010-11-07T00:00:00-02:30"},
		// A day that the place skipped.
		{"Pacific/Apia", "2011-12-29", "2011-12-29T00:00:00-10:00"},
		{"Pacific/Apia", "2011-12-30", "2011-12-31T00:00:00+14:00"},
		{"Pacific/Apia", "2011-12-31", "2011-12-31T00:00:00+14:00"},
	} {
		d, _ := ParseDay(c.day)
		loc := zone(t, c.zone)
		got := d.Time(loc)
		text := got.Format(time.RFC3339)
		assert.That(t, text == c.want && got.Location() == loc, "%s in %s = %s, want %s", c.day, c.zone, text, c.want)
		before := DayOf(got.Add(-1))
		assert.That(t, before < d, "%s in %s: a moment before its start is %v", c.day, c.zone, before)
	}
	defer func() {
		assert.That(t, recover() != nil, "Time(nil) did not panic")
	}()
	Day(0).Time(nil)
}

func TestDayJSON(t *testing.T) {
	type doc struct {
		D Day           `json:"d"`
		P *Day          `json:"p"`
		M map[Day]Month `json:"m"`
	}
	const text = `{"d":"2024-02-29","p":null,"m":{"2026-01-05":"2026-01"}}`
	var v doc
	assert.OK(t, json.Unmarshal([]byte(text), &v))
	b, err := json.Marshal(v)
	assert.That(t, err == nil && string(b) == text, "%s, %v, want %s", b, err, text)
	for _, s := range notDays {
		quoted, _ := json.Marshal(s)
		d := Day(7)
		err := json.Unmarshal(quoted, &d)
		assert.That(t, errors.Is(err, ErrNotDay) && d == 7, "%s: %v, %v", quoted, d, err)
	}
	for _, s := range []string{`null`, `5`, `"2026\u002d01-05"`, `{}`, `true`} {
		var v struct{ D Day }
		err := json.Unmarshal([]byte(`{"D":`+s+`}`), &v)
		assert.That(t, errors.Is(err, ErrNotDay), "%s: %v, %v", s, v.D, err)
	}
	for _, d := range []Day{MinDay - 1, MaxDay + 1} {
		b, err := d.MarshalText()
		assert.That(t, err == ErrNotDay, "%s, %v", b, err)
	}
	outside := []Day{MinDay - 1, MaxDay + 1, DateOf(-5, 1, 2)}
	assert.Equal(t, fmt.Sprint(outside), "[0000-12-31 10000-01-01 -0005-01-02]")
	b, err = json.Marshal(outside)
	assert.That(t, err == nil && string(b) == `["0000-12-31","10000-01-01","-0005-01-02"]`, "%s, %v", b, err)
}

func FuzzDay(f *testing.F) {
	for _, s := range append(notDays, "2026-01-05", "2024-02-29", "0001-01-01", "9999-12-31") {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		want, err := time.Parse(time.DateOnly, s)
		wantOK := err == nil && want.Year() > 0
		got, ok := ParseDay(s)
		assert.Must(t, ok == wantOK, "ParseDay(%q) = %v, %v; time says %v", s, got, ok, err)
		bytes, bytesOK := ParseDayBytes([]byte(s))
		assert.Must(t, bytes == got && bytesOK == ok, "ParseDayBytes(%q) = %v, %v", s, bytes, bytesOK)
		if !ok {
			return
		}
		assert.Must(t, got == DayOf(want) && got.String() == s, "ParseDay(%q) = %v", s, got)
		if m, ok := ParseMonth(s[:7]); !ok || m != got.Month() || m.First() > got || m.Last() < got {
			t.Fatalf("ParseMonth(%q) = %v, %v", s[:7], m, ok)
		}
	})
}

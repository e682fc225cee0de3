package exact

import (
	"encoding/json"
	"math/rand"
	"testing"
	"time"

	"quartermaster/schema/assert"
)

func TestInstantIsRFC3339InUTC(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	first, last := time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC).Unix(), time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC).Unix()
	cases := []int64{0, -1, 1, 86399, 86400, -86400, -86401, first, last}
	for range 20_000 {
		cases = append(cases, first+r.Int63n(last-first+1))
	}
	for _, sec := range cases {
		i := Instant(sec)
		want := time.Unix(sec, 0).UTC().Format(instantLayout)
		assert.MustEqual(t, i.String(), want, "%d", sec)
		b, err := json.Marshal(i)
		assert.Must(t, err == nil && string(b) == `"`+want+`"`, "%d in JSON is %s (%v)", sec, b, err)
		back, ok := ParseInstant(want)
		assert.Must(t, ok && back == i, "%s is read as %d (%v)", want, back, ok)
	}
}

func TestParseInstant(t *testing.T) {
	for text, want := range map[string]Instant{
		"1970-01-01T00:00:00Z": 0, "1970-01-01T02:00:00+02:00": 0, "1970-01-01T00:00:01.9Z": 1, "2024-02-29T23:59:59Z": 1709251199,
	} {
		got, ok := ParseInstant(text)
		assert.That(t, ok && got == want, "%s is %d (%v), want %d", text, got, ok, want)
	}
	for _, text := range []string{"", "2026-11-20", "2026-02-30T00:00:00Z", "2026-11-20T25:00:00Z", "2026-11-20 10:00:00Z", "0000-12-31T00:00:00Z", "9999-12-31T23:00:00-02:00", "0001-01-01T00:00:00+01:00"} {
		got, ok := ParseInstant(text)
		assert.That(t, !ok, "%q is read as %d", text, got)
	}
	zone := time.FixedZone("far", 14*3600)
	d := Instant(1795211999).Day(zone)
	assert.That(t, d.String() == DayOf(time.Unix(1795211999, 0).In(zone)).String(), "day %v", d)
	at := InstantOf(time.Unix(7, 999_999_999))
	assert.That(t, at == 7 && at.Time().Unix() == 7, "cut to %d", at)
}

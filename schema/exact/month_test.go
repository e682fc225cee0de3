package exact

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"quartermaster/schema/assert"
)

func TestMonth(t *testing.T) {
	for _, c := range []struct {
		text        string
		want        Month
		days        int
		first, last string
	}{
		{"1970-01", 1970 * 12, 31, "1970-01-01", "1970-01-31"},
		{"0001-01", MinMonth, 31, "0001-01-01", "0001-01-31"},
		{"9999-12", MaxMonth, 31, "9999-12-01", "9999-12-31"},
		{"1900-02", 1900*12 + 1, 28, "1900-02-01", "1900-02-28"},
		{"2000-02", 2000*12 + 1, 29, "2000-02-01", "2000-02-29"},
		{"2023-02", 2023*12 + 1, 28, "2023-02-01", "2023-02-28"},
		{"2024-02", 2024*12 + 1, 29, "2024-02-01", "2024-02-29"},
		{"2100-02", 2100*12 + 1, 28, "2100-02-01", "2100-02-28"},
		{"2026-04", 2026*12 + 3, 30, "2026-04-01", "2026-04-30"},
		{"2026-07", 2026*12 + 6, 31, "2026-07-01", "2026-07-31"},
		{"2026-08", 2026*12 + 7, 31, "2026-08-01", "2026-08-31"},
		{"2026-11", 2026*12 + 10, 30, "2026-11-01", "2026-11-30"},
	} {
		m, ok := ParseMonth(c.text)
		b, bok := ParseMonthBytes([]byte(c.text))
		assert.That(t, b == m && bok == ok, "ParseMonthBytes(%q) = %v, %v", c.text, b, bok)
		assert.That(t, ok && m == c.want && m.String() == c.text,
			"ParseMonth(%q) = %d (%v), %v, want %d", c.text, m, m, ok, c.want)
		assert.That(t, m.Days() == c.days && m.First().String() == c.first && m.Last().String() == c.last,
			"%v: %d days, %v to %v", m, m.Days(), m.First(), m.Last())
		for n := -1; n <= 33; n++ {
			want := m.First() + Day(min(max(n, 1), c.days)-1)
			assert.Equal(t, m.Day(n), want, "%v.Day(%d)", m, n)
		}
		y, mo := m.Date()
		assert.That(t, y*12+int(mo)-1 == int(m) && mo >= time.January && mo <= time.December, "%v.Date() = %d, %d", m, y, mo)
	}
	for _, s := range []string{"", "2026", "2026-1", "2026-00", "2026-13", "2026-1a", "0000-01", "2026/01", "2026-01-", "2026-01-01", "-026-01", "2026-19"} {
		m, ok := ParseMonth(s)
		assert.That(t, !ok, "ParseMonth(%q) = %v", s, m)
	}
	assert.Equal(t, fmt.Sprint(MinMonth-1, MaxMonth+1, Month(-1), Month(-12*20)), "0000-12 10000-01 -0001-12 -0020-01")
	assert.Equal(t, (MaxDay + 1).Month(), MaxMonth+1)
}

func TestMonthJSON(t *testing.T) {
	const text = `{"m":"2026-01","by":{"2025-12":"0001-01"}}`
	var v struct {
		M  Month           `json:"m"`
		By map[Month]Month `json:"by"`
	}
	assert.OK(t, json.Unmarshal([]byte(text), &v))
	b, err := json.Marshal(v)
	assert.That(t, err == nil && string(b) == text, "%s, %v, want %s", b, err, text)
	for _, s := range []string{`null`, `"2026-13"`, `202601`, `"2026-1"`, `""`, `"2026-01-"`} {
		err := json.Unmarshal([]byte(`{"m":`+s+`}`), &v)
		assert.That(t, errors.Is(err, ErrNotMonth), "%s: %v, %v", s, v.M, err)
	}
	for _, m := range []Month{MinMonth - 1, MaxMonth + 1} {
		b, err := m.MarshalText()
		assert.That(t, err == ErrNotMonth, "%s, %v", b, err)
	}
	b, err = json.Marshal([]Month{MinMonth - 1, MaxMonth + 1})
	assert.That(t, err == nil && string(b) == `["0000-12","10000-01"]`, "%s, %v", b, err)
}

// #nosec G115 -- a day of an instant lies within int32 for six million years, and a digit within a byte

package exact

import "time"

// Instant is a moment in whole seconds since 1970-01-01 UTC. In JSON it is RFC 3339
// in UTC with seconds: "2026-11-20T21:05:00Z".
type Instant int64

const instantLayout = "2006-01-02T15:04:05Z"

// InstantOf is t truncated to the second.
func InstantOf(t time.Time) Instant { return Instant(t.Unix()) }

// ParseInstant parses RFC 3339 with any offset; fractions of a second are dropped.
func ParseInstant(s string) (Instant, bool) {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil || t.UTC().Year() < 1 || t.UTC().Year() > 9999 { // an offset may cross a year's end
		return 0, false
	}
	return Instant(t.Unix()), true
}

// Time is the instant in UTC.
func (i Instant) Time() time.Time { return time.Unix(int64(i), 0).UTC() }

// Day is the calendar day of the instant in loc.
func (i Instant) Day(loc *time.Location) Day { return DayOf(time.Unix(int64(i), 0).In(loc)) }

// Local is a cell's instant in UTC with the offset of loc. Other cells stay.
func Local(cell string, loc *time.Location) string {
	if len(cell) != len("2006-01-02T15:04:05Z") || cell[len(cell)-1] != 'Z' || loc == time.UTC {
		return cell
	}
	i, ok := ParseInstant(cell)
	if !ok {
		return cell
	}
	return i.Time().In(loc).Format(time.RFC3339)
}

func (i Instant) String() string { return string(i.Append(nil)) }

// Append appends the instant as in JSON, without the quotes.
func (i Instant) Append(b []byte) []byte { return i.Time().AppendFormat(b, instantLayout) }

// MarshalJSON writes the quoted RFC 3339 form.
func (i Instant) MarshalJSON() ([]byte, error) {
	b := make([]byte, 0, len(instantLayout)+2)
	return append(i.Append(append(b, '"')), '"'), nil
}

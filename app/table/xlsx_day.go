package table

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// day writes a serial date of the workbook as YYYY-MM-DD, with T and its time if it has one. The system that begins in
// 1900 has a 29 February of that year, which does not exist: it is written, and refused like any other invalid date.
func (w *workbook) day(serial float64) string {
	const secondsOfDay = 24 * 60 * 60
	if !(serial >= 0 && serial <= 2_958_466) { // past the year 9999, or no number
		return strconv.FormatFloat(serial, 'f', -1, 64)
	}
	seconds := int64(math.Round(serial * secondsOfDay))
	days, rest := seconds/secondsOfDay, seconds%secondsOfDay
	epoch := time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)
	date := ""
	switch {
	case w.from1904:
		epoch = time.Date(1904, 1, 1, 0, 0, 0, 0, time.UTC)
	case days == 60:
		date = "1900-02-29"
	case days < 60:
		epoch = time.Date(1899, 12, 31, 0, 0, 0, 0, time.UTC)
	}
	if date == "" {
		date = epoch.AddDate(0, 0, int(days)).Format("2006-01-02")
	}
	if rest == 0 {
		return date
	}
	return fmt.Sprintf("%sT%02d:%02d:%02d", date, rest/3600, rest/60%60, rest%60)
}

package exact

import "strconv"

// Plural is a number with its noun, and the verb behind it: 1 charge is, 2 charges are.
func Plural[T ~int | ~int64](n T, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.FormatInt(int64(n), 10) + " " + many
}

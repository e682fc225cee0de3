// Package assert says in one line what a test expects. OK and the functions that begin with Must end the test, the
// others let it go on. What it is about, at the end, is a format with its arguments, or nothing.
package assert

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// That fails the test unless the condition holds.
func That(t testing.TB, holds bool, format string, args ...any) {
	if !holds {
		t.Helper()
		t.Errorf(format, args...)
	}
}

// Must ends the test unless the condition holds.
func Must(t testing.TB, holds bool, format string, args ...any) {
	if !holds {
		t.Helper()
		t.Fatalf(format, args...)
	}
}

// OK ends the test at an error.
func OK(t testing.TB, err error, about ...any) {
	if err != nil {
		t.Helper()
		t.Fatalf("%s%v", of(about), err)
	}
}

// NoError fails the test at an error.
func NoError(t testing.TB, err error, about ...any) {
	if err != nil {
		t.Helper()
		t.Errorf("%s%v", of(about), err)
	}
}

// Equal fails the test unless got is want.
func Equal[T comparable](t testing.TB, got, want T, about ...any) {
	if got != want {
		t.Helper()
		t.Errorf("%sgot %+v, want %+v", of(about), got, want)
	}
}

// MustEqual ends the test unless got is want.
func MustEqual[T comparable](t testing.TB, got, want T, about ...any) {
	if got != want {
		t.Helper()
		t.Fatalf("%sgot %+v, want %+v", of(about), got, want)
	}
}

// EqualSlices fails the test unless got has want's elements in want's order.
func EqualSlices[T comparable](t testing.TB, got, want []T, about ...any) {
	if !slices.Equal(got, want) {
		t.Helper()
		t.Errorf("%sgot\n%v\nwant\n%v", of(about), got, want)
	}
}

// Contains fails the test unless the text has the part.
func Contains(t testing.TB, text, part string, about ...any) {
	if !strings.Contains(text, part) {
		t.Helper()
		t.Errorf("%s%q is not in %.4000s", of(about), part, text)
	}
}

// Lacks fails the test if the text has the part.
func Lacks(t testing.TB, text, part string, about ...any) {
	if strings.Contains(text, part) {
		t.Helper()
		t.Errorf("%s%q is in %.4000s", of(about), part, text)
	}
}

// of is what a failure is about, before what it says.
func of(about []any) string {
	if len(about) == 0 {
		return ""
	}
	return fmt.Sprintf(fmt.Sprint(about[0]), about[1:]...) + ": "
}

// Value is what a call returned, and ends the test at its error: assert.Value(os.ReadFile(name))(t).
func Value[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		OK(t, err)
		return v
	}
}

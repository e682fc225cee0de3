// Package exact holds what is counted exactly: calendar days and months,
// quantities in thousandths, currency amounts in cents and the 128-bit
// products of two such counts. Nothing in it is a float and nothing in it
// rounds unless its name says so.
//
// Units: a Day is a count of days, a Month a count of months, a Milli a count
// of thousandths; cents are plain int64. All types are comparable values whose
// order is the order of their integers.
package exact

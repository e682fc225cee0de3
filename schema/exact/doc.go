// Package exact has the exact types: calendar days and months, quantities in thousandths, amounts in cents and the
// 128-bit products of two such counts. It has no floats and rounds only where a name says so.
//
// Units: a Day counts days, a Month months, a Milli thousandths; cents are plain int64. All types are comparable
// values, ordered like their integers.
package exact

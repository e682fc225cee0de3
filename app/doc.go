// Package app holds the tests of the whole program: the real binary, real files, real HTTP. cli is the command line,
// server the running appliance; the other packages are shared by both.
package app

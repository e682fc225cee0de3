// Package app is the top floor: cli is the command line, server the running appliance,
// and beside them stands what both share. Here are the tests that go through the whole
// of it: the real program, real files, real HTTP.
package app

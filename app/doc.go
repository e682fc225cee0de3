// Package app is a folder of parts: cli is the command line, server the running appliance, and the other packages are
// shared by both. e2e holds the tests of the whole program, by what they drive: the real binary, real files, real HTTP.
package app

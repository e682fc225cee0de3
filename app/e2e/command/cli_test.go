package command

import (
	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
	"strings"
)

// refuses runs a command line that must end with the exit code, an empty stdout and each of the words on stderr.
func refuses(c *apptest.CLI, code int, words []string, args ...string) {
	c.Helper()
	got, out, err := c.Call(args...)
	assert.That(c, got == code && out == "",
		"%s: exit %d with %q, want %d\n%s", strings.Join(args, " "), got, out, code, err)
	for _, w := range words {
		assert.Contains(c, err, w, "%s", strings.Join(args, " "))
	}
}

// equal compares a result.
func equal(c *apptest.CLI, what, got, want string) {
	c.Helper()
	assert.That(c, got == want, "%s\n got %s\nwant %s", what, got, want)
}

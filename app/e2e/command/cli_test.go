package command

import (
	"quartermaster/app/apptest"
	"strings"
)

// refuses runs a command line that must end with the exit code, an empty stdout and each of the words on stderr.
func refuses(c *apptest.CLI, code int, words []string, args ...string) {
	c.Helper()
	got, out, err := c.Call(args...)
	if got != code || out != "" {
		c.Errorf("%s: exit %d with %q, want %d\n%s", strings.Join(args, " "), got, out, code, err)
	}
	for _, w := range words {
		if !strings.Contains(err, w) {
			c.Errorf("%s: it does not say %q:\n%s", strings.Join(args, " "), w, err)
		}
	}
}

// equal compares a result.
func equal(c *apptest.CLI, what, got, want string) {
	c.Helper()
	if got != want {
		c.Errorf("%s\n got %s\nwant %s", what, got, want)
	}
}

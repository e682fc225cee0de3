package cli

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"quartermaster/schema/assert"
)

// TestEveryCommandHasHelpWithAnExample: every command has a sentence and an example that begins with the command, and
// an operation's command lists its arguments.
func TestEveryCommandHasHelpWithAnExample(t *testing.T) {
	seen := 0
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			walk(sub)
		}
		if !c.HasParent() || c.Name() == "help" || strings.HasPrefix(c.CommandPath(), "quartermaster completion") {
			return
		}
		seen++
		assert.That(t, c.Short != "" && strings.HasPrefix(strings.TrimSpace(c.Example), c.CommandPath()),
			"%s: %q, %q", c.CommandPath(), c.Short, c.Example)
	}
	p := &program{}
	walk(p.root())
	for cmd, c := range p.ops {
		c.arguments(cmd) // panics if a word in capitals names no argument
	}
	assert.That(t, seen >= 60, "only %d commands", seen)
}

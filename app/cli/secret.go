package cli

import (
	"bufio"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"quartermaster/schema"
)

// secretFlags adds a flag for a secret's file to the secret's own flag, since every user of the machine can read a
// command line, and the shell stores it.
func (c *opCommand) secretFlags(cmd *cobra.Command, a schema.Arg) {
	name := a.FlagName()
	file, stdin := name+"-file", name+"-stdin"
	from := c.secretFile(a)
	cmd.Flags().StringVar(from, file, "", "the file that holds the "+name+"; - is standard input")
	cmd.Flags().BoolFunc(stdin, "read the "+name+" from standard input", func(string) error {
		*from = "-"
		return nil
	})
	cmd.MarkFlagsMutuallyExclusive(name, file, stdin)
	if a.Required {
		cmd.MarkFlagsOneRequired(name, file, stdin)
	}
}

func (c *opCommand) secretFile(a schema.Arg) *string {
	if c.secretFiles == nil {
		c.secretFiles = map[string]*string{}
	}
	c.secretFiles[a.Name] = new(string)
	return c.secretFiles[a.Name]
}

// readSecrets reads the secrets in named files, the first line of each.
func (c *opCommand) readSecrets() error {
	for name, file := range c.secretFiles {
		if given := c.values[name]; len(given) == 1 && given[0] == "-" {
			*file = "-"
		}
		if *file == "" {
			continue
		}
		secret, err := c.p.firstLine(*file)
		if err != nil {
			return err
		}
		c.values[name] = []string{secret}
	}
	return nil
}

// firstLine reads the first line of a file; - is standard input. An empty one is refused.
func (p *program) firstLine(file string) (string, error) {
	from := p.Stdin
	if file != "-" {
		f, err := os.Open(file) // #nosec G304 -- the operator names the file
		if err != nil {
			return "", err
		}
		defer f.Close()
		from = f
	}
	line, err := bufio.NewReader(io.LimitReader(from, 64<<10)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	if line = strings.TrimRight(line, "\r\n"); line == "" {
		return "", usagef("the first line of %s is empty; put the secret there",
			map[bool]string{true: "standard input", false: file}[file == "-"])
	}
	return line, nil
}

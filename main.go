// Quartermaster is one appliance for small shops: four HTTP services over one SQLite
// file. See README.md.
package main

import (
	"context"
	"os"

	"quartermaster/app/cli"
)

func main() {
	os.Exit(cli.Run(context.Background(), cli.Env{
		Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv,
	}))
}

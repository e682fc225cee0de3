package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"quartermaster/app/account"
	"quartermaster/app/server"
)

func (p *program) serveCommand() *cobra.Command {
	c := &server.Config{}
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Migrate the database, then serve the four services",
		Long: `Migrate the database, then serve the four services until SIGTERM or SIGINT. Every flag can
also be set by an environment variable: QUARTERMASTER_ and the flag in capitals, with _ for -.`,
		Example: "  quartermaster serve --demo\n  quartermaster serve --db /var/lib/quartermaster/quartermaster.db " +
			"--timezone Europe/Berlin",
		Args: noArgs,
	}
	c.Flags(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if c.Demo && !cmd.Flags().Changed("db") {
			p.dbPath = "demo.db"
		}
		if err := c.Check(); err != nil {
			return usageError{err}
		}
		return p.run(func(ctx context.Context, _ []string) error { return p.serve(ctx, c) })(cmd, args)
	}
	return cmd
}

// heapGrowth is the heap's growth in percent between two collections, unless GOGC is set. With Go's 100 the small heap
// makes the collector run so often during an upload that readers wait.
const heapGrowth = 150

// serve runs the appliance until a signal or ctx ends it.
func (p *program) serve(ctx context.Context, c *server.Config) error {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, os.Interrupt)
	defer stop()
	// A closed terminal, or a closed reader of the log, does not end the server.
	signal.Ignore(syscall.SIGHUP, syscall.SIGPIPE)
	s, err := server.Start(ctx, p.serverOptions(c))
	if err != nil {
		if ctx.Err() != nil {
			p.log.Info().AnErr("cause", err).Msg("stopped before it was ready")
			return nil
		}
		return err
	}
	if err := p.greet(ctx, s, c); err != nil && ctx.Err() == nil {
		return errors.Join(err, s.Stop())
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(heapGrowth)
	}
	server.LetGoOfOwnFile()
	n := p.notifier()
	defer n.run(ctx, s)()
	select {
	case <-ctx.Done():
	case err = <-s.Failed():
	}
	n.send("STOPPING=1")
	stop() // from here on a second signal ends the process at once
	p.log.Info().Msg("stopping")
	return errors.Join(err, s.Stop())
}

func (p *program) serverOptions(c *server.Config) server.Options {
	return server.Options{Path: p.dbPath, Config: c, Now: p.Now, Zone: p.zone, Accept: p.acceptClock, Log: p.log}
}

// greet prints the demo's keys, logs the services' addresses, and ends with a new operator's next step.
func (p *program) greet(ctx context.Context, s *server.Server, c *server.Config) error {
	if c.Demo {
		if err := p.greetDemo(ctx, s, c); err != nil {
			return err
		}
	}
	for _, name := range append(append([]string{}, server.Names...), "metrics") {
		if addr := s.Addr(name); addr != "" {
			p.log.Info().Str("service", name).Str("addr", addr).Str("url", c.BaseURL(addr)).Msg("listening")
		}
	}
	some, err := account.Any(ctx, s.DB())
	if err != nil || some {
		return err
	}
	p.log.Warn().Msgf(
		"this database has no users yet; create the first user and keys with `quartermaster init --db %s`, or "+
			"`quartermaster user add NAME --role admin --db %s` and `quartermaster key create --service reorder --user NAME "+
			"--db %s`",
		p.dbPath, p.dbPath, p.dbPath)
	return nil
}

// greetDemo prints one full-access key for each service, with a line to try it.
func (p *program) greetDemo(ctx context.Context, s *server.Server, c *server.Config) error {
	keys, err := s.DemoKeys(ctx)
	if err != nil {
		return err
	}
	if link := s.DemoLink(c); link != "" {
		fmt.Fprintf(p.Stdout,
			"A demo shop in %s. Open this link while the server runs:\n  %s\n\nOne full-access key per service:\n", p.dbPath,
			link)
	} else {
		fmt.Fprintf(p.Stdout, "A demo shop in %s. One full-access key per service:\n", p.dbPath)
	}
	for _, service := range s.Declared() {
		if key := keys[service.Name]; key != "" {
			fmt.Fprintf(p.Stdout, "\n%s  %s\n  curl -H 'Authorization: Bearer %s' '%s%s'\n",
				service.Name, key, key, c.BaseURL(s.Addr(service.Name)), service.DemoPath)
		}
	}
	return nil
}

// Start runs an appliance inside this process, as serve does with env.Args as its flags, but without a greeting and
// signals. The caller stops it.
func Start(ctx context.Context, env Env) (*server.Server, error) {
	if env.Now == nil {
		env.Now = time.Now
	}
	p, c := &program{Env: env}, &server.Config{}
	cmd := &cobra.Command{Use: "serve"}
	p.flags(cmd.Flags())
	c.Flags(cmd.Flags())
	if err := cmd.ParseFlags(env.Args); err != nil {
		return nil, err
	}
	if err := errors.Join(p.readFlags(cmd), c.Check()); err != nil {
		return nil, err
	}
	return server.Start(ctx, p.serverOptions(c))
}

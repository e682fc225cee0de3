package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"runtime/debug"
	"sync"
	"syscall"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"quartermaster/app/account"
	"quartermaster/app/rest"
	"quartermaster/mcp"
	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
	"quartermaster/webhook"
)

// stopWithin bounds how long a stop waits for requests and deliveries under way.
const stopWithin = 10 * time.Second

// Server is a running appliance.
type Server struct {
	db        *db.DB
	shop      *shop
	keys      *account.Keys
	recent    *db.Recent
	sender    *webhook.Sender
	meters    *meters
	listeners map[string]*listener // by service, and "metrics"
	release   func() error
	log       zerolog.Logger
	every     sync.WaitGroup // what runs beside the requests
	quit      context.CancelFunc
	failed    chan error
}

func (p *program) serveCommand() *cobra.Command {
	c := &config{}
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Migrate the database, then serve the four APIs",
		Long: `Migrate the database, then serve the four APIs until SIGTERM or SIGINT. Every flag can
also be set by an environment variable: QUARTERMASTER_ and the flag in capitals, with _ for -.`,
		Example: "  quartermaster serve --demo\n  quartermaster serve --db /var/lib/quartermaster/quartermaster.db --timezone Europe/Berlin",
		Args:    noArgs,
	}
	c.flags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if c.demo && !cmd.Flags().Changed("db") {
			p.dbPath = "demo.db"
		}
		if err := c.check(); err != nil {
			return err
		}
		return p.run(func(ctx context.Context, _ []string) error { return p.serve(ctx, c) })(cmd, args)
	}
	return cmd
}

// heapGrowth is by how many percent the heap grows between two collections, unless GOGC
// in the environment says otherwise. The heap is so small that with Go's 100 an upload
// has the collector run so often that whoever reads meanwhile waits for it.
const heapGrowth = 150

// serve runs the appliance until a signal or ctx ends it.
func (p *program) serve(ctx context.Context, c *config) error {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, os.Interrupt)
	defer stop()
	s, err := p.start(ctx, c)
	if err != nil {
		return err
	}
	if err := p.greet(ctx, s, c); err != nil {
		return errors.Join(err, s.Stop())
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(heapGrowth)
	}
	select {
	case <-ctx.Done():
	case err = <-s.failed:
	}
	stop() // from here on a second signal ends the process at once
	p.log.Info().Msg("stopping")
	return errors.Join(err, s.Stop())
}

// start brings up everything that serves. Nothing is left behind when it fails.
func (p *program) start(ctx context.Context, c *config) (_ *Server, err error) {
	s := &Server{log: p.log, listeners: map[string]*listener{}, failed: make(chan error, 1)}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Stop())
		}
	}()
	if err := p.make(c); err != nil {
		return nil, err
	}
	if s.release, err = db.Hold(p.dbPath); err != nil {
		return nil, err
	}
	s.db, err = db.Open(p.dbPath, db.Options{
		Now: p.Now, Zone: p.zone, KeepZone: true, Migrate: true, Accept: p.acceptClock,
		Notice: func(text string) { p.log.Warn().Msg(text) },
		Fatal: func(err error) {
			p.log.Error().Err(err).Msg("a write could not be synced to the disk; what it holds is unknown, so the process ends")
			os.Exit(1)
		},
	})
	if err != nil {
		return nil, err
	}
	s.shop = newShop(s.db)
	s.shop.store.OnNotice(func(text string) { s.log.Warn().Str("service", "store").Msg(text) })
	if c.demo {
		if err := fillDemo(ctx, s.db, s.shop); err != nil {
			return nil, fmt.Errorf("fill the demo: %w", err)
		}
	}
	s.keys, s.recent = account.NewKeys(s.db), db.NewRecent(s.db)
	s.meters = newMeters(s.db)
	s.sender = webhook.NewSender(s.db, webhook.Options{
		Version: Version, AllowPrivate: c.webhookAllowPrivate, Grace: stopWithin,
		Log:     s.delivered,
		Trouble: func(err error) { s.log.Error().Err(err).Msg("deliveries wait for the database") },
	})
	s.db.OnEmit(s.sender.Wake)
	if err := s.listen(c); err != nil {
		return nil, err
	}
	s.run()
	return s, nil
}

// make creates the database file where serve may.
func (p *program) make(c *config) error {
	st, err := os.Stat(p.dbPath)
	if err == nil && st.Size() > 0 || !c.init && !c.demo {
		return nil
	}
	return db.Create(p.dbPath, db.Options{Now: p.Now, Zone: p.zone})
}

// listen opens every address before any request is served.
func (s *Server) listen(c *config) error {
	secure, err := c.tls()
	if err != nil {
		return err
	}
	trusted, err := c.trusted()
	if err != nil {
		return err
	}
	for _, service := range s.shop.all {
		addr := *c.addrs[service.Name]
		if addr == "off" {
			continue
		}
		o := rest.Options{
			Service: service, Version: Version, DB: s.db, Authenticate: s.keys.Authenticate, Recent: s.recent,
			Log: s.log, Trusted: trusted, CORSOrigin: c.corsOrigin, Observe: s.meters.observe,
		}
		if agents(service.Name) {
			o.Agent = s.agent(service, c)
		}
		tlsConfig := secure
		if secure != nil {
			tlsConfig = secure.Clone()
		}
		l, err := listen(addr, rest.New(o), tlsConfig, s.log)
		if err != nil {
			return fmt.Errorf("%s: %w", service.Name, err)
		}
		s.listeners[service.Name] = l
	}
	if c.metricsAddr != "" {
		l, err := listen(c.metricsAddr, s.meters, nil, s.log)
		if err != nil {
			return fmt.Errorf("metrics: %w", err)
		}
		s.listeners["metrics"] = l
	}
	return nil
}

// agents tells whether the service has an agent endpoint.
func agents(service string) bool { return service != "store" }

func (s *Server) agent(service schema.Service, c *config) http.Handler {
	return mcp.New(service, mcp.Options{
		Version: Version, Origins: c.mcpOrigins, Recent: s.recent,
		Authenticate: func(r *http.Request) (db.Caller, error) {
			return s.keys.Authenticate(r.Context(), service.Name, r.Header.Get("Authorization"), rest.Remote(r))
		},
		Log: func(err error) {
			s.log.Error().Err(err).Str("service", service.Name).Msg("internal error in an agent's call")
		},
	})
}

// run starts serving, sending and the bookkeeping of every minute.
func (s *Server) run() {
	ctx, quit := context.WithCancel(context.Background())
	s.quit = quit
	for name, l := range s.listeners {
		go func() {
			if err := l.server.Serve(l.net); !errors.Is(err, http.ErrServerClosed) {
				select {
				case s.failed <- fmt.Errorf("%s: %w", name, err):
				default:
				}
			}
		}()
	}
	s.every.Go(func() { s.sender.Run(ctx) })
	s.every.Go(func() {
		minute := time.NewTicker(time.Minute)
		defer minute.Stop()
		for {
			select {
			case <-minute.C:
				s.flush(ctx)
			case <-ctx.Done():
				return
			}
		}
	})
}

// flush writes down what is remembered off the requests' path.
func (s *Server) flush(ctx context.Context) {
	flushers := append([]func(context.Context) error{s.keys.Flush}, s.shop.flush...)
	for _, flush := range flushers {
		if err := flush(ctx); err != nil && !fault.Is(err, fault.Unavailable) {
			s.log.Error().Err(err).Msg("bookkeeping failed")
		}
	}
}

// delivered logs and counts one delivery attempt.
func (s *Server) delivered(d webhook.Attempt) {
	s.meters.delivered(d.Service, d.State)
	e := s.log.Info().Str("service", d.Service).Int64("delivery", d.Delivery).Int64("endpoint", d.Endpoint).
		Str("event", d.Event).Str("state", d.State)
	if d.Status != 0 {
		e = e.Int("response_code", d.Status)
	}
	if d.Error != "" {
		e = e.Str("error", d.Error)
	}
	e.Msg("delivery")
}

// Addr is the real address of a service's listener; "" when it is off.
func (s *Server) Addr(service string) string {
	if l, ok := s.listeners[service]; ok {
		return l.addr
	}
	return ""
}

// DB is the server's database.
func (s *Server) DB() *db.DB { return s.db }

// Declared is what the running services declare, in the order of Services, for whoever
// goes through every operation there is.
func (s *Server) Declared() []schema.Service { return s.shop.all }

// Stop stops accepting, lets the requests and deliveries under way finish for ten
// seconds at most, moves the log into the file and lets go of it.
func (s *Server) Stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), stopWithin)
	defer cancel()
	if s.quit != nil {
		s.quit() // the attempts under way finish while the requests do
	}
	var stopping sync.WaitGroup
	for _, l := range s.listeners {
		stopping.Go(func() {
			if s.quit == nil { // never served
				_ = l.net.Close()
				return
			}
			if err := l.server.Shutdown(ctx); err != nil {
				_ = l.server.Close()
			}
		})
	}
	stopping.Wait()
	var errs []error
	if s.quit != nil {
		s.every.Wait()
		s.flush(context.WithoutCancel(ctx)) // also when the ten seconds are over
	}
	if s.db != nil {
		errs = append(errs, s.db.Close())
	}
	if s.release != nil {
		errs = append(errs, s.release())
	}
	return errors.Join(errs...)
}

// greet prints the demo's keys, logs where the services listen, and ends with what a
// new operator needs next.
func (p *program) greet(ctx context.Context, s *Server, c *config) error {
	if c.demo {
		if err := p.greetDemo(ctx, s, c); err != nil {
			return err
		}
	}
	for _, name := range append(append([]string{}, Services...), "metrics") {
		if l, ok := s.listeners[name]; ok {
			p.log.Info().Str("service", name).Str("addr", l.addr).Str("url", c.baseURL(l.addr)).Msg("listening")
		}
	}
	some, err := account.Any(ctx, s.db)
	if err != nil || some {
		return err
	}
	p.log.Warn().Msgf("nobody can use this database yet; make the first user and keys with `quartermaster init --db %s`, or `quartermaster user add NAME --role admin --db %s` and `quartermaster key create --service reorder --user NAME --db %s`",
		p.dbPath, p.dbPath, p.dbPath)
	return nil
}

// Start brings up an appliance inside this process, as serve does with env.Args as its
// flags, but without a greeting and without listening to signals. The caller stops it.
func Start(ctx context.Context, env Env) (*Server, error) {
	if env.Now == nil {
		env.Now = time.Now
	}
	p, c := &program{Env: env}, &config{}
	cmd := &cobra.Command{Use: "serve"}
	p.flags(cmd.Flags())
	c.flags(cmd)
	if err := cmd.ParseFlags(env.Args); err != nil {
		return nil, err
	}
	if err := errors.Join(p.settle(cmd), c.check()); err != nil {
		return nil, err
	}
	return p.start(ctx, c)
}

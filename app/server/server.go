package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"quartermaster/app/account"
	"quartermaster/app/cache"
	"quartermaster/app/doctor"
	"quartermaster/app/mailer"
	"quartermaster/app/rest"
	"quartermaster/app/screen"
	"quartermaster/app/table"
	"quartermaster/mcp"
	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
	"quartermaster/webhook"
)

// stopWithin bounds how long a stop waits for running requests and deliveries.
const stopWithin = 10 * time.Second

// Server is a running appliance.
type Server struct {
	db        *db.DB
	services  *Services
	keys      *account.Keys
	sessions  *account.Sessions
	desk      *doctor.Desk
	cache     *cache.ResponseCache
	sender    *webhook.Sender
	mails     *mailer.Sender
	meters    *meters
	listeners map[string]*listener // by service, and "metrics"
	shows     map[string]*screen.Screens
	release   func() error
	log       zerolog.Logger
	every     sync.WaitGroup // background work
	quit      context.CancelFunc
	long      context.Context // of long background work: it ends when the server stops
	endLong   context.CancelFunc
	failed    chan error
}

// Options are the options of a server.
type Options struct {
	Path   string // the database file
	Config *Config
	Now    func() time.Time
	Zone   *time.Location
	Accept bool // the operator's acceptance of the clock
	Log    zerolog.Logger
}

// Start starts everything that serves. It leaves nothing behind if it fails. The caller stops it.
func Start(ctx context.Context, o Options) (_ *Server, err error) {
	c := o.Config
	s := &Server{log: o.Log, listeners: map[string]*listener{}, failed: make(chan error, 1)}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Stop())
		}
	}()
	if err := c.readPassword(); err != nil {
		return nil, err
	}
	if err := o.makeFile(); err != nil {
		return nil, err
	}
	if s.release, err = db.Hold(o.Path); err != nil {
		return nil, err
	}
	left, err := db.Tidy(o.Path)
	for _, name := range left {
		o.Log.Info().Str("file", name).Msg("removed files that a killed program left")
	}
	if err != nil {
		o.Log.Warn().Err(err).Msg("files that a killed program left cannot be removed")
	}
	s.db, err = db.Open(o.Path, db.Options{
		Now: o.Now, Zone: o.Zone, KeepZone: true, Migrate: true, Accept: o.Accept,
		Notice: func(text string) { o.Log.Warn().Msg(text) },
		Fatal: func(err error) {
			o.Log.Error().Err(err).Msg("a write could not be synced to the disk, so the process ends")
			os.Exit(1)
		},
	})
	if err != nil {
		return nil, err
	}
	if doubt := s.db.ClockDoubt(); doubt != "" {
		s.log.Warn().Msg(doubt)
	}
	s.services = NewServices(s.db)
	s.services.Store.OnNotice(func(text string) { s.log.Warn().Str("service", "store").Msg(text) })
	if c.Demo {
		if err := fillDemo(ctx, s.db, s.services); err != nil {
			return nil, fmt.Errorf("fill the demo: %w", err)
		}
	}
	s.keys, s.cache = account.NewKeys(s.db), cache.New(s.db)
	s.sessions = account.NewSessions(s.db)
	s.desk = doctor.NewDesk(s.db, s.services.All, s.services.Mail)
	s.meters = newMeters(s.db, s.services.Store.CountUnbooked)
	s.sender = webhook.NewSender(s.db, webhook.Options{
		Version: Version, AllowPrivate: c.AllowPrivate, Grace: stopWithin,
		Log:     s.delivered,
		Trouble: func(err error) { s.log.Error().Err(err).Msg("deliveries wait for the database") },
	})
	s.services.Mail.UsePassword(c.smtpPassword)
	s.mails = mailer.NewSender(s.services.Mail, s.mailed,
		func(err error) { s.log.Error().Err(err).Msg("mail waits for the database") })
	s.db.OnEmit(s.sender.Wake)
	s.db.OnWrite(account.MayStill)
	s.long, s.endLong = context.WithCancel(context.Background())
	if err := s.listen(c); err != nil {
		return nil, err
	}
	if c.PlainHTTP {
		s.log.Warn().Msg("--plain-http: everybody on this network can read keys, passwords and pages")
	}
	if c.BehindProxy && len(c.trustedProxies) == 0 {
		s.log.Warn().Msg("--behind-proxy without --trusted-proxy: all visitors seem to have the proxy's address, so a few " +
			"wrong passwords or codes lock everybody out; give the proxy's address, such as --trusted-proxy 127.0.0.1/32")
	}
	s.run()
	return s, nil
}

// makeFile creates the database file if serve may.
func (o Options) makeFile() (err error) {
	isThere := func() bool {
		st, err := os.Stat(o.Path)
		return err == nil && st.Size() > 0
	}
	if isThere() || !o.Config.Init && !o.Config.Demo {
		return nil
	}
	release, err := db.Hold(o.Path) // of two simultaneous starts, the second uses the first one's
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	if isThere() {
		return nil
	}
	return db.Create(o.Path, db.Options{Now: o.Now, Zone: o.Zone})
}

// listen opens every address before any request is served.
func (s *Server) listen(c *Config) error {
	secure, err := c.tlsConfig()
	if err != nil {
		return err
	}
	trusted, err := c.trusted()
	if err != nil {
		return err
	}
	setMemoryLimit(c.memory())
	in := limitsFor(c, len(s.services.All)+1)
	on, err := db.Read(context.Background(), s.db, schema.ServicesOn)
	if err != nil {
		return err
	}
	for _, service := range s.services.All {
		addr := *c.Addrs[service.Name]
		if addr == "off" || !slices.Contains(on, service.Name) {
			continue
		}
		o := rest.Options{
			Service: service, Version: Version, DB: s.db, Authenticate: s.keys.Authenticate, Cache: s.cache,
			Log: s.log, Trusted: trusted, CORSOrigin: c.CORSOrigin, Observe: s.meters.observe,
		}
		if service.Agents {
			o.Agent = s.agent(service, c)
		}
		tlsConfig := secure
		if secure != nil {
			tlsConfig = secure.Clone()
		}
		l, err := listen(addr, rest.New(o), tlsConfig, in, s.log)
		if err != nil {
			return fmt.Errorf("%s: %w", service.Name, err)
		}
		s.listeners[service.Name] = l
	}
	if err := s.screens(c, trusted); err != nil {
		return err
	}
	if c.MetricsAddr != "" {
		l, err := listen(c.MetricsAddr, s.meters, nil, in, s.log)
		if err != nil {
			return fmt.Errorf("metrics: %w", err)
		}
		s.listeners["metrics"] = l
	}
	return nil
}

func (s *Server) agent(service schema.Service, c *Config) http.Handler {
	return mcp.New(service, mcp.Options{
		Version: Version, Origins: c.MCPOrigins, Cache: s.cache,
		View: s.db.View,
		Authenticate: func(r *http.Request) (db.Caller, error) {
			return s.keys.Authenticate(r.Context(), service.Name, r.Header.Get("Authorization"), r.RemoteAddr)
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
	s.every.Go(func() { s.mails.Run(ctx) })
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

// flush writes data that is stored asynchronously.
func (s *Server) flush(ctx context.Context) {
	sweep := func(ctx context.Context) error { return table.Sweep(ctx, s.db, s.services.All) }
	flushers := append([]func(context.Context) error{s.keys.Flush, s.sessions.Flush, sweep}, s.services.flush...)
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

// mailed logs one attempt of a message.
func (s *Server) mailed(t mailer.Try) {
	e := s.log.Info().Int64("id", t.ID).Str("kind", t.Kind).Str("state", t.State).Int64("ms", t.Took.Milliseconds())
	if t.Code != 0 {
		e = e.Int("code", t.Code)
	}
	e.Msg("mail")
}

// Addr is the actual address of a service's listener; "" if it is off.
func (s *Server) Addr(service string) string {
	if l, ok := s.listeners[service]; ok {
		return l.addr
	}
	return ""
}

// Failed returns the error that ends the server by itself.
func (s *Server) Failed() <-chan error { return s.failed }

// DB is the server's database.
func (s *Server) DB() *db.DB { return s.db }

// Declared are the running services' declarations, in the order of Names, for tests of every operation.
func (s *Server) Declared() []schema.Service { return s.services.All }

// Stop stops accepting, lets running requests and deliveries finish for at most ten seconds, checkpoints the log and
// closes the file.
func (s *Server) Stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), stopWithin)
	defer cancel()
	if s.endLong != nil {
		s.endLong()
	}
	if s.quit != nil {
		s.quit() // running attempts finish while the requests do
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
	if s.desk != nil {
		s.desk.Close()
	}
	if s.db != nil {
		errs = append(errs, s.db.Close())
	}
	if s.release != nil {
		errs = append(errs, s.release())
	}
	return errors.Join(errs...)
}

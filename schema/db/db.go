package db

import (
	"context"
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"zombiezen.com/go/sqlite"

	"quartermaster/schema/exact"
)

// Options say how the database is opened.
type Options struct {
	Now      func() time.Time  // the process's one clock; time.Now when nil
	Zone     *time.Location    // the time zone of this process; when nil or time.Local, the file's, else the machine's
	KeepZone bool              // a file that has no time zone takes this one
	Migrate  bool              // apply what is missing; otherwise an older file is refused
	Notice   func(text string) // called with what an operator should know (a copy left aside)
	Accept   bool              // take the clock's word although the newest instant on file is against it
	// called with every statement that runs, by the goroutine that runs it: for tests of query plans
	Trace func(query string)
	Fatal func(err error) // called when a sync failed: what is on the disk is unknown, the process must end
}

// DB is an open database. One that Trial, TrialAside or Together gives is bound to their
// transaction: each of its Updates and Views is part of it.
type DB struct {
	*core
	in *joint // nil: not bound
}

// core is what a database and those bound to its transactions share.
type core struct {
	path     string
	now      func() time.Time
	zone     atomic.Pointer[time.Location]
	fatal    func(error)
	trace    func(string)
	queue    chan *pending
	closing  chan struct{}
	done     chan struct{} // closed when the writer has ended
	notice   func(string)
	identity identity
	long     bool                      // the last transaction kept other processes waiting; of the writer's goroutine
	wakes    func()                    // called after a commit that emitted
	mayStill func(*Conn, Caller) error // looks again at who asked; nil: nobody does

	works   underWay
	readers sync.Mutex
	idle    []*handle
	slots   chan struct{}
	aside   chan struct{} // held by the one trial that has a private copy

	watchMu sync.Mutex
	seen    atomic.Int64 // the version that was read last
	touched atomic.Int64 // see Touch
	watch   *handle

	waits   waits
	synced  atomic.Int64 // how long the last commit took, in nanoseconds
	newest  atomic.Int64 // the newest instant on file
	doubted atomic.Bool  // the clock was found to be wrong
	marked  atomic.Int64 // the last mark of the clock that this process has taken into account
}

// Readers is how many connections read at once at most; each holds a page cache.
const Readers = 4

// The page caches, in KiB. What a reader lacks, the system's own cache gives at the cost
// of a copy, which the figures in app/bench/README.md do not show; eight large ones
// they do show, as memory. The writer's holds what an upload changes until its commit.
const (
	readerCache = 256
	writerCache = 2000
)

// busyTimeout is how long a transaction waits for another process.
const busyTimeout = 5 * time.Second

// Open opens an existing database. It refuses, by name and without touching the
// file, what is missing or empty (ErrMissing), foreign (ErrForeign) or newer
// (ErrNewer).
func Open(path string, o Options) (*DB, error) {
	if err := bringUp(path, o); err != nil {
		return nil, err
	}
	d := &DB{core: &core{
		path: path, now: o.Now, fatal: o.Fatal, trace: o.Trace,
		queue: make(chan *pending), closing: make(chan struct{}), done: make(chan struct{}),
		slots: make(chan struct{}, Readers), aside: make(chan struct{}, 1), wakes: func() {},
	}}
	if d.now == nil {
		d.now = time.Now
	}
	if d.UseZone(time.Local); o.Zone != nil {
		d.UseZone(o.Zone)
	}
	if d.fatal == nil {
		d.fatal = func(error) {}
	}
	if d.notice = o.Notice; d.notice == nil {
		d.notice = func(string) {}
	}
	if err := d.identity.remember(path); err != nil {
		return nil, err
	}
	writer, err := connect(path, false)
	if err != nil {
		return nil, err
	}
	writer.trace = d.trace
	go d.write(writer)
	go d.lookAfter()
	clock := d.readClock
	if o.Accept {
		clock = d.acceptClock
	}
	if err := clock(context.Background()); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	if err := d.chooseZone(context.Background(), o); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	if o.Migrate {
		if err := d.forgetOn(); err != nil {
			return nil, errors.Join(err, d.Close())
		}
	}
	return d, nil
}

// Path is the file's path as it was given.
func (d *DB) Path() string { return d.path }

// Zone is the shop's time zone.
func (d *DB) Zone() *time.Location { return d.zone.Load() }

// UseZone makes another time zone the shop's in this process.
func (d *DB) UseZone(zone *time.Location) { d.zone.Store(zone) }

// Now is the process's one clock.
func (d *DB) Now() time.Time { return d.now() }

// Today is the calendar day in the shop's time zone.
func (d *DB) Today() exact.Day { return exact.InstantOf(d.now()).Day(d.Zone()) }

// At is when an answer is right: at a version of the database, in a second of its clock. Its zero
// value is never.
type At struct {
	version int64
	touched int64
	now     exact.Instant
}

// At is now, at the version that the database was last seen at: what was read since then is right
// as long as At gives the same.
func (d *DB) At() (At, error) {
	version, err := d.SeenVersion()
	return At{version, d.touched.Load(), exact.InstantOf(d.now())}, err
}

// Touch tells that what answers hold has changed though no database holds it, such as times that
// are stored later.
func (d *DB) Touch() { d.touched.Add(1) }

// OnEmit sets what is called after the commit of a transaction that emitted events.
// It is set before the first Update.
func (d *DB) OnEmit(wake func()) { d.wakes = wake }

// Close lets the transaction under way finish, moves the log into the file and
// closes it. No View or Update may be under way or come later.
func (d *DB) Close() error {
	close(d.closing)
	<-d.done
	d.readers.Lock()
	defer d.readers.Unlock()
	strange := d.sameFile()
	var errs []error
	for _, c := range d.idle {
		errs = append(errs, d.closeOr(c, strange != nil))
	}
	d.watchMu.Lock()
	defer d.watchMu.Unlock()
	if d.watch != nil {
		errs = append(errs, d.closeOr(d.watch, strange != nil))
	}
	if strange != nil {
		return errors.Join(append(errs, strange)...)
	}
	errs = append(errs, checkpoint(d.path))
	return errors.Join(errs...)
}

// checkpoint moves what it can of the log into the file, without waiting: another
// process may be serving. The last connection of all to close removes the log.
func checkpoint(path string) error {
	c, err := connect(path, false)
	if err != nil {
		return err
	}
	err = run(c, "PRAGMA wal_checkpoint(PASSIVE)")
	return errors.Join(err, c.Close())
}

// LogLeft moves what it can of the log into the file, and returns how many of its pages
// could not be moved because a reader still needs them to be apart.
func (d *DB) LogLeft() (left int64, err error) {
	c, err := connect(d.path, false)
	if err != nil {
		return 0, err
	}
	type log struct{ pages, moved int64 }
	l, _, err := One(&Conn{c: c}, func(r *Row) log { _ = r.Int(); return log{r.Int(), r.Int()} },
		"PRAGMA wal_checkpoint(PASSIVE)")
	return l.pages - l.moved, errors.Join(err, c.Close())
}

// View calls fn with a consistent, query-only view of the database. The end of ctx
// interrupts its queries.
func (d *DB) View(ctx context.Context, fn func(*Conn) error) (err error) {
	if d.in != nil {
		return d.in.view(fn)
	}
	if d.identity.lost() {
		if err := d.sameFile(); err != nil {
			return err
		}
	}
	c, err := d.reader(ctx)
	if err != nil {
		return err
	}
	defer d.giveBack(c)
	release := interruptible(ctx, c)
	if err := run(c, "BEGIN"); err != nil {
		release()
		return failed(err)
	}
	done := false
	defer func() {
		release()  // an interrupted reader must still let go of its snapshot
		if !done { // fn panicked
			c.resetAll()
		}
		if end := run(c, "COMMIT"); end != nil && err == nil {
			err = failed(end)
		}
	}()
	err = fn(&Conn{c: c, now: exact.InstantOf(d.now()), loc: d.Zone()})
	done = true
	return err
}

// Read is View for a function that gives an answer.
func Read[T any](ctx context.Context, d *DB, fn func(*Conn) (T, error)) (answer T, err error) {
	err = d.View(ctx, func(c *Conn) error {
		answer, err = fn(c)
		return err
	})
	return answer, err
}

func (d *DB) reader(ctx context.Context) (*handle, error) {
	select {
	case d.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, failed(sqlite.ResultInterrupt.ToError())
	}
	d.readers.Lock()
	if n := len(d.idle); n > 0 {
		c := d.idle[n-1]
		d.idle = d.idle[:n-1]
		d.readers.Unlock()
		return c, nil
	}
	d.readers.Unlock()
	c, err := d.connectReader()
	if err != nil {
		<-d.slots
		return nil, failedAt(d.path, err)
	}
	return c, nil
}

// connectReader opens a connection that reads, to this database's file and no other.
func (d *DB) connectReader() (*handle, error) {
	if err := d.sameFile(); err != nil {
		return nil, err
	}
	c, err := connect(d.path, true)
	if err != nil {
		return nil, err
	}
	c.trace = d.trace
	if err := d.sameFile(); err != nil { // meanwhile
		return nil, errors.Join(err, d.closeOr(c, true))
	}
	return c, nil
}

func (d *DB) giveBack(c *handle) {
	d.readers.Lock()
	d.idle = append(d.idle, c)
	d.readers.Unlock()
	<-d.slots
}

// Version is a number that changes whenever any connection, of this process or
// another, has committed. It reads no table.
func (d *DB) Version() (int64, error) {
	d.watchMu.Lock()
	defer d.watchMu.Unlock()
	n, err := d.watched("PRAGMA data_version")
	if err == nil {
		d.seen.Store(n)
	}
	return n, err
}

// SeenVersion is the version that was read last, for whomever. It is right for a request
// that has called Version since it came, and spares it a second call.
func (d *DB) SeenVersion() (int64, error) {
	if n := d.seen.Load(); n != 0 {
		return n, nil
	}
	return d.Version()
}

// QueryInt reads one number on a connection of its own, so that it waits for no reader;
// 0 when the query gives no row. It is for queries that cost next to nothing.
func (d *DB) QueryInt(query string) (int64, error) {
	d.watchMu.Lock()
	defer d.watchMu.Unlock()
	return d.watched(query)
}

func (d *DB) watched(query string) (int64, error) {
	if d.watch == nil {
		c, err := d.connectReader()
		if err != nil {
			return 0, failedAt(d.path, err)
		}
		d.watch = c
	}
	n, _, err := One(&Conn{c: d.watch}, Int, query)
	return n, failed(err)
}

// EngineVersion is SQLite's own version.
func EngineVersion() (string, error) {
	c, err := sqlite.OpenConn(":memory:", sqlite.OpenReadWrite|sqlite.OpenMemory)
	if err != nil {
		return "", err
	}
	v, _, err := One(&Conn{c: &handle{Conn: c}}, Text, "SELECT sqlite_version()")
	return v, errors.Join(err, c.Close())
}

// Size is what the file and its log take on the disk, in bytes.
func (d *DB) Size() int64 {
	var n int64
	for _, p := range []string{d.path, d.path + "-wal"} {
		if st, err := os.Stat(p); err == nil {
			n += st.Size()
		}
	}
	return n
}

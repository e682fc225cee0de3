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
	Zone     *time.Location    // the process's time zone; nil or time.Local: the file's, else the machine's
	KeepZone bool              // store this zone in a file without one
	Migrate  bool              // apply missing migrations; otherwise an older file is refused
	Notice   func(text string) // called with messages for the operator (a copy left aside)
	Accept   bool              // accept the clock although it contradicts the newest stored instant
	// called with every statement, by the goroutine that runs it: for tests of query plans
	Trace func(query string)
	Fatal func(err error) // called after a failed sync: the state of the disk is unknown, the process must end
}

// DB is an open database. A DB from Trial, TrialAside or Together is bound to their transaction: its Updates and Views
// are part of it.
type DB struct {
	*core
	in *joint // nil: not bound
}

// core is shared by a database and those bound to its transactions.
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
	mayStill func(*Conn, Caller) error // rechecks the caller's access; nil: none

	works   underWay
	readers sync.Mutex
	idle    []*handle
	slots   chan struct{}
	aside   chan struct{} // held by the one trial with a private copy

	watchMu sync.Mutex
	seen    atomic.Int64 // the last version read
	touched atomic.Int64 // see Touch
	watch   *handle

	waits   waits
	newest  atomic.Int64 // the newest stored instant
	doubted atomic.Bool  // the clock was found wrong
	marked  atomic.Int64 // the newest clock mark that this process has read
}

// Readers is the largest number of simultaneous readers; each has a page cache.
const Readers = 4

// The page caches, in KiB. A page missing in a reader's cache is copied from the system's, which app/bench/README.md
// does not show as time; eight large caches it does show as memory. The writer's cache holds the changes of an upload
// until its commit.
const (
	readerCache = 256
	writerCache = 2000
)

// busyTimeout is how long a transaction waits for another process.
const busyTimeout = 5 * time.Second

// Open opens an existing database. It refuses, by name and without changing the file: missing or empty (ErrMissing),
// foreign (ErrForeign) and newer files (ErrNewer).
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

// Path is the file's path as given.
func (d *DB) Path() string { return d.path }

// Zone is the shop's time zone.
func (d *DB) Zone() *time.Location { return d.zone.Load() }

// UseZone sets the shop's time zone in this process.
func (d *DB) UseZone(zone *time.Location) { d.zone.Store(zone) }

// Now returns the process's clock.
func (d *DB) Now() time.Time { return d.now() }

// Today is the calendar day in the shop's time zone.
func (d *DB) Today() exact.Day { return exact.InstantOf(d.now()).Day(d.Zone()) }

// At is the validity of an answer: a version of the database, and a second of its clock. Its zero value is never valid.
type At struct {
	version int64
	touched int64
	now     exact.Instant
}

// At returns the present second and the last version seen. Data read since then is valid while At returns the same.
func (d *DB) At() (At, error) {
	version, err := d.SeenVersion()
	return At{version, d.touched.Load(), exact.InstantOf(d.now())}, err
}

// Touch says that answers change although no database holds the change, such as times that are stored later.
func (d *DB) Touch() { d.touched.Add(1) }

// OnEmit sets the function called after a commit that emitted events. Set it before the first Update.
func (d *DB) OnEmit(wake func()) { d.wakes = wake }

// Close lets the running transaction finish, checkpoints the log and closes the file. No View or Update may be running
// or follow.
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

// checkpoint moves what it can of the log into the file, without waiting, since another process may be serving. The
// last connection to close removes the log.
func checkpoint(path string) error {
	c, err := connect(path, false)
	if err != nil {
		return err
	}
	err = run(c, "PRAGMA wal_checkpoint(PASSIVE)")
	return errors.Join(err, c.Close())
}

// LogLeft moves what it can of the log into the file and returns the number of its pages that a reader still needs
// there.
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

// View calls fn with a consistent, query-only view of the database. The end of ctx interrupts its queries.
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
		release()  // an interrupted reader must still release its snapshot
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

// Read is View for a function with a result.
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

// connectReader opens a reading connection to this database's file and no other.
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

// Version is a number that changes with every commit of any connection, of this process or another. It reads no table.
func (d *DB) Version() (int64, error) {
	d.watchMu.Lock()
	defer d.watchMu.Unlock()
	n, err := d.watched("PRAGMA data_version")
	if err == nil {
		d.seen.Store(n)
	}
	return n, err
}

// SeenVersion is the last version read by anyone. A request that has called Version can use it instead of a second
// call.
func (d *DB) SeenVersion() (int64, error) {
	if n := d.seen.Load(); n != 0 {
		return n, nil
	}
	return d.Version()
}

// QueryInt reads one number on its own connection, so that it waits for no reader; 0 if there is no row. It is for very
// cheap queries.
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

// Size is the size of the file and its log on the disk, in bytes.
func (d *DB) Size() int64 {
	var n int64
	for _, p := range []string{d.path, d.path + "-wal"} {
		if st, err := os.Stat(p); err == nil {
			n += st.Size()
		}
	}
	return n
}

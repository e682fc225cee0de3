package db

import (
	"context"
	"errors"
	"fmt"
	"time"

	"zombiezen.com/go/sqlite"

	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// handle is a connection of the engine with its prepared statements.
type handle struct {
	*sqlite.Conn
	kept      map[string]*sqlite.Stmt
	trace     func(string)  // Options.Trace
	interrupt chan struct{} // closed to interrupt its queries; nil: nothing can
}

// Prepare returns the statement for query, reset, with its last values still bound: bind replaces them. The engine's
// own cache clears the values, after which the statement is planned again. For a SELECT with an index that takes
// several times as long as running it.
func (c *handle) Prepare(query string) (*sqlite.Stmt, error) {
	if c.trace != nil {
		c.trace(query)
	}
	if s := c.kept[query]; s != nil {
		return s, s.Reset()
	}
	s, err := c.Conn.Prepare(query)
	if err != nil {
		return nil, err
	}
	if c.kept == nil {
		c.kept = map[string]*sqlite.Stmt{}
	}
	c.kept[query] = s
	return s, nil
}

// resetAll resets every statement, after a panic in a loop over rows: otherwise the connection would keep an old
// snapshot forever.
func (c *handle) resetAll() {
	for _, s := range c.kept {
		_ = s.Reset()
	}
}

// Conn is a consistent view of the database at one instant. It is valid until the function that received it returns.
type Conn struct {
	c   *handle
	now exact.Instant
	loc *time.Location
}

// Now is the instant of this view or transaction.
func (c *Conn) Now() exact.Instant {
	return c.now
}

// Today is the calendar day of Now in the shop's time zone.
func (c *Conn) Today() exact.Day {
	return c.now.Day(c.loc)
}

// Zone is the shop's time zone.
func (c *Conn) Zone() *time.Location { return c.loc }

// Row is one row of a result; its methods read the columns one by one, in the order of the SELECT.
type Row struct {
	s *sqlite.Stmt
	i int
}

// Int reads an integer.
func (r *Row) Int() int64 { v := r.s.ColumnInt64(r.i); r.i++; return v }

// Bool reads 0 or 1.
func (r *Row) Bool() bool { return r.Int() != 0 }

// Text reads a text; "" for NULL.
func (r *Row) Text() string { v := r.s.ColumnText(r.i); r.i++; return v }

// Day reads a day number.
func (r *Row) Day() exact.Day { return exact.Day(r.Int()) } // #nosec G115 -- it was written as a day

// Milli reads a quantity in thousandths.
func (r *Row) Milli() exact.Milli { return exact.Milli(r.Int()) }

// Instant reads a moment.
func (r *Row) Instant() exact.Instant { return exact.Instant(r.Int()) }

// Bytes reads a blob into new memory; nil for NULL.
func (r *Row) Bytes() []byte {
	n := r.s.ColumnLen(r.i)
	if n == 0 {
		r.i++
		return nil
	}
	b := make([]byte, n)
	r.s.ColumnBytes(r.i, b)
	r.i++
	return b
}

// IntPtr reads an integer; nil for NULL. So do the other Ptr methods.
func (r *Row) IntPtr() *int64 { return orNil(r, r.Int) }

// TextPtr reads a text that may be NULL.
func (r *Row) TextPtr() *string { return orNil(r, r.Text) }

// DayPtr reads a day that may be NULL.
func (r *Row) DayPtr() *exact.Day { return orNil(r, r.Day) }

// MilliPtr reads a quantity that may be NULL.
func (r *Row) MilliPtr() *exact.Milli { return orNil(r, r.Milli) }

// InstantPtr reads a moment that may be NULL.
func (r *Row) InstantPtr() *exact.Instant { return orNil(r, r.Instant) }

func orNil[T any](r *Row, read func() T) *T {
	if r.s.ColumnIsNull(r.i) {
		r.i++
		return nil
	}
	v := read()
	return &v
}

// Stmt is a prepared statement for a loop that runs it many times. Bind, then Step.
type Stmt struct {
	s   *sqlite.Stmt
	row Row
	tx  *Tx // of Change; nil: it only reads
}

// Prepare returns the connection's prepared statement for query. The same text returns the same statement, so it must
// not be used twice at once.
func (c *Conn) Prepare(query string) (*Stmt, error) {
	s, err := c.c.Prepare(query)
	if err != nil {
		return nil, failed(err)
	}
	return &Stmt{s: s, row: Row{s: s}}, nil
}

// Ints resets the statement and binds whole numbers to ?1, ?2 and so on.
func (s *Stmt) Ints(args ...int64) error {
	if err := s.s.Reset(); err != nil {
		return failed(err)
	}
	for i, v := range args {
		s.s.BindInt64(i+1, v)
	}
	return nil
}

// Args resets the statement and binds any arguments.
func (s *Stmt) Args(args ...any) error {
	if err := s.s.Reset(); err != nil {
		return failed(err)
	}
	return bind(s.s, args)
}

// Text binds a text to ?n, after Ints: in a long loop it is faster than Args.
func (s *Stmt) Text(n int, v string) { s.s.BindText(n, v) }

// Step runs the statement to its next row; nil at the end.
func (s *Stmt) Step() (*Row, error) {
	more, err := s.s.Step()
	if err != nil || !more {
		return nil, failed(err)
	}
	s.row.i = 0
	return &s.row, nil
}

// Run executes a statement without rows.
func (s *Stmt) Run() error {
	if s.tx != nil && s.tx.failure != nil {
		return s.tx.failure
	}
	_, err := s.Step()
	return err
}

// Reset releases the statement's rows; needed if not every row was read.
func (s *Stmt) Reset() { _ = s.s.Reset() }

// Each calls fn for every row of the query, in order, and stops at the first error.
func Each(c *Conn, fn func(*Row) error, query string, args ...any) error {
	s, err := c.c.Prepare(query)
	if err != nil {
		return failed(err)
	}
	if err := bind(s, args); err != nil {
		return err
	}
	row, ended := Row{s: s}, false
	defer func() {
		if !ended { // fn's error, or its panic
			_ = s.Reset()
		}
	}()
	for {
		more, err := s.Step()
		if err != nil || !more {
			ended = true
			return failed(err)
		}
		row.i = 0
		if err := fn(&row); err != nil {
			return err
		}
	}
}

// All returns every row of the query, read by scan; never nil.
func All[T any](c *Conn, scan func(*Row) T, query string, args ...any) ([]T, error) {
	return AllInto(c, func(r *Row, one *T) { *one = scan(r) }, query, args...)
}

// AllInto is All with a scan that fills each record in place.
func AllInto[T any](c *Conn, scan func(*Row, *T), query string, args ...any) ([]T, error) {
	all := []T{}
	err := Each(c, func(r *Row) error {
		var one T
		all = append(all, one)
		scan(r, &all[len(all)-1])
		return nil
	}, query, args...)
	return all, err
}

// One returns the query's first row, and whether there is one.
func One[T any](c *Conn, scan func(*Row) T, query string, args ...any) (one T, found bool, err error) {
	found, err = first(c, func(r *Row) { one = scan(r) }, query, args)
	return one, found, err
}

// Number is the whole number that a query selects; 0 without a row.
func Number(c *Conn, query string, args ...any) (int64, error) {
	n, _, err := One(c, Int, query, args...)
	return n, err
}

// ByID is One for a record that must exist: without it the refusal is "there is no lease 4". The query's ?1 is the id.
func ByID[T any](c *Conn, scan func(*Row) T, noun, query string, id int64) (T, error) {
	one, found, err := One(c, scan, query, id)
	if err == nil && !found {
		err = fault.NotFoundf("there is no %s %d", noun, id)
	}
	return one, err
}

// first is the part of One that does not depend on the record's type: it is compiled once.
func first(c *Conn, scan func(*Row), query string, args []any) (found bool, err error) {
	s, err := c.c.Prepare(query)
	if err != nil {
		return false, failed(err)
	}
	if err := bind(s, args); err != nil {
		return false, err
	}
	more, err := s.Step()
	if err != nil || !more {
		return false, failed(err)
	}
	defer func() { err = errors.Join(err, failed(s.Reset())) }() // also if scan panics
	scan(&Row{s: s})
	return true, nil
}

// Int scans a single integer.
func Int(r *Row) int64 { return r.Int() }

// Text scans a single text.
func Text(r *Row) string { return r.Text() }

// bind binds args to the statement's parameters; one without an argument is NULL.
func bind(s *sqlite.Stmt, args []any) error {
	if len(args) < s.BindParamCount() {
		if err := s.ClearBindings(); err != nil {
			return err
		}
	}
	for i, arg := range args {
		if err := bindOne(s, i+1, arg); err != nil {
			return err
		}
	}
	return nil
}

func bindOne(s *sqlite.Stmt, n int, arg any) error {
	switch v := arg.(type) {
	case nil:
		s.BindNull(n)
	case string:
		s.BindText(n, v)
	case int64:
		s.BindInt64(n, v)
	case int:
		s.BindInt64(n, int64(v))
	case bool:
		s.BindBool(n, v)
	case []byte:
		s.BindBytes(n, v)
	case exact.Day:
		s.BindInt64(n, int64(v))
	case exact.Month:
		s.BindInt64(n, int64(v))
	case exact.Milli:
		s.BindInt64(n, int64(v))
	case exact.Instant:
		s.BindInt64(n, int64(v))
	case *string:
		return bindPtr(s, n, v)
	case *int64:
		return bindPtr(s, n, v)
	case *exact.Day:
		return bindPtr(s, n, v)
	case *exact.Milli:
		return bindPtr(s, n, v)
	case *exact.Instant:
		return bindPtr(s, n, v)
	default:
		return fmt.Errorf("db: cannot bind a %T to ?%d", arg, n)
	}
	return nil
}

func bindPtr[T any](s *sqlite.Stmt, n int, v *T) error {
	if v == nil {
		s.BindNull(n)
		return nil
	}
	return bindOne(s, n, *v)
}

// interruptible makes the end of ctx interrupt the connection's queries until the returned function is called. The
// engine's library waits for an interrupt on a goroutine, whose start and end take longer than a small query. So each
// connection keeps one, on its own channel, and gets a new one only after an interrupt.
func interruptible(ctx context.Context, c *handle) (release func()) {
	if ctx.Done() == nil {
		return func() {}
	}
	if c.interrupt == nil {
		c.interrupt = make(chan struct{})
		c.SetInterrupt(c.interrupt)
	}
	closed := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		close(c.interrupt)
		close(closed)
	})
	return func() {
		if stop() {
			return
		}
		<-closed // now the connection is this goroutine's alone again
		c.interrupt = nil
		c.SetInterrupt(nil)
	}
}

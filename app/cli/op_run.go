package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"strings"
	"syscall"

	"quartermaster/app/account"
	"quartermaster/app/server"
	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
	"quartermaster/schema/mail"
)

// run does the operation and prints its answer.
func (c *opCommand) run(ctx context.Context) error {
	if err := c.readSecrets(); err != nil {
		return err
	}
	return c.p.withDB(func(d *db.DB) error {
		currency, err := db.Read(ctx, d, (*db.Conn).Currency)
		if err != nil {
			return err
		}
		op, handle, err := c.decode(ctx, d, currency)
		if err != nil {
			return err
		}
		who := db.CLI(c.service)
		if op.Writes {
			if who, err = c.p.actor(ctx, d, c.service); err != nil {
				return err
			}
		}
		return c.do(ctx, d, op, handle, who, currency)
	})
}

// decode finds the operation over a database and returns the function that runs it with the arguments.
func (c *opCommand) decode(ctx context.Context, d *db.DB, currency exact.Currency) (schema.Op, schema.Handler, error) {
	op, err := server.FindOp(server.Declared(d), c.service, c.declared)
	if err != nil {
		return op, nil, err
	}
	handle, err := op.Decode(schema.Input{
		Surface: schema.Command, Values: c.values, Currency: currency, ReadFile: c.p.readFile,
		View: func(fn func(*db.Conn) error) error { return d.View(ctx, fn) },
	})
	if fault.Is(err, fault.Invalid) {
		err = usageError{err}
	}
	return op, handle, err
}

// try runs the operation as a trial and returns the changes and the answer.
func (c *opCommand) try(ctx context.Context, d *db.DB, who db.Caller, currency exact.Currency) (answer any,
	changes []db.Change, err error) {
	changes, err = d.Trial(ctx, func(d *db.DB) error {
		_, handle, err := c.decode(ctx, d, currency)
		if err == nil {
			answer, err = handle(ctx, who)
		}
		return err
	})
	return answer, changes, err
}

func (c *opCommand) do(ctx context.Context, d *db.DB, op schema.Op, handle schema.Handler, who db.Caller,
	currency exact.Currency) error {
	money := schema.Money(currency.Format)
	if c.dryRun {
		return c.would(ctx, d, who, currency)
	}
	if op.Destructive && !c.yes && onTerminal(c.p.Stdin) {
		if err := c.ask(ctx, d, op, who, currency); err != nil {
			return err
		}
	}
	if op.Credential {
		signal.Ignore(syscall.SIGPIPE) // report a closed pipe instead of dying silently
	}
	mailed, err := db.Read(ctx, d, mail.Newest)
	if err != nil {
		return err
	}
	answer, err := handle(ctx, who)
	if err != nil {
		return err
	}
	if op.Writes {
		defer c.p.tellWaiting(ctx, d, mailed)
	}
	if op.Credential {
		c.p.lost = "the secret, which is shown once, is lost: run this again for another one, and revoke or remove this one"
		c.p.unshown = func() { c.revoke(ctx, d, who, answer) }
	}
	if c.asCSV {
		return writeCSV(c.p.Stdout, answer)
	}
	var refused []string
	var left error
	if partial, is := answer.(schema.Partial); is {
		refused, left = partial.Refusals()
	}
	// the printed output is for a pipe; the message goes to standard error
	if op.Print != nil && op.Did != nil && refused == nil {
		c.p.notice(op.Did(answer, money))
	}
	for _, line := range refused {
		c.p.notice(line)
	}
	err = c.p.print(answer, func(w io.Writer) {
		switch {
		case op.Print != nil:
			op.Print(w, answer)
		case op.Did != nil:
			fmt.Fprintln(w, op.Did(answer, money))
		default:
			writeTable(w, answer)
		}
	})
	if err == nil {
		err = c.p.shown()
	}
	if err != nil {
		return err
	}
	return left
}

// tellWaiting says that messages which an operation queued after the message of that number wait for a server.
func (p *program) tellWaiting(ctx context.Context, d *db.DB, after int64) {
	n, err := db.Read(ctx, d, func(c *db.Conn) (int64, error) { return mail.WaitingAfter(c, after) })
	if err == nil && n > 0 && !db.Served(p.dbPath) {
		p.notice(fmt.Sprintf("Messages that wait: %d. No server is running; `quartermaster serve` sends them.", n))
	}
}

// revoke ends a key that could not be shown.
func (c *opCommand) revoke(ctx context.Context, d *db.DB, who db.Caller, answer any) {
	key, is := answer.(account.CreatedKey)
	if !is {
		return
	}
	if _, err := account.RevokeKey(ctx, d, who, key.ID); err == nil {
		c.p.lost = fmt.Sprintf(
			"the key, which is shown once, is lost: key %d is revoked again; run this again for another one", key.ID)
	}
}

// Would is the output of --dry-run with --json.
type Would struct {
	Would []db.Change `json:"would"`
}

// would prints what the operation would change.
func (c *opCommand) would(ctx context.Context, d *db.DB, who db.Caller, currency exact.Currency) error {
	_, changes, err := c.try(ctx, d, who, currency)
	if err != nil {
		return err
	}
	if changes == nil {
		changes = []db.Change{}
	}
	return c.p.print(Would{changes}, func(w io.Writer) {
		if len(changes) == 0 {
			fmt.Fprintln(w, "nothing would change")
		}
		schema.Tabulate(w, "RECORD|FIELD|BEFORE|AFTER", changes, func(x db.Change) []any {
			return []any{x.Record, x.Field, cell(x.Before), cell(x.After)}
		})
	})
}

// ask shows on a terminal what would be done, and waits for a yes.
func (c *opCommand) ask(ctx context.Context, d *db.DB, op schema.Op, who db.Caller, currency exact.Currency) error {
	question := op.Title()
	answer, _, err := c.try(ctx, d, who, currency)
	if err != nil {
		return err
	}
	if op.Will != nil {
		question = op.Will(answer, currency.Format)
	}
	fmt.Fprintf(c.p.Stderr, "%s\nGo on? [y/N] ", question)
	var word string
	_, _ = fmt.Fscanln(c.p.Stdin, &word)
	if w := strings.ToLower(word); w != "y" && w != "yes" {
		return errors.New("nothing was done")
	}
	return nil
}

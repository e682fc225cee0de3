package cli

import (
	"context"
	"fmt"
	"time"

	"quartermaster/app/table"
	"quartermaster/schema"
	"quartermaster/schema/db"
)

// runImport imports the file. One in add mode is done once until its result was printed: repeated after its output
// failed, it prints the result and adds nothing.
func (p *program) runImport(ctx context.Context, d *db.DB, who db.Caller, t schema.Table, f *table.File, o *importing,
	progress func(int)) (table.Outcome, error) {
	if !o.Add || o.DryRun {
		return table.Run(ctx, d, who, t, f, o.Options, progress)
	}
	work, err := table.Begin(ctx, d, who, t, f, o.Options, "", "")
	if err == nil && work.Answer != nil && o.again {
		if err = work.Drop(ctx); err == nil {
			work, err = table.Begin(ctx, d, who, t, f, o.Options, "", "")
		}
	}
	if err != nil {
		return table.Outcome{}, err
	}
	o.Work = work
	if work.Answer == nil {
		return table.Run(ctx, d, who, t, f, o.Options, progress)
	}
	at := time.Unix(int64(work.Moved), 0).In(d.Zone()).Format("2006-01-02 15:04")
	p.notice(fmt.Sprintf("this file was added at %s; nothing was added now. To add it again, pass --again", at))
	return table.Answered(work)
}

// told deletes the import's state after its result was printed: the same file may be added again.
func (p *program) told(ctx context.Context, o importing) error {
	if out, is := p.Stdout.(*output); !is || out.err == nil { // otherwise the program fails with it
		return o.Work.Drop(ctx)
	}
	return nil
}

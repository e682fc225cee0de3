package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"quartermaster/app/mailer"
	"quartermaster/schema/db"
)

// mailDailyCommand sends what set_mail_timer allows. The package's timer calls it every morning.
func (p *program) mailDailyCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "daily",
		Short: "Send what the timer sends every morning",
		Long: `Send what "mail timer" allows, as the package's timer does every morning: notices of licenses
that end soon, reminders of rent, and digests. What was sent already is not sent twice.`,
		Example: "  quartermaster mail daily",
		Args:    noArgs,
		RunE: p.run(func(ctx context.Context, _ []string) error {
			return p.withDB(func(d *db.DB) error { return p.mailDaily(ctx, d) })
		}),
	}
}

func (p *program) mailDaily(ctx context.Context, d *db.DB) error {
	allowed, err := db.Read(ctx, d, mailer.TimerNow)
	if err != nil {
		return err
	}
	if allowed == (mailer.Timer{}) {
		fmt.Fprintln(p.Stdout, "Nothing is allowed: `quartermaster mail timer` sets what is sent.")
		return nil
	}
	currency, err := db.Read(ctx, d, (*db.Conn).Currency)
	if err != nil {
		return err
	}
	var failed []error
	for _, part := range []struct {
		on            bool
		service, name string
	}{{allowed.Expiry, "store", "send_expiry_notices"}, {allowed.Reminders, "rental", "send_reminders"},
		{allowed.Digests, "", "send_digests"}} {
		for _, s := range p.declared() {
			for _, op := range s.Ops {
				if !part.on || op.Name != part.name || s.Name != part.service {
					continue
				}
				c := p.newOpCommand(part.service, op)
				c.yes = true
				now, handle, err := c.decode(ctx, d, currency)
				if err == nil {
					err = c.do(ctx, d, now, handle, db.CLI(part.service), currency)
				}
				failed = append(failed, err)
			}
		}
	}
	return errors.Join(failed...)
}

package cli

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"quartermaster/app/server"
	"quartermaster/schema/db"
	"quartermaster/webhook"
)

type deliveryList struct {
	Deliveries []webhook.Delivery `json:"deliveries"`
}

func (p *program) webhookDeliveriesCommand() *cobra.Command {
	var f webhook.Filter
	cmd := p.jsonFlag(&cobra.Command{
		Use:   "deliveries [--service SERVICE] [--endpoint ID] [--failed] [--limit N]",
		Short: "Show the delivery log, newest first",
		Long: `Show the delivery log, newest first. A delivery is pending, sending, delivered, failed
or, when the program was cut off during the attempt, interrupted. The last 200 of each
receiver are kept.`,
		Example: `  quartermaster webhook deliveries --failed
  quartermaster webhook deliveries --endpoint 3 --limit 20 --json`,
		Args: noArgs,
	})
	cmd.RunE = p.run(func(ctx context.Context, _ []string) error {
		if err := narrowed(f.Service, f.Limit); err != nil {
			return err
		}
		if f.Endpoint < 1 && cmd.Flags().Changed("endpoint") {
			return usagef("--endpoint: %d is not an id; ids are positive whole numbers", f.Endpoint)
		}
		return p.withDB(func(d *db.DB) error {
			all, err := webhook.Deliveries(ctx, d, f)
			if err != nil {
				return err
			}
			return p.print(deliveryList{all}, func(w io.Writer) {
				columns(w, []string{"ID", "SERVICE", "WEBHOOK", "EVENT", "KIND", "STATE", "ANSWER", "MS", "CREATED"}, all, deliveryCells)
			})
		})
	})
	fs := cmd.Flags()
	fs.StringVar(&f.Service, "service", "", "only this service's: "+serviceNames)
	fs.Int64Var(&f.Endpoint, "endpoint", 0, "only this receiver's")
	fs.BoolVar(&f.Failed, "failed", false, "only failed and interrupted ones")
	fs.IntVar(&f.Limit, "limit", 100, "how many at most")
	complete(cmd, "service", server.Names)
	p.completeEndpoint(cmd)
	return cmd
}

func deliveryCells(v webhook.Delivery) []string {
	ms := ""
	if v.DurationMS != nil {
		ms = strconv.FormatInt(*v.DurationMS, 10)
	}
	return []string{
		strconv.FormatInt(v.ID, 10), v.Service, strconv.FormatInt(v.EndpointID, 10), v.Event, v.Kind, v.State,
		answered(v), ms, v.CreatedAt.String(),
	}
}

// answered is the response's code, or why there was none.
func answered(v webhook.Delivery) string {
	switch {
	case v.ResponseCode != nil:
		return strconv.FormatInt(*v.ResponseCode, 10)
	case v.Error != nil:
		return *v.Error
	}
	return ""
}

type resentList struct {
	Deliveries []webhook.Resent `json:"deliveries"`
}

func (p *program) webhookResendCommand() *cobra.Command {
	var ask webhook.Ask
	var private bool
	cmd := p.jsonFlag(&cobra.Command{
		Use:   "resend DELIVERY_ID... | --failed [--endpoint ID] [--since DURATION]",
		Short: "Send deliveries again, now, and print what the receivers answered",
		Long: `Make one new attempt for each of the deliveries, now, from this process, also beside a
running server: the same bytes and event id. --failed takes those that failed or were
interrupted and whose event has not reached that receiver since. The exit code is 1
when any of them fails.`,
		Example: `  quartermaster webhook resend 17 18
  quartermaster webhook resend --failed --since 24h
  quartermaster webhook resend --failed --endpoint 3 --json`,
		Args: cobra.ArbitraryArgs,
	})
	cmd.RunE = p.run(func(ctx context.Context, args []string) error {
		if err := askOf(cmd, args, &ask); err != nil {
			return err
		}
		return p.withDB(func(d *db.DB) error {
			sender := webhook.NewSender(d, webhook.Options{
				Version: Version, AllowPrivate: private,
				Trouble: func(err error) { p.notice("the database cannot be written, trying again: " + err.Error()) },
			})
			made, err := sender.Resend(ctx, db.CLI(""), ask)
			if err != nil && len(made) == 0 {
				return err
			}
			if told := p.tellResent(made); err == nil {
				err = told
			}
			return err
		})
	})
	f := cmd.Flags()
	f.BoolVar(&ask.Failed, "failed", false, "those that failed or were interrupted, and have not arrived since")
	f.Int64Var(&ask.Endpoint, "endpoint", 0, "with --failed: only this receiver's")
	f.DurationVar(&ask.Since, "since", 0, "with --failed: only those tried within this time, such as 90m or 24h")
	f.BoolVar(&private, "webhook-allow-private", false, "let them go to loopback and private addresses")
	p.completeEndpoint(cmd)
	return cmd
}

// askOf reads what is to be sent again; what does not go together is wrong usage.
func askOf(cmd *cobra.Command, args []string, ask *webhook.Ask) error {
	f := cmd.Flags()
	switch {
	case ask.Failed && len(args) > 0, !ask.Failed && len(args) == 0:
		return usagef("name the deliveries by their ids, or give --failed; one of the two")
	case !ask.Failed && (f.Changed("endpoint") || f.Changed("since")):
		return usagef("--endpoint and --since narrow --failed; they do not go with ids")
	case f.Changed("endpoint") && ask.Endpoint < 1:
		return usagef("--endpoint: %d is not an id; ids are positive whole numbers", ask.Endpoint)
	case f.Changed("since") && ask.Since < time.Second:
		return usagef("--since: %s is out of range; it takes at least 1s", ask.Since)
	}
	for _, a := range args {
		id, err := idArg("DELIVERY_ID", a)
		if err != nil {
			return err
		}
		ask.IDs = append(ask.IDs, id)
	}
	return nil
}

func (p *program) tellResent(made []webhook.Resent) error {
	err := p.print(resentList{made}, func(w io.Writer) {
		columns(w, []string{"ID", "RESEND OF", "WEBHOOK", "EVENT", "STATE", "ANSWER"}, made, func(r webhook.Resent) []string {
			return []string{strconv.FormatInt(r.ID, 10), strconv.FormatInt(r.Of, 10), strconv.FormatInt(r.EndpointID, 10), r.Event, r.State, answered(r.Delivery)}
		})
	})
	failed := 0
	for _, r := range made {
		if r.State != "delivered" {
			failed++
		}
	}
	if err == nil && failed > 0 {
		err = fmt.Errorf("%d of %d deliveries failed", failed, len(made))
	}
	return err
}

func (p *program) completeEndpoint(cmd *cobra.Command) {
	completeBy(cmd, "endpoint", func() []string {
		ids, _ := p.webhookIDs(nil, nil, "")
		return ids
	})
}

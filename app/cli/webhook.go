package cli

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"quartermaster/app/server"
	"quartermaster/schema/db"
	"quartermaster/webhook"
)

type webhookList struct {
	Webhooks []webhook.Receiver `json:"webhooks"`
}

func (p *program) webhookCommand() *cobra.Command {
	return group("webhook", "Keep the receivers of events, and the log of what was sent to them",
		`A receiver is a URL that a service's events are sent to, each one signed with the
receiver's secret. There is one attempt for each event; what was missed is sent again
by "quartermaster webhook resend". A running server sends what commands bring about
within 2 seconds.`,
		p.webhookAddCommand(), p.webhookListCommand(),
		p.webhookActCommand("remove", "removed", "Send nothing more to a receiver, and forget its URL and secret", (*webhook.Receivers).Remove),
		p.webhookActCommand("enable", "enabled", "Send events to a receiver again, those that wait for it first", (*webhook.Receivers).Enable),
		p.webhookActCommand("disable", "disabled", "Hold a receiver back: what happens meanwhile is not sent to it", (*webhook.Receivers).Disable),
		p.webhookRotateCommand(), p.webhookDeliveriesCommand(), p.webhookResendCommand())
}

// eventNames are each service's events.
func eventNames() map[string][]string {
	names := map[string][]string{}
	for _, s := range server.NewServices(nil).All {
		names[s.Name] = []string{}
		for _, e := range s.Events {
			names[s.Name] = append(names[s.Name], e.Name)
		}
	}
	return names
}

// withReceivers runs do with the book of receivers.
func (p *program) withReceivers(do func(*webhook.Receivers) error) error {
	return p.withDB(func(d *db.DB) error { return do(webhook.NewReceivers(d, eventNames())) })
}

func (p *program) webhookAddCommand() *cobra.Command {
	var service, url, secret string
	var events []string
	cmd := p.jsonFlag(&cobra.Command{
		Use:   "add --service SERVICE --url URL [--event EVENT]... [--secret TEXT]",
		Short: "Add a receiver, and print its id and its secret, this once",
		Long: `Add a receiver of a service's events, without --event of all of them, and print its id
and its secret. Without --secret one is made, as Standard Webhooks has it.

` + eventList(),
		Example: `  quartermaster webhook add --service reorder --url https://example.com/alarms
  quartermaster webhook add --service reorder --url https://example.com/alarms --event sku.reorder_point --json`,
		Args: noArgs,
	})
	cmd.RunE = p.run(func(ctx context.Context, _ []string) error {
		if err := oneOf("--service", service, server.Names...); err != nil {
			return err
		}
		for _, e := range events {
			if err := oneOf("--event", e, eventNames()[service]...); err != nil {
				return err
			}
		}
		if secret == "" && cmd.Flags().Changed("secret") {
			return usagef("--secret: it is empty; leave it out to have one made")
		}
		return p.withReceivers(func(r *webhook.Receivers) error {
			made, err := r.Add(ctx, db.CLI(service), url, events, secret)
			if err != nil {
				return err
			}
			return p.tellSecret(made)
		})
	})
	f := cmd.Flags()
	f.StringVar(&service, "service", "", "whose events: "+serviceNames)
	f.StringVar(&url, "url", "", "where they are sent: http or https")
	f.StringArrayVar(&events, "event", nil, "an event that is wanted; any number of times")
	f.StringVar(&secret, "secret", "", "the secret that signs them, in place of a new one")
	require(cmd, "service")
	require(cmd, "url")
	complete(cmd, "service", server.Names)
	completeBy(cmd, "event", func() []string {
		if names := eventNames(); service != "" {
			return names[service]
		}
		return nil
	})
	return cmd
}

// eventList tells each service's events.
func eventList() string {
	var b strings.Builder
	b.WriteString("Events:")
	names := eventNames()
	for _, s := range server.Names {
		if len(names[s]) > 0 {
			fmt.Fprintf(&b, "\n  %s: %s", s, strings.Join(names[s], ", "))
		}
	}
	return b.String()
}

func (p *program) tellSecret(made webhook.Secret) error {
	return p.print(made, func(w io.Writer) { fmt.Fprintf(w, "id: %d\nsecret: %s\n", made.ID, made.Secret) })
}

func (p *program) webhookListCommand() *cobra.Command {
	return p.jsonFlag(&cobra.Command{
		Use:     "list",
		Short:   "List the receivers",
		Example: "  quartermaster webhook list --json",
		Args:    noArgs,
		RunE: p.run(func(ctx context.Context, _ []string) error {
			return p.withReceivers(func(r *webhook.Receivers) error {
				all, err := r.List(ctx)
				if err != nil {
					return err
				}
				return p.print(webhookList{all}, func(w io.Writer) {
					columns(w, []string{"ID", "SERVICE", "STATE", "URL", "EVENTS"}, all, func(v webhook.Receiver) []string {
						state := "enabled"
						if !v.Enabled {
							state = "disabled"
						}
						return []string{strconv.FormatInt(v.ID, 10), v.Service, state, v.URL, strings.Join(v.Events, ", ")}
					})
				})
			})
		}),
	})
}

// webhookActCommand is remove, enable or disable.
func (p *program) webhookActCommand(word, done, short string,
	act func(*webhook.Receivers, context.Context, db.Caller, int64) error,
) *cobra.Command {
	return &cobra.Command{
		Use:     word + " ID",
		Short:   short,
		Example: "  quartermaster webhook " + word + " 3",
		Args:    cobra.ExactArgs(1),
		RunE: p.run(func(ctx context.Context, args []string) error {
			id, err := idArg("ID", args[0])
			if err != nil {
				return err
			}
			return p.withReceivers(func(r *webhook.Receivers) error {
				err := act(r, ctx, db.CLI(""), id)
				if err == nil {
					p.notice(fmt.Sprintf("webhook %d %s", id, done))
				}
				return err
			})
		}),
		ValidArgsFunction: p.webhookIDs,
	}
}

func (p *program) webhookRotateCommand() *cobra.Command {
	return p.jsonFlag(&cobra.Command{
		Use:   "rotate ID",
		Short: "Give a receiver a new secret, and print it, this once",
		Long: `Give a receiver a new secret, and print it, this once. The one before signs along for
24 hours, so that the receiver can be changed without missing anything.`,
		Example: "  quartermaster webhook rotate 3",
		Args:    cobra.ExactArgs(1),
		RunE: p.run(func(ctx context.Context, args []string) error {
			id, err := idArg("ID", args[0])
			if err != nil {
				return err
			}
			return p.withReceivers(func(r *webhook.Receivers) error {
				made, err := r.Rotate(ctx, db.CLI(""), id)
				if err != nil {
					return err
				}
				return p.tellSecret(made)
			})
		}),
		ValidArgsFunction: p.webhookIDs,
	})
}

// webhookIDs completes a receiver's id as the first argument.
func (p *program) webhookIDs(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	var ids []string
	if len(args) == 0 {
		_ = p.withReceivers(func(r *webhook.Receivers) error { // without a database there is nothing to complete
			all, err := r.List(context.Background())
			for _, v := range all {
				ids = append(ids, fmt.Sprintf("%d\t%s %s", v.ID, v.Service, v.URL))
			}
			return err
		})
	}
	return ids, cobra.ShellCompDirectiveNoFileComp
}

// idArg reads a record's id out of a call; what is none is wrong usage.
func idArg(name, text string) (int64, error) {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id < 1 {
		return 0, usagef("%s: %q is not an id; ids are positive whole numbers", name, text)
	}
	return id, nil
}

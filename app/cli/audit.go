package cli

import (
	"context"
	"encoding/json"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"quartermaster/app/server"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// auditEntry is one line of the audit trail.
type auditEntry struct {
	ID      int64           `json:"id"`
	At      exact.Instant   `json:"at"`
	Service string          `json:"service"` // "" for users, keys and the appliance itself
	Actor   string          `json:"actor"`
	Via     string          `json:"via"`
	Action  string          `json:"action"`
	Subject string          `json:"subject"`
	Changes json.RawMessage `json:"changes"`
}

const auditColumns = "id, at, service, actor, via, action, subject, changes"

func scanAudit(r *db.Row) auditEntry {
	return auditEntry{ID: r.Int(), At: r.Instant(), Service: r.Text(), Actor: r.Text(), Via: r.Text(),
		Action: r.Text(), Subject: r.Text(), Changes: json.RawMessage(r.Text())}
}

type auditList struct {
	Entries []auditEntry `json:"entries"`
}

func (p *program) auditCommand() *cobra.Command {
	var service string
	var limit int
	cmd := p.jsonFlag(&cobra.Command{
		Use:   "audit [--service SERVICE] [--limit N]",
		Short: "Show who changed what, newest first",
		Long: `Show the audit trail, newest first: every change with its time, its service (none for
users, keys and the appliance itself), who made it, by which way, and what it changed.`,
		Example: `  quartermaster audit --limit 20
  quartermaster audit --service rental --json`,
		Args: noArgs,
		RunE: p.run(func(ctx context.Context, _ []string) error {
			if err := narrowed(service, limit); err != nil {
				return err
			}
			return p.withDB(func(d *db.DB) error {
				trail, err := auditTrail(ctx, d, service, limit)
				if err != nil {
					return err
				}
				return p.print(auditList{Entries: trail}, func(w io.Writer) {
					columns(w, []string{"ID", "AT", "SERVICE", "ACTOR", "VIA", "ACTION", "SUBJECT", "CHANGES"}, trail, func(e auditEntry) []string {
						return []string{strconv.FormatInt(e.ID, 10), e.At.String(), e.Service, e.Actor, e.Via, e.Action, e.Subject, string(e.Changes)}
					})
				})
			})
		}),
	})
	cmd.Flags().StringVar(&service, "service", "", "only this service's: "+serviceNames)
	complete(cmd, "service", server.Names)
	cmd.Flags().IntVar(&limit, "limit", 50, "how many entries at most")
	return cmd
}

// narrowed checks the --service and the --limit of a list.
func narrowed(service string, limit int) error {
	if service != "" {
		if err := oneOf("--service", service, server.Names...); err != nil {
			return err
		}
	}
	if limit < 1 {
		return usagef("--limit: %d is out of range; it takes a whole number of at least 1", limit)
	}
	return nil
}

// auditTrail gives the newest entries, those of one service unless it is "".
func auditTrail(ctx context.Context, d *db.DB, service string, limit int) (trail []auditEntry, err error) {
	err = d.View(ctx, func(c *db.Conn) error {
		if service == "" {
			trail, err = db.All(c, scanAudit, "SELECT "+auditColumns+" FROM audit ORDER BY id DESC LIMIT ?", limit)
		} else {
			trail, err = db.All(c, scanAudit, "SELECT "+auditColumns+" FROM audit WHERE service = ? ORDER BY id DESC LIMIT ?", service, limit)
		}
		return err
	})
	return trail, err
}

package rental

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
	"quartermaster/schema/picture"
	"quartermaster/schema/session"
)

// A tenant's view and operations at the portal. Every query begins with the leases of the signed-in tenant, the
// caller's Subject; other tenants' records are not found.

// PortalLease is a lease in its tenant's view.
type PortalLease struct {
	Ledger
	Payments []PaidBy
	PayTo    *PayTo // what is open; nil when nothing is
}

// Portal is the portal's first page.
type Portal struct {
	Tenant  Tenant
	Today   exact.Day
	Leases  []PortalLease // those that owe first, then running and coming ones
	Tickets []Ticket
	Devices []session.Session // where the tenant is signed in
	Standing
}

// Portal returns the tenant's records, with everything due by today posted.
func (s *Service) Portal(ctx context.Context, who db.Caller) (v Portal, err error) {
	v.Standing, err = s.upToDate(ctx, who, func(c *db.Conn, r *reading) error {
		v = Portal{Today: c.Today()}
		if v.Tenant, err = tenants.ByID(c, who.Subject); err != nil {
			return err
		}
		leases, err := leasesOfTenant(c, who.Subject)
		if err != nil {
			return err
		}
		if r.await(unpostedOf(leases, c.Today())) {
			return nil
		}
		for _, l := range leases {
			x := PortalLease{Ledger: Ledger{Lease: l}}
			if x.Charges, err = chargesOf(c, l.ID); err != nil {
				return err
			}
			if x.Totals, err = totalsOf(c, l.ID); err != nil {
				return err
			}
			if x.Payments, err = paidBy(c, l.ID); err != nil {
				return err
			}
			if x.PayTo, err = payTo(c, l.ID, x.Totals.BalanceCents); err != nil {
				return err
			}
			v.Leases = append(v.Leases, x)
		}
		slices.SortStableFunc(v.Leases, func(a, b PortalLease) int { return cmp.Compare(a.rank(), b.rank()) })
		v.Tickets, err = tickets.All(c, `CROSS JOIN lease_tenants y ON y.lease_id = k.lease_id
			WHERE y.tenant_id = ? ORDER BY k.id DESC LIMIT 100`, who.Subject)
		if err != nil {
			return err
		}
		v.Devices, err = session.Of(c, session.Tenant, who.Subject)
		return err
	})
	return v, err
}

// rank orders a tenant's leases: the ones that owe, the running ones, those to come, and the ended ones.
func (l PortalLease) rank() int {
	if l.Totals.BalanceCents > 0 {
		return 0
	}
	return 1 + slices.Index([]string{active, upcoming, ended}, l.Lease.Status)
}

// PortalTicket returns one of the tenant's own tickets with its notes.
func (s *Service) PortalTicket(ctx context.Context, who db.Caller, id int64) (TicketDetail, error) {
	return db.Read(ctx, s.db, func(c *db.Conn) (TicketDetail, error) { return ownTicket(c, who.Subject, id) })
}

func ownTicket(c *db.Conn, tenant, id int64) (d TicketDetail, err error) {
	_, own, err := db.One(c, db.Int, `SELECT 1 FROM tickets k JOIN lease_tenants y ON y.lease_id = k.lease_id
		WHERE k.id = ? AND y.tenant_id = ?`, id, tenant)
	if err == nil && !own {
		err = fault.NotFoundf("there is no such ticket")
	}
	if err != nil {
		return d, err
	}
	return ticketDetail(c, id)
}

// PortalReceipt returns the receipt of a payment of one of the tenant's leases.
func (s *Service) PortalReceipt(ctx context.Context, who db.Caller, payment int64) (Receipt, error) {
	return db.Read(ctx, s.db, func(c *db.Conn) (r Receipt, err error) {
		_, own, err := db.One(c, db.Int, `SELECT 1 FROM payments m JOIN lease_tenants y ON y.lease_id = m.lease_id
			WHERE m.id = ? AND y.tenant_id = ? AND m.voided_at IS NULL`, payment, who.Subject)
		if err == nil && !own {
			err = fault.NotFoundf("there is no such receipt")
		}
		if err != nil {
			return r, err
		}
		r, err = receiptOf(c, payment)
		return r, err
	})
}

// PortalPhoto returns a picture of one of the tenant's own tickets.
func (s *Service) PortalPhoto(ctx context.Context, who db.Caller, id int64) (media string, image []byte, err error) {
	err = s.db.View(ctx, func(c *db.Conn) error {
		media, image,
			err = photo(c, id,
			" AND EXISTS (SELECT 1 FROM tickets k JOIN lease_tenants y ON y.lease_id = k.lease_id WHERE k.id = p.ticket_id "+
				"AND y.tenant_id = ?)", who.Subject)
		return err
	})
	return media, image, err
}

func photo(c *db.Conn, id int64, also string, args ...any) (media string, image []byte, err error) {
	_, found, err := db.One(c, func(r *db.Row) bool {
		media, image = r.Text(), r.Bytes()
		return true
	}, "SELECT p.type, p.image FROM ticket_photos p WHERE p.id = ?"+also, append([]any{id}, args...)...)
	if err == nil && !found {
		err = fault.NotFoundf("there is no such photo")
	}
	return media, image, err
}

// MaxPhoto is how large a photo may be, in bytes.
const MaxPhoto = 10 << 20

// Problem is a tenant's report.
type Problem struct {
	Unit        string // as Property/Unit, if the tenant has several
	Title       string
	Description string
	Priority    string
	Photo       schema.File
}

// reportProblem raises a ticket for the unit that the tenant rents, and emits
// maintenance.created.
func reportProblem(tx *db.Tx, p Problem) (Ticket, error) {
	tenant := tx.Who().Subject
	l, err := ownUnit(tx, tenant, p.Unit)
	if err != nil {
		return Ticket{}, err
	}
	if err := admitSent(tx, tenant, maxReports, "reports", "SELECT count(*), coalesce(min(k.created_at), 0)"+ticketsOfIt+
		" WHERE y.tenant_id = ? AND k.source = 'portal' AND k.created_at > ?"); err != nil {
		return Ticket{}, err
	}
	k, err := storeTicket(tx, 0, &l.ID, NewTicket{UnitID: l.UnitID, Title: p.Title, Description: p.Description,
		Priority: p.Priority}, ticketOpen)
	if err != nil || len(p.Photo.Data) == 0 {
		return k, err
	}
	return k, insertPhoto(tx, tenant, k.ID, p.Photo.Data)
}

// ownUnits are the units that the tenant rents or rented, for the form of a report.
func ownUnits(c *db.Conn, who db.Caller, f schema.Find) (all []schema.Choice, err error) {
	leases, err := leasesOfTenant(c, who.Subject)
	for _, l := range leases {
		value := l.Property + "/" + l.Unit
		same := func(x schema.Choice) bool { return x.Value == value }
		if (f.Value == "" || f.Value == value) && !slices.ContainsFunc(all, same) {
			all = append(all, schema.Choice{Value: value, Text: l.Property + " / " + l.Unit})
		}
	}
	return all, err
}

// ownUnit returns the tenant's lease of a problem: of the given unit, else the running one, else the last.
func ownUnit(tx *db.Tx, tenant int64, unit string) (Lease, error) {
	leases, err := leasesOfTenant(&tx.Conn, tenant)
	if err != nil {
		return Lease{}, err
	}
	var best *Lease
	for i, l := range leases {
		if unit != "" && l.Property+"/"+l.Unit != unit {
			continue
		}
		if best == nil || l.Status == active && best.Status != active {
			best = &leases[i]
		}
	}
	if best == nil {
		return Lease{}, fault.Fieldf("unit", "unit: you do not rent this unit; choose one of yours")
	}
	return *best, nil
}

// insertPhoto adds a tenant's picture to a ticket, without its location.
func insertPhoto(tx *db.Tx, tenant, ticket int64, image []byte) error {
	media := picture.Kind(image)
	if media == "" {
		return fault.Fieldf("photo", "photo: the file is not a picture; choose a JPEG, PNG, WebP or GIF")
	}
	image = picture.WithoutPlace(media, image)
	if err := admitPhoto(tx, tenant, len(image)); err != nil {
		return err
	}
	id, err := tx.Insert("INSERT INTO ticket_photos (ticket_id, at, type, image) VALUES (?, ?, ?, ?)", ticket, tx.Now(),
		media, image)
	if err != nil {
		return err
	}
	return tx.Audit("ticket.photo", db.Subject("ticket", ticket), map[string]any{"photo_id": id, "bytes": len(image)})
}

// addPortalNote writes a tenant's note to one of their own tickets.
func addPortalNote(tx *db.Tx, ticket int64, text string) (TicketDetail, error) {
	tenant := tx.Who().Subject
	if _, err := ownTicket(&tx.Conn, tenant, ticket); err != nil {
		return TicketDetail{}, err
	}
	if err := admitSent(tx, tenant, maxNotes, "notes", "SELECT count(*), coalesce(min(n.at), 0)"+ticketsOfIt+
		" CROSS JOIN ticket_notes n ON n.ticket_id = k.id WHERE y.tenant_id = ? AND n.tenant = 1 AND n.at > ?"); err != nil {
		return TicketDetail{}, err
	}
	t, err := tenants.ByID(&tx.Conn, tenant)
	if err != nil {
		return TicketDetail{}, err
	}
	if _, err := insertNote(tx, ticket, t.Name, true, text); err != nil {
		return TicketDetail{}, err
	}
	k, err := tickets.ByID(&tx.Conn, ticket)
	if err == nil {
		err = notifyTicket(tx, "tickets", "", k)
	}
	if err != nil {
		return TicketDetail{}, err
	}
	return ownTicket(&tx.Conn, tenant, ticket)
}

// PortalOps are what a tenant may do at the portal.
func (s *Service) PortalOps() []schema.Op {
	return []schema.Op{
		{
			Name: "report_problem", Writes: true, Creates: true, About: "Report a problem.", Response: exampleTicket(),
			Bind: schema.Writes(s.db, func(f *schema.Form, p *Problem) {
				p.Priority = "medium"
				f.Text(&p.Title, "title", "what is wrong, in a few words", schema.Required, schema.Most(maxName),
					schema.Label("What is wrong?"))
				f.Text(&p.Description, "description", "what else we should know", schema.Most(maxText), schema.Lines,
					schema.Label("More about it"))
				bindPriority(f, &p.Priority)
				f.Text(&p.Unit, "unit", "which unit, if you rent several", schema.Most(2*maxName), schema.Label("Where"),
					schema.ChoicesFor(ownUnits))
				f.File(&p.Photo, "photo", "a picture of it", MaxPhoto, schema.Label("Photo"))
			}, reportProblem),
			Did: func(any, schema.Money) string { return "Thank you: we have your report." },
			Leads: func(a any) string {
				return "/portal" + strings.Replace(ticketPath(a.(Ticket).ID), "/maintenance/", "/tickets/", 1)
			},
		},
		{
			Name: "add_note", Writes: true, Creates: true, About: "Write to one of your reports.",
			Response: exampleTicketDetail(), Refuses: []fault.Kind{fault.NotFound},
			Bind: schema.Writes2(s.db, func(f *schema.Form, id *int64, text *string) {
				f.ID(id, "ticket_id", "the report", schema.Required)
				f.Text(text, "text", "what you want to say", schema.Required, schema.Most(maxText), schema.Lines,
					schema.Label("Your note"))
			}, addPortalNote),
			Did: func(any, schema.Money) string { return "Thank you: we have your note." },
			Leads: func(a any) string {
				return "/portal" + strings.Replace(ticketPath(a.(TicketDetail).ID), "/maintenance/", "/tickets/", 1)
			},
		},
		s.endPortalSession(),
	}
}

// PortalSessionEnded is an ended session.
type PortalSessionEnded struct {
	ID int64 `json:"id"`
}

func (s *Service) endPortalSession() schema.Op {
	return schema.Op{
		Name: "end_session", Writes: true, About: "Sign one of your devices out.", Response: PortalSessionEnded{ID: 31},
		Refuses: []fault.Kind{fault.NotFound},
		Bind: schema.Writes(s.db, func(f *schema.Form, id *int64) {
			f.ID(id, "id", "the session's number", schema.Required, schema.Label("Session"))
		}, endPortalSession),
		Did: func(any, schema.Money) string { return "That device is signed out." },
	}
}

// endPortalSession signs one of the tenant's own devices out.
func endPortalSession(tx *db.Tx, id int64) (PortalSessionEnded, error) {
	tenant := tx.Who().Subject
	ended, err := session.End(tx, session.Tenant, tenant, id)
	if err == nil && !ended {
		err = fault.NotFoundf("there is no such session")
	}
	if err != nil {
		return PortalSessionEnded{}, err
	}
	return PortalSessionEnded{ID: id}, tx.Audit("session.ended", db.Subject("tenant", tenant),
		map[string]any{"sessions": 1})
}

// The limits of a tenant at the portal: reports and notes per hour, and bytes of photos in total. The rows of the
// tenant's leases are counted, so that no counter is stored.
const (
	maxReports  = 10
	maxNotes    = 20
	maxPhotos   = 100 << 20
	sendWindow  = exact.Instant(3600)
	ticketsOfIt = " FROM lease_tenants y CROSS JOIN tickets k ON k.lease_id = y.lease_id"
)

// admitSent refuses what a tenant sends beyond so many in an hour; query counts them, and gives the time of the first.
func admitSent(tx *db.Tx, tenant, most int64, what, query string) error {
	type sent struct {
		n     int64
		first exact.Instant
	}
	since := tx.Now() - sendWindow
	in, _, err := db.One(&tx.Conn, func(r *db.Row) sent { return sent{r.Int(), r.Instant()} }, query, tenant, since)
	if err != nil || in.n < most {
		return err
	}
	e := fault.New(fault.Limited,
		"you have sent %d %s within an hour; please wait, or call us if it is urgent", most, what)
	e.Retry = time.Duration(in.first-since) * time.Second
	return e
}

// admitPhoto refuses a photo of size bytes that would exceed maxPhotos.
func admitPhoto(tx *db.Tx, tenant int64, size int) error {
	kept, err := db.Number(&tx.Conn, "SELECT coalesce(sum(length(p.image)), 0)"+ticketsOfIt+
		" CROSS JOIN ticket_photos p ON p.ticket_id = k.id WHERE y.tenant_id = ? AND k.source = 'portal'", tenant)
	if err == nil && kept+int64(size) > maxPhotos {
		err = fault.Fieldf("photo", "photo: your photos fill your 100 MB; send the report without a photo")
	}
	return err
}

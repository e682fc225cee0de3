package rental

import (
	"time"

	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// The limits of a tenant at the portal: reports and notes per hour, and bytes of photos in total. The rows of the
// tenant's leases are counted, so that no counter is stored.
const (
	maxReports  = 10
	maxNotes    = 20
	maxPhotos   = 100 << 20
	sendWindow  = exact.Instant(3600)
	ticketsOfIt = " FROM lease_tenants y CROSS JOIN tickets k ON k.lease_id = y.lease_id"
)

// admitReport refuses a report beyond maxReports in an hour.
func admitReport(tx *db.Tx, tenant int64) error {
	return admitSent(tx, tenant, maxReports, "reports",
		"SELECT count(*), coalesce(min(k.created_at), 0)"+ticketsOfIt+
			" WHERE y.tenant_id = ? AND k.source = 'portal' AND k.created_at > ?")
}

// admitNote refuses a note beyond maxNotes in an hour.
func admitNote(tx *db.Tx, tenant int64) error {
	return admitSent(tx, tenant, maxNotes, "notes", "SELECT count(*), coalesce(min(n.at), 0)"+ticketsOfIt+
		" CROSS JOIN ticket_notes n ON n.ticket_id = k.id WHERE y.tenant_id = ? AND n.tenant = 1 AND n.at > ?")
}

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
	kept, _, err := db.One(&tx.Conn, db.Int, "SELECT coalesce(sum(length(p.image)), 0)"+ticketsOfIt+
		" CROSS JOIN ticket_photos p ON p.ticket_id = k.id WHERE y.tenant_id = ? AND k.source = 'portal'", tenant)
	if err == nil && kept+int64(size) > maxPhotos {
		err = fault.Fieldf("photo", "photo: your photos fill your 100 MB; send the report without a photo")
	}
	return err
}

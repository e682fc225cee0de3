package reorder

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
	"quartermaster/schema/strict"
)

// maxRows bounds one request. A CSV file has no such bound.
const maxRows = 50_000

// Ingested is the result of an upload of sales.
type Ingested struct {
	Warning      string     `json:"warning,omitempty" about:"to agents: every row equals what was stored before"`
	Imported     int        `json:"imported" about:"rows written"`
	Skipped      int        `json:"skipped" about:"rows refused"`
	Errors       []RowError `json:"errors"`
	Crossed      []Crossed  `json:"crossed_reorder_point" about:"SKUs that the upload took to or below their reorder point"`
	ReplacedDays *int       `json:"replaced_days,omitempty" about:"only with replace: SKU-days that were stored already and were replaced"`
	AlreadyHeld  []Sale     `json:"already_held,omitempty" about:"to agents: the earlier figures of the rows' SKUs and days, at most 100"`
	SendAgain    string     `json:"send_again,omitempty" about:"to agents, if rows were refused: which to send again"`
}

// RowError is a row that was refused, by its position counted from 0.
type RowError struct {
	Row    int    `json:"row"`
	Reason string `json:"reason"`
}

// Crossed is a SKU that fell to its reorder point.
type Crossed struct {
	SKU          string `json:"sku"`
	Status       string `json:"status" enum:"below,near,healthy"`
	SuggestedQty int64  `json:"suggested_qty"`
}

// IngestOptions are an upload's options.
type IngestOptions struct {
	Replace bool
	Channel string
	Agent   bool // unambiguous mistakes are accepted, and the answer names the next step
}

// Ingest adds rows of sales to what is stored, or with Replace puts them in its place:
// the rows are totalled by SKU and day, and the totals replace those of the same SKU
// and day. Rows that are wrong are refused one by one, by position and reason, and
// the others are written, all in one transaction. Refused as a whole: more than
// 50,000 rows. Sales do not change the stock.
//
// With a Channel the rows are sales of that channel: Replace puts them in the place of
// its share alone. Every figure adds the channels up.
func (s *Service) Ingest(ctx context.Context, who db.Caller, rows strict.Value, o IngestOptions) (Ingested, error) {
	const shortest = 38 // bytes of {"date":"2026-11-20","sku":"A","qty":1}
	u := newUpload(min(len(rows.Raw())/shortest, maxRows))
	u.agent = o.Agent
	if o.Channel != "" {
		u.byChannel = true
		u.in(o.Channel)
	}
	for i, row := range rows.Items {
		if i == maxRows {
			return Ingested{}, fault.Fieldf("rows",
				"rows has more than %d rows; send at most %d in one request", maxRows, maxRows)
		}
		u.addJSON(int32(i), row) // #nosec G115 -- there are at most maxRows
	}
	return db.Update(ctx, s.db, who, func(tx *db.Tx) (Ingested, error) {
		done, err := ingest(tx, u, o.Replace)
		if err == nil && o.Agent { // here, so that a repeated call gets the same answer
			return done.afterUpload()
		}
		return done, err
	})
}

// ingest writes the upload's good rows. A fault leaves nothing written.
func ingest(tx *db.Tx, u *upload, replace bool) (Ingested, error) {
	done := Ingested{Errors: []RowError{}, Crossed: []Crossed{}}
	if replace {
		done.ReplacedDays = new(int)
	}
	if err := tx.CheckClock(); err != nil { // it decides which days are in the future
		return done, err
	}
	skus, err := u.lookUp(tx)
	if err != nil {
		return done, err
	}
	nothing := len(u.sales) == 0
	if !nothing {
		err = u.write(tx, skus, replace, &done)
	}
	slices.SortFunc(u.refused, func(a, b refusal) int { return cmp.Compare(a.row, b.row) })
	for _, r := range u.refused {
		done.Errors = append(done.Errors, RowError{Row: int(r.row), Reason: r.reason})
	}
	done.Skipped = len(u.refused)
	if err != nil || nothing {
		return done, err
	}
	return done, tx.Audit("sales.ingested", "sales", struct {
		Imported     int      `json:"imported"`
		Skipped      int      `json:"skipped"`
		Replace      bool     `json:"replace"`
		Channels     []string `json:"channels,omitempty"`
		ReplacedDays *int     `json:"replaced_days,omitempty"`
		SKUs         int      `json:"skus"`
		Crossed      int      `json:"crossed_reorder_point"`
	}{done.Imported, done.Skipped, replace, u.channels, done.ReplacedDays, len(skus), len(done.Crossed)})
}

// salesChange is a SKU of the upload: its old record, and the upload's change of its sales.
type salesChange struct {
	article
	added     exact.Milli // to the sales in the window
	addedYear exact.Milli // and in the year
	first     exact.Day   // earliest day that now has sales, of those in the upload
	last      exact.Day   // and the latest
	emptied   bool        // the day of its first or last sale has no more sales
	changed   bool
}

// lookUp finds the upload's SKUs, sorted by id, drops the rows of unknown SKUs and future days, and sorts the others in
// the table's order: by day, then SKU, then as sent.
func (u *upload) lookUp(tx *db.Tx) ([]salesChange, error) {
	skus := make([]salesChange, 0, len(u.codes))
	for _, code := range u.codes {
		rec, found, err := lookUp(&tx.Conn, code)
		if err != nil {
			return nil, err
		}
		if found {
			skus = append(skus, salesChange{article: rec, first: never, last: neverYet})
		}
	}
	slices.SortFunc(skus, func(a, b salesChange) int { return cmp.Compare(a.id, b.id) })
	place := make([]int32, len(u.codes))
	for i := range place {
		place[i] = -1
	}
	for i := range skus {
		place[u.codeOf[skus[i].Code]] = int32(i)
	}
	nearest, today := u.nearestOf(&tx.Conn), tx.Today()
	kept := u.sales[:0]
	for _, s := range u.sales {
		switch {
		case s.day > today:
			u.refuse(s.row, "date: "+s.day.String()+" is in the future; today is "+today.String())
		case place[s.sku] < 0:
			near, err := nearest(u.codes[s.sku])
			if err != nil {
				return nil, err
			}
			u.refuse(s.row, "sku: "+schema.Quote(u.codes[s.sku])+" is not in the catalogue; SKUs are case-sensitive"+near)
		default:
			s.sku = place[s.sku]
			kept = append(kept, s)
		}
	}
	slices.SortFunc(kept, func(a, b sale) int {
		return cmp.Or(cmp.Compare(a.day, b.day), cmp.Compare(a.sku, b.sku), cmp.Compare(a.row, b.row))
	})
	u.sales = kept
	return skus, nil
}

// nearestOf returns the function that names SKUs near an unknown one, for the first few of an upload.
func (u *upload) nearestOf(c *db.Conn) func(code string) (string, error) {
	var names []string
	told := map[string]string{}
	return func(code string) (string, error) {
		const most = 5 // each scans the whole catalogue
		text, known := told[code]
		if !u.agent || known || len(told) >= most {
			return text, nil
		}
		if names == nil {
			var err error
			if names, err = skuNames(c); err != nil {
				return "", err
			}
		}
		if near := schema.Near(code, names, 3); len(near) > 0 {
			text = "; the nearest are " + strings.Join(near, ", ")
		}
		told[code] = text
		return text, nil
	}
}

// write stores the rows day by day and saves the SKUs.
func (u *upload) write(tx *db.Tx, skus []salesChange, replace bool, done *Ingested) error {
	h, since, err := asOfToday(&tx.Conn)
	if err != nil {
		return err
	}
	_, sinceYear, err := yearAsOfToday(&tx.Conn)
	if err != nil {
		return err
	}
	for i := range skus { // they were read before the windows moved to today
		skus[i].sold += since[skus[i].id]
		skus[i].soldYear += sinceYear[skus[i].id]
	}
	if _, err := rollToToday(tx); err != nil {
		return err
	}
	d, err := newDays(tx, u, skus, h, replace)
	if err != nil {
		return err
	}
	for from := 0; from < len(u.sales); {
		to := from + 1
		for to < len(u.sales) && u.sales[to].day == u.sales[from].day {
			to++
		}
		if err := d.write(u, u.sales[from:to]); err != nil {
			return err
		}
		from = to
	}
	done.Imported = d.imported
	if u.agent {
		done.AlreadyHeld = d.held
		done.warn(u, d.differs || d.imported == 0, replace)
	}
	if replace {
		*done.ReplacedDays = d.replaced
	}
	return saveChanged(tx, h, skus, done)
}

// warn reports that an upload looks like a stored one.
func (done *Ingested) warn(u *upload, differs, replace bool) {
	if differs || len(u.refused) > 0 {
		return
	}
	done.Warning = "Every row equals what was stored: this looks like a repeated upload. "
	if replace {
		done.Warning += "Nothing changed."
	} else {
		done.Warning += "The rows were added all the same; to undo that, send already_held with replace true."
	}
}

func saveChanged(tx *db.Tx, h horizon, skus []salesChange, done *Ingested) error {
	for i := range skus {
		t := &skus[i]
		if !t.changed {
			continue
		}
		now := t.article
		now.sold, now.soldYear = t.sold+t.added, t.soldYear+t.addedYear
		var err error
		if now.firstSold, now.lastSold, err = t.soldNow(&tx.Conn); err != nil {
			return err
		}
		fired, err := save(tx, h, t.article, &now, cause{})
		if err != nil {
			return err
		}
		if fired {
			f := forecast(now.basis(), h)
			done.Crossed = append(done.Crossed, Crossed{SKU: now.Code, Status: f.status, SuggestedQty: f.suggested})
		}
	}
	slices.SortFunc(done.Crossed, func(a, b Crossed) int { return cmp.Compare(a.SKU, b.SKU) })
	return nil
}

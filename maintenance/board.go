package maintenance

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// doneShown is the number of days that a done job stays on the board, including today.
const doneShown = 14

// mostCards is how many cards a column of the board shows.
const mostCards = 60

// Board is the present jobs by state: the most urgent first, done ones by completion.
type Board struct {
	Open       []WorkOrder
	InProgress []WorkOrder
	Done       []WorkOrder // in the last 14 days
	Opened     int64       // all open ones
	Started    int64
	Completed  int64 // done in the last 14 days
	Overdue    int64
	Urgent     int64  // unfinished ones
	PlansDue   int64  // plans that are overdue
	PlansSoon  int64  // plans that are due soon
	PlanDue    string // the only one that is overdue or due soon: "Change the oil, Lathe"
	LowParts   int64
	Down       []AssetDown
	Weeks      []Week // the last twelve, the present one last
}

// AssetDown is a machine that is down.
type AssetDown struct {
	ID   int64
	Name string
}

// Week counts the jobs that were opened and done in seven days, of which From is the first.
type Week struct {
	From         exact.Day
	Opened, Done int64
}

const weeksShown = 12

// Board reads the jobs of these days.
func (s *Service) Board(ctx context.Context) (Board, error) {
	return db.Read(ctx, s.db, readBoard)
}

// Mine lists a person's unfinished jobs, by name in any case: the overdue first, then by due date, then by priority.
func (s *Service) Mine(ctx context.Context, person string) ([]WorkOrder, error) {
	return db.Read(ctx, s.db, func(c *db.Conn) (list []WorkOrder, err error) {
		names, err := assigneeNames(c)
		if err != nil {
			return nil, err
		}
		today := c.Today()
		scan := func(r *db.Row) WorkOrder { return workOrders.Row(r).on(today) }
		for _, name := range names {
			if !strings.EqualFold(name, person) {
				continue
			}
			some, err := db.All(c, scan, "SELECT "+workOrders.Columns()+orderTables+
				" WHERE w.assigned_to = ? AND w.status IN ('open', 'in-progress') LIMIT 500", name)
			if err != nil {
				return nil, err
			}
			list = append(list, some...)
		}
		slices.SortFunc(list, func(a, b WorkOrder) int {
			return cmp.Or(cmp.Compare(dateOrLast(a.DueDate), dateOrLast(b.DueDate)),
				cmp.Compare(slices.Index(priorities, b.Priority), slices.Index(priorities, a.Priority)), cmp.Compare(a.ID, b.ID))
		})
		return list, nil
	})
}

// pressing orders jobs by priority, due day and age, as the index of the unfinished ones does.
const pressing = ` CASE w.priority WHEN 'urgent' THEN 0 WHEN 'high' THEN 1 WHEN 'medium' THEN 2 ELSE 3 END,
	coalesce(w.due_date, 4000000), w.id LIMIT ?`

// mostUrgent reads at most mostCards of the jobs in an unfinished status: overdue ones first.
func mostUrgent(c *db.Conn, status string) ([]WorkOrder, error) {
	today, list := c.Today(), []WorkOrder{}
	for _, part := range []string{"work_orders_due WHERE w.due_date < ?",
		"work_orders_urgency WHERE coalesce(w.due_date, 4000000) >= ?"} {
		some, err := db.All(c, func(r *db.Row) WorkOrder { return workOrders.Row(r).on(today) },
			"SELECT "+workOrders.Columns()+orderTables+" WHERE w.id IN (SELECT w.id FROM work_orders w INDEXED BY "+part+
				" AND w.status = '"+status+"' AND w.status IN ('open', 'in-progress') ORDER BY"+pressing+") ORDER BY"+pressing,
			today, mostCards-len(list), mostCards)
		if err != nil {
			return nil, err
		}
		if list = append(list, some...); len(list) == mostCards {
			break
		}
	}
	return list, nil
}

func readBoard(c *db.Conn) (b Board, err error) {
	today := c.Today()
	scan := func(r *db.Row) WorkOrder { return workOrders.Row(r).on(today) }
	column := func(status string) ([]WorkOrder, int64, error) {
		list, err := mostUrgent(c, status)
		if err != nil {
			return nil, 0, err
		}
		n, _, err := db.One(c, db.Int, "SELECT coalesce(sum(n), 0) FROM work_order_counts WHERE status = ?", status)
		return list, n, err
	}
	if b.Open, b.Opened, err = column("open"); err != nil {
		return b, err
	}
	if b.InProgress, b.Started, err = column("in-progress"); err != nil {
		return b, err
	}
	since := exact.InstantOf((today - (doneShown - 1)).Time(c.Zone()))
	if b.Done, err = db.All(c, scan, "SELECT "+workOrders.Columns()+orderTables+
		" WHERE w.completed_at >= ? ORDER BY w.completed_at DESC LIMIT ?", since, mostCards); err != nil {
		return b, err
	}
	for _, count := range []struct {
		n     *int64
		query string
		arg   any
	}{
		{&b.Completed, "SELECT count(*) FROM work_orders WHERE completed_at >= ?", since},
		{&b.Overdue, `SELECT count(*) FROM work_orders INDEXED BY work_orders_due
			WHERE due_date < ? AND status IN ('open', 'in-progress')`, today},
		{&b.LowParts, "SELECT count(*) FROM parts WHERE min_quantity > ? AND quantity <= min_quantity", 0},
		{&b.Urgent, unfinished + " AND priority = ?", "urgent"},
	} {
		if *count.n, _, err = db.One(c, db.Int, count.query, count.arg); err != nil {
			return b, err
		}
	}
	if b.Down, err = db.All(c, func(r *db.Row) AssetDown { return AssetDown{ID: r.Int(), Name: r.Text()} },
		"SELECT id, name FROM assets WHERE status = 'down' ORDER BY id"); err != nil {
		return b, err
	}
	if b.Weeks, err = weeks(c); err != nil {
		return b, err
	}
	return b, b.countDue(c)
}

// weeks counts the jobs opened and done in each of the twelve weeks that end today.
func weeks(c *db.Conn) ([]Week, error) {
	first := c.Today() - 7*weeksShown + 1
	list := make([]Week, weeksShown)
	for i := range list {
		list[i].From = first + exact.Day(7*i)
	}
	since := exact.InstantOf(first.Time(c.Zone()))
	count := func(query string, add func(*Week)) error {
		return db.Each(c, func(r *db.Row) error {
			if n := int(r.Instant().Day(c.Zone())-first) / 7; n < weeksShown { // later entries are of a wrong clock
				add(&list[n])
			}
			return nil
		}, query, since)
	}
	if err := count("SELECT created_at FROM work_orders WHERE created_at >= ?", func(w *Week) { w.Opened++ }); err != nil {
		return nil, err
	}
	return list, count("SELECT completed_at FROM work_orders WHERE completed_at >= ? AND status = 'done'",
		func(w *Week) { w.Done++ })
}

// countDue counts the plans that are overdue or due soon, and names the only one.
func (b *Board) countDue(c *db.Conn) error {
	return db.Each(c, func(r *db.Row) error {
		p := scanDuePlan(r)
		switch p.dueOn(c.Today(), p.counter.Reading, use{}).Status {
		case dueOverdue:
			b.PlansDue++
		case dueSoon:
			b.PlansSoon++
		default:
			return nil
		}
		if b.PlanDue = ""; b.PlansDue+b.PlansSoon == 1 {
			b.PlanDue = p.Title + ", " + p.asset
		}
		return nil
	}, "SELECT "+dueColumns+planTables+unpaused)
}

// CountOpen counts the work orders that nobody has begun.
func (s *Service) CountOpen(ctx context.Context) (int64, error) {
	return db.Read(ctx, s.db, func(c *db.Conn) (n int64, err error) {
		n, _, err = db.One(c, db.Int, "SELECT coalesce(sum(n), 0) FROM work_order_counts WHERE status = 'open'")
		return n, err
	})
}

// OrderMoves lists the next states of a work order.
func OrderMoves(status string) []string { return workOrderMoves.From(status) }

// HistoryEntry is an entry of a record's history.
type HistoryEntry struct {
	At      exact.Instant
	Actor   string
	Via     string
	Action  string
	Changes string // JSON
}

// History lists what was done to a record, newest first, at most 100.
func (s *Service) History(ctx context.Context, noun string, id int64) ([]HistoryEntry, error) {
	return db.Read(ctx, s.db, func(c *db.Conn) ([]HistoryEntry, error) {
		return db.All(c, func(r *db.Row) HistoryEntry {
			return HistoryEntry{At: r.Instant(), Actor: r.Text(), Via: r.Text(), Action: r.Text(), Changes: r.Text()}
		}, "SELECT at, actor, via, action, changes FROM audit WHERE subject = ? AND service = 'maintenance' ORDER BY id "+
			"DESC LIMIT 100", db.Subject(noun, id))
	})
}

// MeterReading is one reading of a meter.
type MeterReading struct {
	Day        exact.Day
	Value      exact.Milli
	Correction bool
}

// MonthCost is the cost of a month's jobs.
type MonthCost struct {
	Month exact.Month
	Cents int64
	Jobs  int64
}

// AssetOverview is an asset with all that its page shows.
type AssetOverview struct {
	Asset
	Readings map[int64][]MeterReading // of each meter the latest, oldest first
	Months   []MonthCost              // the last 12, including this one, by completion
	Plans    []Plan
	Jobs     []WorkOrder // open and in progress
	Done     []WorkOrder // the last five
	Requests Requests
	Total    int64          // work orders in all
	Down     *exact.Instant // since when, if it is down
}

// AssetOverview reads an asset with all that its page shows; 404 if there is none.
func (s *Service) AssetOverview(ctx context.Context, id int64) (AssetOverview, error) {
	return db.Read(ctx, s.db, func(c *db.Conn) (AssetOverview, error) { return readOverview(c, id) })
}

func readOverview(c *db.Conn, id int64) (v AssetOverview, err error) {
	if v.Asset, err = assetByID(c, id); err != nil {
		return v, err
	}
	v.Readings = map[int64][]MeterReading{}
	for _, m := range v.Meters {
		if v.Readings[m.ID], err = latestReadings(c, m); err != nil {
			return v, err
		}
	}
	if v.Months, err = monthCosts(c, id); err != nil {
		return v, err
	}
	if v.Plans, err = plansWhere(c, " WHERE p.asset_id = ? ORDER BY p.title", id); err != nil {
		return v, err
	}
	slices.SortStableFunc(v.Plans, func(a, b Plan) int { return compareDue(&a.PMDueRow, &b.PMDueRow) })
	today := c.Today()
	scan := func(r *db.Row) WorkOrder { return workOrders.Row(r).on(today) }
	if v.Jobs, err = db.All(c, scan, "SELECT "+workOrders.Columns()+orderTables+
		" WHERE w.asset_id = ? AND w.status IN ('open', 'in-progress') ORDER BY coalesce(w.due_date < ?, 0) DESC,"+pressing,
		id, today, mostCards); err != nil {
		return v, err
	}
	if v.Done, err = db.All(c, scan, "SELECT "+workOrders.Columns()+orderTables+
		" WHERE w.asset_id = ? AND w.status = 'done' ORDER BY w.completed_at DESC LIMIT 60", id); err != nil {
		return v, err
	}
	if v.Total, _, err = db.One(c, db.Int, "SELECT count(*) FROM work_orders WHERE asset_id = ?", id); err != nil {
		return v, err
	}
	if v.Down, err = downSince(c, v); err != nil {
		return v, err
	}
	v.Requests, err = requestsOf(c, id)
	return v, err
}

// downSince is since when an asset is down, nil if it is not. One that was down when it was entered has been so since
// its oldest waiting repair, if that is earlier.
func downSince(c *db.Conn, v AssetOverview) (*exact.Instant, error) {
	if v.Status != "down" {
		return nil, nil
	}
	type change struct {
		at     exact.Instant
		action string
	}
	last, known, err := db.One(c, func(r *db.Row) change { return change{r.Instant(), r.Text()} },
		`SELECT at, action FROM audit WHERE subject = ? AND service = 'maintenance' AND CASE action
			WHEN 'asset.status' THEN changes ->> '$[1]' WHEN 'asset.changed' THEN changes ->> '$.status[1]'
			WHEN 'asset.created' THEN changes ->> '$.status' END = 'down' ORDER BY id DESC LIMIT 1`, db.Subject("asset", v.ID))
	if err != nil || !known {
		return nil, err
	}
	for _, wo := range v.Jobs {
		if last.action == "asset.created" && wo.Type == "corrective" && wo.CreatedAt < last.at {
			last.at = wo.CreatedAt
		}
	}
	return &last.at, nil
}

// latestReadings are a meter's last 60 readings, oldest first: those since its last correction, and before them those
// of the meter that it replaced.
func latestReadings(c *db.Conn, m Meter) ([]MeterReading, error) {
	list, err := db.All(c, func(r *db.Row) MeterReading {
		return MeterReading{Day: r.Day(), Value: r.Milli(), Correction: r.Bool()}
	}, "SELECT day, value, correction FROM readings WHERE meter_id = ? ORDER BY epoch DESC, day DESC, seq DESC LIMIT 60",
		m.ID)
	slices.Reverse(list)
	return list, err
}

// monthCosts adds up an asset's costs by month of completion: the last 12 months, including those without a job.
func monthCosts(c *db.Conn, assetID int64) ([]MonthCost, error) {
	this := c.Today().Month()
	months := make([]MonthCost, 12)
	for i := range months {
		months[i].Month = this - exact.Month(11-i)
	}
	err := db.Each(c, func(r *db.Row) error {
		cost := costOf(r.Int(), r.Int(), r.Int(), r.Int()).TotalCents
		if at := int(r.Instant().Day(c.Zone()).Month() - months[0].Month); at >= 0 && at < len(months) {
			months[at].Cents += cost
			months[at].Jobs++
		}
		return nil
	}, `SELECT labor_minutes, coalesce(labor_rate_cents, 0), typed_cents, used_cents, completed_at FROM work_orders
		WHERE asset_id = ? AND completed_at >= ? AND status = 'done'`, assetID,
		exact.InstantOf(months[0].Month.First().Time(c.Zone())))
	return months, err
}

// PartUsedOn is one work order that a part was used on.
type PartUsedOn struct {
	WorkOrderID int64
	Asset       string
	Description string
	Status      string
	Qty         exact.Milli
	CostCents   int64
	UsedAt      exact.Instant
}

// PartUses lists where a part was used, latest first, at most 50.
func (s *Service) PartUses(ctx context.Context, id int64) ([]PartUsedOn, error) {
	return db.Read(ctx, s.db, func(c *db.Conn) ([]PartUsedOn, error) {
		return db.All(c, func(r *db.Row) PartUsedOn {
			return PartUsedOn{WorkOrderID: r.Int(), Asset: r.Text(), Description: r.Text(), Status: r.Text(), Qty: r.Milli(),
				CostCents: r.Int(), UsedAt: r.Instant()}
		}, `SELECT w.id, a.name, w.description, w.status, u.qty, u.cost_cents, u.used_at FROM part_uses u CROSS
			JOIN work_orders w ON w.id = u.work_order_id
			CROSS JOIN assets a ON a.id = w.asset_id WHERE u.part_id = ? ORDER BY u.id DESC LIMIT 50`, id)
	})
}

package maintenance

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"quartermaster/schema"
	"quartermaster/schema/assert"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// TestDueListHasEveryPlan changes everything that the due list depends on, at random. It compares the list, its
// parts by state and the board's count with the plans read one by one.
func TestDueListHasEveryPlan(t *testing.T) {
	s := open(t)
	r := rand.New(rand.NewPCG(7, 7))
	for i := range 6 {
		s.rows("assets", "asset_tag", fmt.Sprintf("A-%d", i))
		s.rows("meters", "asset_tag,name,reading,read_date", fmt.Sprintf("A-%d|h|100|2026-09-01", i))
		for j := range 4 {
			s.rows("pm-plans", "asset_tag,title,interval_days,interval_usage,start_date", fmt.Sprintf("A-%d|P-%d|%d|%d|2026-11-0%d", i, j, 10+7*j, 100*(j+1), 1+j))
		}
	}
	compare := func(after string) {
		t.Helper()
		list := assert.Value(s.PMDue(ctx, ""))(s.T)
		rows, sorted := map[int64]string{}, slices.Clone(list.PMDue)
		slices.SortStableFunc(sorted, func(a, b PMDueRow) int { return cmp.Compare(a.PMID, b.PMID) })
		byStatus := map[string]int{}
		for _, row := range sorted {
			rows[row.PMID] = asJSON(t, row)
			byStatus[row.DueStatus]++
		}
		for id := int64(1); id <= 24; id++ {
			plan, err := s.Plan(ctx, id)
			if _, refused := fault.As(err); err != nil && !refused {
				t.Fatal(err)
			}
			want := ""
			if err == nil && !plan.Paused && s.Number("SELECT count(*) FROM assets WHERE id = ? AND status <> 'retired'", plan.AssetID) > 0 {
				want = asJSON(t, plan.PMDueRow)
			}
			assert.Must(t, rows[id] == want, "after %s plan %d is\n%s\nin the list, want\n%s", after, id, rows[id], want)
		}
		for _, status := range dueStatuses {
			part := assert.Value(s.PMDue(ctx, status))(s.T)
			assert.Must(t, len(part.PMDue) == byStatus[status],
				"after %s %d plans are %s, want %d", after, len(part.PMDue), status, byStatus[status])
			for _, row := range part.PMDue {
				assert.Must(t, row.DueStatus == status && asJSON(t, row) == rows[row.PMID], "%s holds %+v", status, row)
			}
		}
		board := assert.Value(s.Board(ctx))(s.T)
		assert.Must(t, board.PlansDue == int64(byStatus[dueOverdue]) && board.PlansSoon == int64(byStatus[dueSoon]),
			"after %s the board counts %d overdue plans, want %d", after, board.PlansDue, byStatus[dueOverdue])
	}
	compare("nothing")
	for i := range 150 {
		asset, plan := 1+r.Int64N(6), 1+r.Int64N(24)
		day := exact.Day(20777 - r.Int32N(60))
		var what string
		var err error
		switch r.IntN(7) {
		case 0:
			what = "a reading"
			_, err = do(s, cli, recordReading, NewReading{AssetID: asset, Reading: exact.Milli(100_000 + 2000*int64(i)), ReadDate: &day})
		case 1:
			what = "a correction"
			_, err = do(s, cli, recordReading, NewReading{AssetID: asset, Reading: exact.Milli(r.Int64N(500_000)), Correction: true})
		case 2:
			what = "a service"
			_, err = do3(s, cli, markDone, plan, &day, nil)
		case 3:
			what = "a pause"
			_, err = do2(s, cli, setPaused, plan, r.IntN(2) == 0)
		case 4:
			what = "a retirement"
			_, err = do2(s, cli, setAssetStatus, asset, []string{"retired", "operational"}[r.IntN(2)])
		case 5:
			what = "a day"
			s.At(s.Now().Add(24 * time.Hour))
		case 6:
			what = "a removal"
			if plan > 18 {
				_, err = do(s, cli, removePlan, plan)
			}
		}
		if _, refused := fault.As(err); err != nil && !refused {
			t.Fatal(err)
		}
		compare(what)
	}
}

func TestFigures(t *testing.T) {
	for _, c := range []struct {
		days, downtime, failures int64
		want                     string
	}{
		{365, 0, 1, "365"}, {365, 1440, 2, "182"}, {30, 720, 1, "29.5"}, {30, 720, 4, "7.4"}, {1, 2000, 1, "0"}, {10, 0, 0, "none"},
	} {
		got := "none"
		if d := betweenFailures(c.days, c.downtime, c.failures); d != nil {
			got = d.String()
		}
		assert.That(t, got == c.want, "between failures of %+v: %s", c, got)
	}
	for _, c := range []struct {
		seconds, repairs int64
		want             string
	}{{3600, 1, "1"}, {5400, 1, "1.5"}, {5400, 2, "0.8"}, {60, 1, "0"}, {180, 1, "0.1"}} {
		assert.Equal(t, toRepair(c.seconds, c.repairs).String(), c.want, "to repair of %+v", c)
	}

	s := open(t)
	s.lathe("100", "2026-11-01")
	_, err := do(s, cli, setLaborRate, 6000)
	s.Must(err)
	h := s.header("work-orders")
	s.rows("work-orders", h,
		"|L-1|a|medium|corrective|done||60|10|1440|x|2026-11-01T00:00:00Z|2026-11-02T12:00:00Z",
		"|L-1|b|medium|corrective|done||30|0|0|x|2026-11-05T06:00:00Z|2026-11-05T12:00:00Z",
		"|L-1|c|medium|preventive|done||0|5|60|x|2026-11-06|2026-11-06T01:00:00Z",
		"|L-1|before|medium|corrective|done||60|0|0|x|2026-10-01|2026-10-31T23:59:59Z",
		"|L-1|open|medium|corrective|open")
	s.rows("pm-plans", "asset_tag,title,interval_days,last_done_date", "L-1|late|10|2026-11-01", "L-1|in time|30|2026-11-01")
	for i, plan := range []int64{1, 2} {
		id := s.opens(WorkOrder{PMID: new(plan), Type: "preventive"}).ID
		_ = i
		for _, to := range []string{"in-progress", "done"} {
			_, err := do(s, cli, moveWorkOrder, Move{ID: id, Status: to, Resolution: "x"})
			s.Must(err)
		}
	}
	from, to := exact.Day(20758), exact.Day(20787) // 1 to 30 November 2026
	f := assert.Value(s.Figures(ctx, FiguresFor{From: &from, To: &to}))(s.T)
	const want = `{"from":"2026-11-01","to":"2026-11-30","assets":[{"asset_id":1,"asset":"Lathe","jobs":5,"downtime_minutes":1500,"labor_cost_cents":9000,` +
		`"parts_cost_cents":1500,"total_cost_cents":10500,"mtbf_days":14.5,"mttr_hours":21,"plans_done":2,"plans_late":1}],` +
		`"jobs":5,"downtime_minutes":1500,"labor_cost_cents":9000,"parts_cost_cents":1500,"total_cost_cents":10500,"plans_done":2,"plans_late":1}`
	assert.Equal(t, asJSON(t, f), want)
	_, err = do(s, cli, removePlan, 1)
	s.Must(err)
	again := assert.Value(s.Figures(ctx, FiguresFor{From: &from, To: &to, AssetID: 1}))(s.T)
	assert.That(t, again.PlansDone == 2 && again.PlansLate == 1, "without its plan the job counts as %+v", again)
	_, err = s.Figures(ctx, FiguresFor{From: &to, To: &from})
	s.Refused(err, fault.Invalid, "is after")
}

func TestRequests(t *testing.T) {
	s := open(t)
	s.lathe("100", "2026-11-01")
	ask := func(token, address string) error {
		who := db.Caller{Service: "maintenance", User: "request", Role: "member", Scope: "full", Via: "request"}
		_, err := do(s, who, requestWork,
			NewRequest{Token: token, Description: "It squeaks\nloudly", Name: " Maria ", Address: address})
		return err
	}
	_, err := s.SetRequests(ctx, ana, 1, true)
	s.Refused(err, fault.Forbidden, "admin")
	on := assert.Value(s.SetRequests(ctx, cli, 1, true))(s.T)
	token := strings.TrimPrefix(*on.Path, "/request/")
	s.Refused(ask("", "1.2.3.4"), fault.NotFound, "was not found")
	for range 5 {
		s.Must(ask(token, "1.2.3.4"))
	}
	s.Refused(ask(token, "1.2.3.4"), fault.Limited, "5 requests")
	s.Must(ask(token, "2001:db8:1:2::1"))
	for range 4 {
		s.Must(ask(token, "2001:db8:1:2::99"))
	}
	s.Refused(ask(token, "2001:db8:1:2:ffff::"), fault.Limited, "")
	s.At(s.Now().Add(time.Hour + time.Second))
	s.Must(ask(token, "1.2.3.4"))
	wo := assert.Value(s.WorkOrder(ctx, 1))(s.T)
	assert.That(t, wo.Description == "Maria: It squeaks\nloudly" && wo.CreatedBy == "request" && *wo.Source == "request" &&
		wo.Priority == "medium", "a request became %+v", wo)
	_, err = s.SetRequests(ctx, cli, 1, false)
	s.Must(err)
	s.Refused(ask(token, "9.9.9.9"), fault.NotFound, "")
	again := assert.Value(s.SetRequests(ctx, cli, 1, true))(s.T)
	assert.That(t, *again.Path == *on.Path, "the label that hangs on the machine leads nowhere")
}

func TestReturnedPartsKeepTheirCost(t *testing.T) {
	s := open(t)
	s.lathe("100", "2026-11-01")
	s.rows("parts", "part_number,quantity,unit_cost_cents", "P|10|100")
	id := s.opens(WorkOrder{}).ID
	use := func(qty exact.Milli) { _, err := do3(s, cli, usePart, id, "P", qty); s.Must(err) }
	use(2_000)
	s.rows("parts", "part_number,unit_cost_cents", "P|300")
	use(1_500)
	used, err := do3(s, cli, returnPart, id, "P", 2_500)
	s.Must(err)
	// 1.5 at 3.00, then 1 of the 2 at 1.00: 5.50 are returned, 1.00 stays.
	assert.That(t, used.Use.CostCents == 550 && used.WorkOrder.PartsCostCents == 100 && used.Part.Quantity == 9_000,
		"given back: %+v", used)
	_, err = do3(s, cli, returnPart, id, "P", 1_001)
	s.Refused(err, fault.Invalid, "more than the 1 used")
	_, err = do3(s, cli, returnPart, id, "P", 1_000)
	s.Must(err)
	_, err = do3(s, cli, returnPart, id, "P", 1_000)
	s.Refused(err, fault.Invalid, "no P is used")
	_, err = do(s, cli, removePart, 1)
	s.Must(err)
}

// TestChecklistsInCells: a check list in a cell comes back as it was; [ ] is written only where the text needs it.
func TestChecklistsInCells(t *testing.T) {
	s := open(t)
	for cell, want := range map[string]string{"[x] a\nb": "[x] a\nb", " \n[ ] [x] a\n": "[ ] [x] a", "": ""} {
		steps := assert.Value(stepsOf(cell))(s.T)
		got := stepsCell(steps)
		assert.That(t, got == want && stepsCell(readSteps(cell2(keptSteps(steps)))) == want, "%q is kept as %q", cell, got)
	}
	_, err := checkSteps("checklist", make([]string, 101))
	s.Refused(err, fault.Invalid, "at most 100")
}

func cell2(s *string) string { return schema.Cell(s) }

// TestWeeksOfTheBoard counts the orders opened and done in each of twelve weeks.
func TestWeeksOfTheBoard(t *testing.T) {
	s := open(t)
	s.rows("assets", "asset_tag,name", "A|Lathe")
	order := func() int64 {
		wo := assert.Value(do(s, ana, openWorkOrder, WorkOrder{AssetID: 1, Description: "it squeaks"}))(s.T)
		return wo.ID
	}
	first := order()
	order()
	_, err := do(s, ana, moveWorkOrder, Move{ID: first, Status: "in-progress"})
	s.Must(err)
	s.At(s.Now().Add(8 * 24 * time.Hour))
	_, err = do(s, ana, moveWorkOrder, Move{ID: first, Status: "done", Resolution: "oiled"})
	s.Must(err)
	order()
	board := assert.Value(s.Board(ctx))(s.T)
	if got := fmt.Sprint(board.Weeks[10:]); len(board.Weeks) != 12 || got != fmt.Sprint([]Week{{board.Weeks[10].From, 2, 0}, {board.Weeks[11].From, 1, 1}}) {
		t.Errorf("the last weeks: %s", got)
	}
}

package page

import (
	"context"
	"fmt"

	"quartermaster/maintenance"
	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/page"
)

// ordersView is the list of work orders.
type ordersView struct {
	maintenance.WorkOrders
	Next   string
	Filter maintenance.Filter
}

func orders(s *maintenance.Service) page.Page {
	return page.New(page.Spec[ordersView]{
		Path: "/work-orders", Title: "Work orders", Menu: "Work orders", Key: "w", Marks: true,
		Load: func(f *schema.Form) page.Loader[ordersView] {
			var p page.Paging
			p.Bind(f, maintenance.OrderSorts()...)
			w := maintenance.Filter{}
			maintenance.BindFilter(f, &w)
			w.Q, w.Limit = p.Q, p.Limit
			w.Sort, w.Falling = p.Column()
			if w.Sort != "" {
				w.Skip = p.Start()
			} else {
				w.After = p.Start()
			}
			return func(ctx context.Context, _ db.Caller) (ordersView, error) {
				list, err := s.WorkOrders(ctx, w)
				v := ordersView{WorkOrders: list, Filter: w, Next: schema.Cell(list.Next)}
				if v.Next != "" && w.Sort != "" {
					v.Next = page.Num(w.Skip + int64(len(list.WorkOrders)))
				}
				return v, err
			}
		},
		View: Orders,
		CSV: func(v ordersView) page.Sheet {
			return page.SheetOf("work-orders", maintenance.OrderColumns(), v.WorkOrders.WorkOrders, maintenance.WorkOrder.Cells)
		},
	})
}

func (v ordersView) title() string {
	noun := "work order"
	many := "work orders"
	switch v.Filter.Status {
	case "open", "done", "cancelled":
		noun, many = v.Filter.Status+" "+noun, v.Filter.Status+" "+many
	case "in-progress":
		many += " in progress"
		noun += " in progress"
	}
	if v.Total == 0 {
		return "No " + many
	}
	return page.Plural(v.Total, noun, many)
}

// orderView is one work order with its trail.
type orderView struct {
	maintenance.Detail
	History  []maintenance.HistoryEntry
	Plan     *maintenance.Plan
	Tag      string
	Location *string        // the asset's
	Down     *exact.Instant // since when the asset is down, while the job is open
}

func (v orderView) PageTitle() string { return fmt.Sprintf("Work order %d", v.ID) }

// whose says in a title where the job stands.
func (v orderView) whose() string {
	who := schema.Cell(v.AssignedTo)
	switch {
	case v.closed():
		return ", " + v.Status
	case who == "":
		return ", nobody has it yet"
	case v.Status == "in-progress":
		return ", " + who + " is on it"
	}
	return ", " + who + " has it"
}

// asks heads what the job is about; of photos alone, whose job its title tells, them.
func (v orderView) asks(more string) string {
	if more == "" && len(v.Checklist) == 0 && (v.Plan == nil || v.closed()) {
		return "Photos"
	}
	if v.Type == "corrective" {
		return "What is wrong"
	}
	return "What is to be done"
}

// closed reports whether the job's cost is final.
func (v orderView) closed() bool { return v.Status == "done" || v.Status == "cancelled" }

// costName is what the sum is called, which still grows while the job is open.
func (v orderView) costName() string {
	if v.closed() {
		return "Cost"
	}
	return "Cost so far"
}

// openSteps counts the steps of the check list that are not done.
func (v orderView) openSteps() (n int) {
	for _, s := range v.Checklist {
		if !s.Done {
			n++
		}
	}
	return n
}

// acts are the job's possible moves and other actions.
func (v orderView) acts() []page.Action {
	acts := moves(v.WorkOrder, true)
	if v.Status != "cancelled" {
		acts = append(acts, page.Open("Edit", "edit_workorder", "id", page.Num(v.ID)).Key("e"))
	}
	return append(acts, page.Link("Job sheet", orderPath(v.ID)+"/sheet"))
}

// taken are the fields of the row of minutes and parts; while the machine is down its downtime still counts.
func (v orderView) taken() []string {
	if v.Down != nil {
		return []string{"labor_minutes", "parts_cost"}
	}
	return []string{"labor_minutes", "downtime_minutes", "parts_cost"}
}

// cost are the contents of the row of minutes and parts.
func (v orderView) cost(ctx context.Context) map[string]string {
	return map[string]string{"labor_minutes": page.Num(v.LaborMinutes),
		"parts_cost": page.AmountField(ctx, v.Cost.PartsTypedCents), "downtime_minutes": page.Num(v.DowntimeMinutes)}
}

// giveBack returns a used part to stock; of more than one a form asks how much.
func giveBack(order int64, p maintenance.PartUse) page.Action {
	fields := []string{"id", page.Num(order), "part_number", p.PartNumber, "qty", p.Qty.String()}
	if p.Qty > exact.Milli(1000) {
		return page.Open("Give back", "return_part", fields...)
	}
	return page.Do("Give back", "return_part", fields...)
}

// finishFields are the fields of the form that finishes the job.
func (v orderView) finishFields() []string {
	fields := []string{"resolution", "labor_minutes", "parts_cost", "downtime_minutes"}
	if v.openSteps() > 0 {
		fields = append(fields, "skip_steps")
	}
	return fields
}

// loadOrder reads a work order's page.
func loadOrder(s *maintenance.Service) func(f *schema.Form) page.Loader[orderView] {
	return func(f *schema.Form) page.Loader[orderView] {
		var id int64
		f.ID(&id, "id", "the work order", schema.InPath("id"))
		return func(ctx context.Context, _ db.Caller) (v orderView, err error) {
			if v.Detail, err = s.WorkOrderDetail(ctx, id); err != nil {
				return v, err
			}
			a, err := s.Asset(ctx, v.AssetID)
			if err != nil {
				return v, err
			}
			v.Tag, v.Location = a.AssetTag, a.Location
			if a.Status == "down" && !v.closed() {
				o, err := s.AssetOverview(ctx, v.AssetID)
				if err != nil {
					return v, err
				}
				v.Down = o.Down
			}
			if v.PMID != nil {
				p, err := s.Plan(ctx, *v.PMID)
				if err != nil {
					return v, err
				}
				v.Plan = &p
			}
			v.History, err = s.History(ctx, "work_order", id)
			return v, err
		}
	}
}

func order(s *maintenance.Service) page.Page {
	return page.New(page.Spec[orderView]{
		Path: "/work-orders/:id", Title: "Work order", Load: loadOrder(s),
		View: Order,
	})
}

func finish(s *maintenance.Service) page.Page {
	return page.New(page.Spec[orderView]{
		Path: "/work-orders/:id/done", Title: "Mark as done", Role: page.Member, Load: loadOrder(s),
		View: Finish,
	})
}

func jobSheet(s *maintenance.Service) page.Page {
	return page.New(page.Spec[orderView]{
		Path: "/work-orders/:id/sheet", Title: "Job sheet", Plain: true, Load: loadOrder(s),
		View: JobSheet,
	})
}

func photoPath(id int64) string { return page.Path("photos", page.Num(id)) }

// caption is a photo's caption.
func caption(p maintenance.Photo) string {
	if p.Caption != nil {
		return *p.Caption
	}
	return p.Filename
}

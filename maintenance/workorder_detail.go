package maintenance

import (
	"context"
	"fmt"
	"io"
	"strconv"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
)

// Detail is a work order with everything that belongs to it.
type Detail struct {
	WorkOrder
	Parts  []PartUse `json:"parts"`
	Photos []Photo   `json:"photos"`
	Cost   Cost      `json:"cost"`
}

// WorkOrderDetail returns one work order with its parts, photos and cost; 404 if there
// is none.
func (s *Service) WorkOrderDetail(ctx context.Context, id int64) (Detail, error) {
	return db.Read(ctx, s.db, func(c *db.Conn) (Detail, error) { return readDetail(c, id) })
}

func readDetail(c *db.Conn, id int64) (d Detail, err error) {
	if d.WorkOrder, err = findWorkOrder(c, id); err != nil {
		return d, err
	}
	d.Cost = d.cost
	if d.Parts, err = partsOf(c, id); err != nil {
		return d, err
	}
	d.Photos, err = photosOf(c, id)
	return d, err
}

func (s *Service) workOrderDetail() schema.Op {
	return schema.Op{
		Name:  "workorder_detail",
		Says:  "One job in full",
		About: "One work order with the parts used, its photos, its check list and its cost.",
		Response: Detail{WorkOrder: sampleDone,
			Parts: []PartUse{{PartID: 1, PartNumber: "6204-2RS", Name: "Ball bearing", Qty: 2000, UnitCostCents: 425,
				CostCents: 850}},
			Photos: []Photo{{ID: 1, Filename: "spindle.jpg", Caption: db.NullText("before")}},
			Cost:   Cost{LaborCents: 6750, PartsTypedCents: 400, PartsUsedCents: 850, TotalCents: 8000}},
		Bind: schema.Reads(func(f *schema.Form, id *int64) {
			bindJob(f, id, schema.Required, orderPositional)
		}, s.WorkOrderDetail),
		Refuses: []fault.Kind{fault.NotFound},
		Example: "maintenance work-orders show 12",
		Print:   schema.Printed(printDetail),
	}
}

func printDetail(w io.Writer, d Detail) {
	due := schema.Cell(d.DueDate)
	if d.Overdue {
		due += " (overdue)"
	}
	schema.Facts(w, "work order", strconv.FormatInt(d.ID, 10), "asset", d.Asset, "status", d.Status, "priority",
		d.Priority, "kind", d.Type, "assigned to", schema.Cell(d.AssignedTo),
		"due", due, "labor", fmt.Sprintf("%d minutes, %s", d.LaborMinutes, units(d.Cost.LaborCents)), "parts",
		units(d.PartsCostCents), "in all", units(d.TotalCostCents),
		"downtime", fmt.Sprintf("%d minutes", d.DowntimeMinutes), "opened", d.CreatedAt.String()+" by "+d.CreatedBy,
		"started", schema.Cell(d.StartedAt),
		"completed", schema.Cell(d.CompletedAt), "resolution", schema.Cell(d.Resolution))
	fmt.Fprintf(w, "\n%s\n", d.Description)
	for _, s := range d.Checklist {
		mark := " "
		if s.Done {
			mark = "x"
		}
		fmt.Fprintf(w, "  [%s] %d. %s\n", mark, s.Step, s.Text)
	}
	for _, p := range d.Parts {
		fmt.Fprintf(w, "  %v of %s (%s): %s\n", p.Qty, p.PartNumber, p.Name, units(p.CostCents))
	}
	for _, p := range d.Photos {
		fmt.Fprintf(w, "  photo %d: %s %s\n", p.ID, p.Filename, schema.Cell(p.Caption))
	}
}

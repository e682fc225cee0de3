package maintenance

import (
	"context"

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

// WorkOrderDetail gives one work order with its parts, photos and cost; 404 if there
// is none.
func (s *Service) WorkOrderDetail(ctx context.Context, id int64) (d Detail, err error) {
	err = s.db.View(ctx, func(c *db.Conn) error {
		if d.WorkOrder, err = findWorkOrder(c, id); err != nil {
			return err
		}
		d.Cost = d.cost
		if d.Parts, err = partsOf(c, id); err != nil {
			return err
		}
		d.Photos, err = photosOf(c, id)
		return err
	})
	return d, err
}

func (s *Service) workOrderDetail() schema.Op {
	return schema.Op{
		Tool:  "workorder_detail",
		About: "One work order with the parts used, its photos and its cost.",
		Response: Detail{WorkOrder: sampleDone,
			Parts:  []PartUse{{PartID: 1, PartNumber: "6204-2RS", Name: "Ball bearing", Qty: 2000, UnitCostCents: 425, CostCents: 850}},
			Photos: []Photo{{ID: 1, Filename: "spindle.jpg", Caption: orNil("before")}},
			Cost:   Cost{LaborCents: 6750, PartsTypedCents: 400, PartsUsedCents: 850, TotalCents: 8000}},
		Bind: func(f *schema.Form) schema.Handler {
			var id int64
			f.ID(&id, "id", "the work order", schema.Required)
			return func(ctx context.Context, _ db.Caller) (any, error) { return s.WorkOrderDetail(ctx, id) }
		},
		Refuses: []fault.Kind{fault.NotFound},
	}
}

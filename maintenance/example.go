package maintenance

import (
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// Values of the documents' examples.
var (
	sampleDay   = exact.Day(20777) // 2026-11-20
	sampleTime  = exact.Instant(1_795_208_700)
	sampleMeter = Meter{ID: 1, Name: "hours", Unit: "h", Reading: 1_250_500, ReadDate: &sampleDay,
		AvgPerDay: &exact.Decimal{Unscaled: 62_500, Places: 4}}
	sampleAsset = Asset{ID: 1, AssetTag: "LATHE-1", Name: "Lathe", Category: db.NullText("machine tools"),
		Location:     db.NullText("hall 1"),
		Manufacturer: db.NullText("Colchester"), Model: db.NullText("Student 1800"), Status: "operational",
		Meters: []Meter{sampleMeter}}
	sampleOrder = WorkOrder{ID: 12, AssetID: 1, Asset: "Lathe", Description: "Spindle bearing is loud", Priority: "high",
		Type: "corrective", Status: "open",
		AssignedTo: db.NullText("Ana"), LaborMinutes: 90, PartsCost: exact.Decimal{Unscaled: 1250, Places: 2},
		LaborCostCents: 6750, PartsCostCents: 1250,
		TotalCostCents: 8000, CreatedBy: "alice", CreatedAt: sampleTime, UpdatedAt: sampleTime,
		DueDate: daysOn(sampleDay + 5), Checklist: []Step{{Step: 1, Text: "Lock it out", Done: true}},
		Source: db.NullText("api")}
	sampleDone = done(sampleOrder)
	sampleUsed = Used{WorkOrder: sampleOrder, Part: samplePart,
		Use: PartUse{PartID: 1, PartNumber: "6204-2RS", Name: "Ball bearing", Qty: 2000, UnitCostCents: 425, CostCents: 850}}
	samplePlan = Plan{PMDueRow: sampleDue, AssetTag: "LATHE-1", StartDate: sampleDay - 400,
		Checklist: []string{"Drain the oil", "Fill the oil"}}
	sampleReading = ReadingRecorded{AssetID: 1, Asset: "Lathe", Meter: "hours", MeterID: 1, Unit: "h",
		PreviousReading: 1_244_000,
		Reading:         1_250_500, ReadDate: sampleDay}
	samplePosted = Recorded{AssetID: 1, Meter: sampleMeter, PreviousReading: 1_244_000, Accepted: true, Moved: true}
	samplePart   = Part{ID: 1, PartNumber: "6204-2RS", Name: "Ball bearing", Unit: db.NullText("piece"), Quantity: 3000,
		MinQuantity: 4000, UnitCostCents: 425,
		Supplier: db.NullText("Bearings Ltd"), Location: db.NullText("shelf 3"), LowStock: true}
	sampleDue = sampleRow()
)

func done(wo WorkOrder) WorkOrder {
	wo.Status, wo.Resolution = "done", db.NullText("Bearing replaced")
	wo.StartedAt, wo.CompletedAt = &sampleTime, &sampleTime
	return wo
}

func sampleRow() PMDueRow {
	p := duePlan{asset: "Lathe", unit: db.NullText("h")}
	p.ID, p.AssetID, p.Title, p.MeterID = 3, 1, "Change the oil", 1
	p.meter = "hours"
	every, done, use, baseline := int64(180), sampleDay-100, exact.Milli(250_000), exact.Milli(1_010_500)
	p.IntervalDays, p.LastDone, p.IntervalUsage, p.Baseline = &every, &done, &use, &baseline
	p.counter.Reading = sampleMeter.Reading
	return p.row(sampleDay, sampleUse)
}

var sampleUse = use{Any: true, First: point{Day: sampleDay - 80, Value: 750_500},
	Last: point{Day: sampleDay, Value: 1_250_500}}

func daysOn(d exact.Day) *exact.Day { return &d }

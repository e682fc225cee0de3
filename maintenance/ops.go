package maintenance

import "quartermaster/schema"

// version is the application's and its document's version.
const version = "2.0.0"

// Declare returns all that the service declares.
func (s *Service) Declare() schema.Service {
	return schema.Service{
		Name: "maintenance", Addr: "127.0.0.1:8082", Agents: true,
		Elsewhere: "Assets, parts, plans and photos are changed on the screens and with `quartermaster maintenance`; a " +
			"wrong reading is corrected on the asset's page, by `quartermaster maintenance correct-reading`, or over REST " +
			"(POST /api/assets/{id}/readings with correction true).",
		DemoPath: "/api/pm-due",
		Title:    "Maintenance service",
		About: "Work orders, assets with their meters, preventive maintenance by date and by use, and spare parts. " +
			"The same status rules and roles apply on every surface. Amounts in *_cents are whole cents.",
		Ping: version, Health: version, Document: version,
		Ops:    s.ops(),
		Tables: s.tables(),
		Records: []schema.Record{
			{Noun: "work_order", Page: "/work-orders/"}, {Noun: "asset", Page: "/assets/"}, {Noun: "part", Page: "/parts/"},
			{Noun: "pm_plan", Page: "/plans/"}, {Noun: "meter", Within: "SELECT 'asset:' || asset_id FROM meters WHERE id = ?"},
		},
		Events: []schema.Event{
			{Name: "workorder.created", About: "A work order was opened.", Data: sampleOrder},
			{Name: "workorder.completed", About: "A work order was done.", Data: sampleDone},
			{Name: "reading.recorded", About: "A reading changed its meter: a higher one, or a correction.",
				Data: sampleReading},
		},
		Check: check,
		Demo:  s.demo,
	}
}

// ops is the table of contents: route, tool, command, function.
func (s *Service) ops() []schema.Op {
	return []schema.Op{
		schema.At("GET /api/work-orders", "list_workorders", "maintenance work-orders list", s.listWorkOrders()),
		schema.At("POST /api/work-orders", "create_workorder", "maintenance work-orders create ASSET", s.createWorkOrder()),
		schema.At("GET /api/work-orders/:id", "", "", s.getWorkOrder()),
		schema.At("", "workorder_detail", "maintenance work-orders show WORK_ORDER_ID", s.workOrderDetail()),
		schema.At("PATCH /api/work-orders/:id", "", "maintenance work-orders edit WORK_ORDER_ID", s.editWorkOrder()),
		schema.At("POST /api/work-orders/:id/status", "advance_status",
			"maintenance work-orders advance WORK_ORDER_ID STATUS", s.advanceStatus()),
		schema.At("", "", "maintenance move STATUS ID...", s.moveWorkOrders()),
		schema.At("", "", "maintenance finish ID...", s.finishWorkOrders()),
		schema.At("", "", "maintenance assign ID...", s.editWorkOrders()),
		schema.At("", "update_workorder", "", s.updateWorkOrder()),
		schema.At("", "", "", s.chooseBoard()),
		schema.At("", "", "maintenance tick-step WORK_ORDER_ID STEP", s.tickStep()),
		schema.At("", "", "maintenance use-part WORK_ORDER_ID PART_NUMBER QTY", s.usePart()),
		schema.At("", "", "maintenance return-part WORK_ORDER_ID PART_NUMBER QTY", s.returnPart()),
		schema.At("", "", "maintenance photo add WORK_ORDER_ID FILE", s.addPhoto()),
		schema.At("", "", "maintenance photo remove PHOTO_ID", s.removePhoto()),
		schema.At("GET /api/assets", "list_assets", "maintenance assets list", s.listAssets()),
		schema.At("", "", "maintenance assets show ASSET", s.showAsset()),
		schema.At("", "", "maintenance assets save ASSET_TAG", s.saveAsset()),
		schema.At("", "", "maintenance asset-status ID STATUS", s.setAssetStatus()),
		schema.At("", "", "maintenance assets rename ASSET", s.renameAsset()),
		schema.At("", "", "maintenance assets remove ASSET", s.removeAsset()),
		schema.At("", "", "maintenance requests ASSET", s.setRequests()),
		schema.At("", "", "maintenance labels ASSET...", s.makeLabels()),
		schema.At("", "", "maintenance meters save ASSET_TAG NAME", s.saveMeter()),
		schema.At("POST /api/assets/:id/readings", "record_meter", "maintenance reading ASSET READING", s.postReading()),
		schema.At("", "", "maintenance correct-reading ASSET READING", s.correctReading()),
		schema.At("", "", "maintenance replace-meter ASSET", s.replaceMeter()),
		schema.At("GET /api/pm-due", "pm_due", "maintenance due", s.listDue()),
		schema.At("", "", "maintenance open-due PLAN...", s.openDue()),
		schema.At("", "", "maintenance plans list", s.listPlans()),
		schema.At("", "", "maintenance plans show PLAN", s.showPlan()),
		schema.At("", "", "maintenance plans save ASSET_TAG TITLE", s.savePlan()),
		schema.At("", "", "maintenance pm-done PM_ID", s.completePlan()),
		schema.At("", "", "maintenance pause-plan PLAN", s.pausePlan()),
		schema.At("", "", "maintenance resume-plan PLAN", s.resumePlan()),
		schema.At("", "", "maintenance remove-plan PLAN", s.removePlan()),
		schema.At("GET /api/parts", "list_parts", "maintenance parts list", s.listParts()),
		schema.At("", "", "maintenance parts show PART", s.showPart()),
		schema.At("", "", "maintenance parts save PART_NUMBER", s.savePart()),
		schema.At("", "", "maintenance parts add-stock PART QTY", s.stockPart()),
		schema.At("", "", "maintenance parts remove PART", s.removePart()),
		schema.At("", "", "maintenance labor-rate CENTS_PER_HOUR", s.setLaborRate()),
		schema.At("", "", "maintenance recost", s.recost()),
		schema.At("", "", "maintenance figures", s.maintenanceFigures()),
		schema.At("", "maintenance_report", "", s.maintenanceReport()),
	}
}

// tables lists the CSV tables, in the order in which an empty database imports them.
func (s *Service) tables() []schema.Table {
	return []schema.Table{
		assetTable(),
		s.meterTable(),
		partTable(),
		planTable(),
		workOrderTable(),
		s.readingTable(),
	}
}

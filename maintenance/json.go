package maintenance

import (
	"strconv"

	"quartermaster/schema/exact"
	"quartermaster/schema/strict"
)

// The two lists that are asked for often, and are long, write themselves: the same
// bytes as encoding/json writes, several times faster.

// AppendJSON appends the list as JSON.
func (l WorkOrders) AppendJSON(b []byte) []byte {
	if b == nil {
		b = make([]byte, 0, 64+len(l.WorkOrders)*640)
	}
	b = append(b, `{"work_orders":[`...)
	for i := range l.WorkOrders {
		if i > 0 {
			b = append(b, ',')
		}
		b = l.WorkOrders[i].appendJSON(b)
	}
	return append(b, "]}"...)
}

func (wo *WorkOrder) appendJSON(b []byte) []byte {
	b = appendInt(append(b, `{"id":`...), wo.ID)
	b = appendInt(append(b, `,"asset_id":`...), wo.AssetID)
	b = strict.AppendText(append(b, `,"asset":`...), wo.Asset)
	b = strict.AppendText(append(b, `,"description":`...), wo.Description)
	b = strict.AppendText(append(b, `,"priority":`...), wo.Priority)
	b = strict.AppendText(append(b, `,"wo_type":`...), wo.Type)
	b = strict.AppendText(append(b, `,"status":`...), wo.Status)
	b = appendText(append(b, `,"assigned_to":`...), wo.AssignedTo)
	b = appendInt(append(b, `,"labor_minutes":`...), wo.LaborMinutes)
	b = wo.PartsCost.Append(append(b, `,"parts_cost":`...))
	b = appendInt(append(b, `,"downtime_minutes":`...), wo.DowntimeMinutes)
	b = appendText(append(b, `,"resolution":`...), wo.Resolution)
	b = appendIntPtr(append(b, `,"pm_id":`...), wo.PMID)
	b = appendInt(append(b, `,"labor_cost_cents":`...), wo.LaborCostCents)
	b = appendInt(append(b, `,"parts_cost_cents":`...), wo.PartsCostCents)
	b = appendInt(append(b, `,"total_cost_cents":`...), wo.TotalCostCents)
	b = strict.AppendText(append(b, `,"created_by":`...), wo.CreatedBy)
	b = appendQuoted(append(b, `,"created_at":`...), &wo.CreatedAt)
	b = appendQuoted(append(b, `,"started_at":`...), wo.StartedAt)
	b = appendQuoted(append(b, `,"completed_at":`...), wo.CompletedAt)
	b = appendQuoted(append(b, `,"updated_at":`...), &wo.UpdatedAt)
	return append(b, '}')
}

// AppendJSON appends the list as JSON.
func (l PMDue) AppendJSON(b []byte) []byte {
	if b == nil {
		b = make([]byte, 0, 64+len(l.PMDue)*400)
	}
	b = appendQuoted(append(b, `{"today":`...), &l.Today)
	b = append(b, `,"pm_due":[`...)
	for i := range l.PMDue {
		if i > 0 {
			b = append(b, ',')
		}
		b = l.PMDue[i].appendJSON(b)
	}
	return append(b, "]}"...)
}

func (r *PMDueRow) appendJSON(b []byte) []byte {
	b = appendInt(append(b, `{"pm_id":`...), r.PMID)
	b = appendInt(append(b, `,"asset_id":`...), r.AssetID)
	b = strict.AppendText(append(b, `,"asset":`...), r.Asset)
	b = strict.AppendText(append(b, `,"title":`...), r.Title)
	b = appendIntPtr(append(b, `,"interval_days":`...), r.IntervalDays)
	b = appendMilli(append(b, `,"interval_usage":`...), r.IntervalUsage)
	b = appendText(append(b, `,"meter":`...), r.Meter)
	b = appendText(append(b, `,"unit":`...), r.Unit)
	b = appendQuoted(append(b, `,"last_done_date":`...), r.LastDoneDate)
	b = appendMilli(append(b, `,"baseline_reading":`...), r.BaselineReading)
	b = appendQuoted(append(b, `,"next_due":`...), r.NextDue)
	b = appendIntPtr(append(b, `,"days_until":`...), r.DaysUntil)
	b = strict.AppendText(append(b, `,"due_status":`...), r.DueStatus)
	if r.UsageRemaining != nil {
		b = appendMilli(append(b, `,"usage_remaining":`...), r.UsageRemaining)
	}
	if r.DueSource != "" {
		b = strict.AppendText(append(b, `,"due_source":`...), r.DueSource)
	}
	return append(b, '}')
}

func appendInt(b []byte, n int64) []byte { return strconv.AppendInt(b, n, 10) }

func appendIntPtr(b []byte, n *int64) []byte {
	if n == nil {
		return append(b, "null"...)
	}
	return appendInt(b, *n)
}

func appendMilli(b []byte, m *exact.Milli) []byte {
	if m == nil {
		return append(b, "null"...)
	}
	return m.Append(b)
}

func appendText(b []byte, s *string) []byte {
	if s == nil {
		return append(b, "null"...)
	}
	return strict.AppendText(b, *s)
}

// appendQuoted appends a day or an instant.
func appendQuoted[T interface{ Append([]byte) []byte }](b []byte, v *T) []byte {
	if v == nil {
		return append(b, "null"...)
	}
	return append((*v).Append(append(b, '"')), '"')
}

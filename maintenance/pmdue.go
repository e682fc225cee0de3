package maintenance

import "quartermaster/schema/exact"

// PMDueRow is one plan in the list of what is due.
type PMDueRow struct {
	PMID            int64        `json:"pm_id"`
	AssetID         int64        `json:"asset_id"`
	Asset           string       `json:"asset" about:"the asset's name"`
	Title           string       `json:"title"`
	IntervalDays    *int64       `json:"interval_days"`
	IntervalUsage   *exact.Milli `json:"interval_usage" about:"in the meter's unit"`
	Meter           *string      `json:"meter" about:"the name of the meter that counts the use"`
	Unit            *string      `json:"unit"`
	LastDoneDate    *exact.Day   `json:"last_done_date"`
	BaselineReading *exact.Milli `json:"baseline_reading" about:"what the meter showed when the service was last done"`
	NextDue         *exact.Day   `json:"next_due" about:"the earlier of the date by days and the date projected from the readings; null while neither is known"`
	DaysUntil       *int64       `json:"days_until" about:"next_due - today; negative when it is past"`
	DueStatus       string       `json:"due_status" enum:"overdue,due-soon,ok"`
	UsageRemaining  *exact.Milli `json:"usage_remaining,omitempty" about:"until the due reading, negative when past; only with a usage trigger"`
	DueSource       string       `json:"due_source,omitempty" enum:"days,usage,both" about:"which trigger gives the status; only with a usage trigger"`
}

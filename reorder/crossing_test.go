package reorder

import (
	"context"
	"testing"

	"quartermaster/schema/assert"
)

// fired compares the events so far with the SKUs that should have raised them.
func (s *fixture) fired(skus ...string) {
	s.T.Helper()
	got := s.events()
	assert.Must(s.T, len(got) == len(skus), "%d events %+v, want those of %v", len(got), got, skus)
	for i, sku := range skus {
		assert.That(s.T, got[i] == (Alarm{SKU: sku, Status: Below}), "event %d is of %+v, want %s", i, got[i], sku)
	}
	s.sound()
}

func TestIngestionCrossesOnce(t *testing.T) {
	s := open(t)
	s.sku("sku,name,current_stock", "A,Apple,20") // 7 + 3 days
	s.sku("sku,current_stock", "B,100")
	got := s.upload(`{"rows":[{"date":"2026-10-22","sku":"A","qty":59},{"date":"2026-10-22","sku":"B","qty":60}]}`)
	assert.Must(t, len(got.Crossed) == 0, "19.67 is not 20: %s", asJSON(t, got))
	got = s.upload(`{"rows":[{"date":"2026-11-20","sku":"A","qty":1}]}`)
	assert.That(t, asJSON(t, got.Crossed) == `[{"sku":"A","status":"below","suggested_qty":60}]`,
		"crossed %s", asJSON(t, got.Crossed))
	s.fired("A")
	got = s.upload(`{"rows":[{"date":"2026-11-20","sku":"A","qty":5},{"date":"2026-11-20","sku":"B","qty":300}]}`)
	assert.That(t, asJSON(t, got.Crossed) == `[{"sku":"B","status":"below","suggested_qty":380}]`,
		"crossed again %s", asJSON(t, got.Crossed))
	s.fired("A", "B")
	// Replacing by less lifts A off its reorder point; more returns it there.
	s.upload(`{"replace":true,"rows":[{"date":"2026-11-20","sku":"A","qty":0}]}`)
	s.fired("A", "B")
	s.upload(`{"replace":true,"rows":[{"date":"2026-11-20","sku":"A","qty":2}]}`)
	s.fired("A", "B", "A")
}

// TestAlarmConditions: changes that may raise the alarm, and changes that do not.
func TestAlarmConditions(t *testing.T) {
	s := open(t)
	s.sku("sku,current_stock", "LOW,0") // created below
	s.fired()
	s.sku("sku,current_stock,active", "OFF,50,0")
	s.upload(`{"rows":[{"date":"2026-11-01","sku":"OFF","qty":60}]}`)
	s.stock("OFF", "1") // an inactive one falls below
	s.fired()
	s.sku("sku,active", "OFF,1") // and is reactivated
	s.fired()
	s.stock("OFF", "0")
	s.fired()
	s.sku("sku,active", "OFF,0")
	s.stock("OFF", "100")
	s.sku("sku,active,current_stock", "OFF,1,1") // reactivated and emptied at once
	s.fired()
	s.stock("OFF", "100")
	s.sku("sku,active,current_stock", "OFF,0,1") // emptied and set inactive at once
	s.fired()

	s.sku("sku,current_stock", "A,21")
	s.upload(`{"rows":[{"date":"2026-10-22","sku":"A","qty":60}]}`)
	s.sku("sku,lead_time_days", "A,8") // point 22
	s.fired("A")
	s.sku("sku,lead_time_days", "A,7")
	s.sku("sku,safety_stock_days", "A,4")
	s.fired("A", "A")
	s.sku("sku,safety_stock_days", "A,3")
	s.sku("sku,name,current_stock", "A,Apple,19") // the product form
	s.fired("A", "A", "A")
	s.sku("sku,name", "A,Apples")
	s.fired("A", "A", "A")

	// Settings change the figures: no alarm.
	s.stock("A", "21")
	window := int64(29) // 60 / 29 x 10 = 20.7; the sale of 22 October leaves the window: no demand
	val(s.ChangeSettings(context.Background(), cli, SettingsChange{ForecastWindowDays: &window}))
	window = 28
	val(s.ChangeSettings(context.Background(), cli, SettingsChange{ForecastWindowDays: &window}))
	s.upload(`{"rows":[{"date":"2026-11-19","sku":"A","qty":55}]}`) // 55 / 28 x 10 = 19.6
	s.fired("A", "A", "A")
	window = 26 // 21.2
	val(s.ChangeSettings(context.Background(), cli, SettingsChange{ForecastWindowDays: &window}))
	a := s.record("A")
	assert.That(t, a.isBelow, "a shorter window takes A to its reorder point, but its flag is not set")
	s.stock("A", "20")
	s.fired("A", "A", "A")
}

// TestCrossingAfterSalesLeftTheWindow: a SKU that recovered as its sales left the window, without a change that would
// have checked it, raises its alarm again.
func TestCrossingAfterSalesLeftTheWindow(t *testing.T) {
	s := open(t)
	s.sku("sku,current_stock", "A,20")
	s.upload(`{"rows":[{"date":"2026-11-20","sku":"A","qty":60}]}`)
	s.fired("A")
	s.On("2026-12-19") // the last day of the sale in the window
	s.upload(`{"rows":[{"date":"2026-12-19","sku":"A","qty":1}]}`)
	s.fired("A")
	s.On("2026-12-20") // 1 was sold in the window: it recovered, unchecked
	s.upload(`{"rows":[{"date":"2026-12-20","sku":"A","qty":59}]}`)
	s.fired("A", "A")
	s.upload(`{"rows":[{"date":"2026-12-20","sku":"A","qty":1}]}`)
	s.fired("A", "A")
}

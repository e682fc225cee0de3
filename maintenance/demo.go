package maintenance

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// demoMeter is a meter of the demo workshop with its weekly use.
type demoMeter struct {
	tag, name, unit string
	start, week     int64
	replaced        bool // about ten months ago, by one that began at 0
}

var demoMeters = []demoMeter{
	{"LATHE-1", "spindle hours", "h", 8_120, 26, false},
	{"COMP-1", "hours", "h", 15_300, 41, true},
	{"VAN-1", "odometer", "km", 61_200, 610, false},
	{"VAN-2", "odometer", "km", 128_900, 340, false},
	{"VAN-3", "odometer", "km", 9_400, 480, false},
	{"VAN-3", "cooler", "h", 310, 19, false},
}

// Rows of the demo workshop's tables, as they stand in a CSV file with all columns;
// [-30] is the day thirty days before today.
var (
	demoAssets = []string{
		"LATHE-1|Lathe|machine tools|hall 1|Colchester|Student 1800|K4/7731|operational|Ways are oiled every morning.",
		"COMP-1|Compressor|compressed air|yard|Boge|C 15|5031-228|operational|Drains by itself; look at the float " +
			"twice a year.",
		"VAN-1|Van 1|vehicles|yard|Ford|Transit 350|WF0-11873|operational|",
		"VAN-2|Van 2|vehicles|yard|Ford|Transit 350|WF0-09264|operational|",
		"VAN-3|Van 3, cooled|vehicles|yard|Renault|Master|VF1-55120|operational|",
	}
	demoParts = []string{
		"6204-2RS|Ball bearing 6204|piece|3|4|425|Bearings Ltd|shelf 1",
		"BELT-A42|V-belt A42|piece|2|2|1180|Bearings Ltd|shelf 1",
		"OIL-5W30|Engine oil 5W-30|l|63.5|20|690|Garage Supply|oil store",
		"OIL-VG46|Compressor oil VG 46|l|6|10|845|Boge service|oil store",
		"FILT-AIR-C15|Air filter C 15|piece|2|1|3290|Boge service|shelf 2",
		"FILT-OIL-TR|Oil filter Transit|piece|7|2|1090|Garage Supply|shelf 3",
		"PAD-FR-TR|Brake pads front, Transit|set|3|1|4650|Garage Supply|shelf 3",
		"FUSE-10A|Fuse 10 A|piece|47|0|15||drawer",
	}
)

// demoPlans are the plans; a baseline is how long before the meter's present reading the service was done.
var demoPlans = []struct {
	row    string
	before int64
}{
	{"LATHE-1|Change the spindle oil|365|2000|||[-417]||", 1_500},
	{"LATHE-1|Check the belts|90||||[-104]||", 0},
	{"COMP-1|Change oil and filter||2000|hours|||||", 1_830},
	{"COMP-1|Test the safety valve|365||||[-357]||", 0},
	{"VAN-1|Oil and filter|365|15000|odometer||[-190]||", 15_240},
	{"VAN-1|Inspection|730||||[-500]||", 0},
	{"VAN-2|Oil and filter|365|15000|odometer||[-120]||", 6_100},
	{"VAN-3|Oil and filter|365|20000|odometer||[-300]||", 17_900},
	{"VAN-3|Service the cooler|180|1000|cooler||[-178]||", 520},
	{"VAN-3|First aid kit|365|||[12]|||", 0},
}

// demo fills an empty database with a small workshop: a lathe, a compressor and three vans, two years of readings by a
// fixed seed, plans in every due state, parts of which some are low, and jobs in every state. All of it uses the
// ordinary guarded functions.
func (s *Service) demo(ctx context.Context, today exact.Day) error {
	return db.Exec(ctx, s.db, db.CLI("maintenance"), func(tx *db.Tx) error {
		if _, err := setLaborRate(tx, 5400); err != nil {
			return err
		}
		for _, rows := range []struct {
			at  demoAt
			put func() error
		}{
			{demoAt{-736, 8}, func() error { return demoRows(tx, assetTable(), today, demoAssets) }},
			{demoAt{-736, 8.30}, func() error { return demoRows(tx, partTable(), today, demoParts) }},
			{demoAt{-736, 9}, func() error { return demoReadings(tx, s, today) }},
			{demoAt{-90, 8}, func() error { return demoSchedule(tx, today) }},
		} {
			if err := demoAct(tx, "Ana", today, rows.at, rows.put); err != nil {
				return err
			}
		}
		for _, j := range demoJobs {
			if err := j.put(tx, today); err != nil {
				return fmt.Errorf("%s: %w", j.what, err)
			}
		}
		return demoNow(tx, today)
	})
}

// demoRows imports rows into a table.
func demoRows(tx *db.Tx, t schema.Table, today exact.Day, rows []string) error {
	columns := t.Columns()
	for _, row := range rows {
		cells := map[string]string{}
		for i, cell := range strings.Split(row, "|") {
			cells[columns[i].Name] = demoDay(cell, today)
		}
		put, err := t.Decode(cells, schema.LoadOptions{})
		if err != nil {
			return fmt.Errorf("%s %s: %w", t.Name, row, err)
		}
		if _, err := put(tx); err != nil {
			return fmt.Errorf("%s %s: %w", t.Name, row, err)
		}
	}
	return nil
}

// demoDay replaces [-30] by a date; any other cell stays.
func demoDay(cell string, today exact.Day) string {
	if !strings.HasPrefix(cell, "[") {
		return cell
	}
	n, err := strconv.Atoi(strings.Trim(cell, "[]"))
	if err != nil {
		return cell
	}
	return (today + exact.Day(n)).String() // #nosec G115 -- the demo counts days in hundreds
}

// demoReadings reads every meter once a week for two years, up to yesterday.
func demoReadings(tx *db.Tx, s *Service, today exact.Day) error {
	const weeks = 104
	// #nosec G404 -- a demo that is the same every time holds no secret; the same workshop every time
	r := rand.New(rand.NewPCG(2026, 11))
	for i, m := range demoMeters {
		if err := demoRows(tx, s.meterTable(), today, []string{m.tag + "|" + m.name + "|" + m.unit}); err != nil {
			return err
		}
		at := m.start * 1000
		for week := range int64(weeks + 1) {
			day := today - exact.Day(7*(weeks-week)+1)
			correction := m.replaced && week == 61
			if correction {
				at = 0
			} else if week > 0 {
				at += m.week * (600 + r.Int64N(801)) // six to fourteen tenths of the usual
			}
			at -= at % 100
			n := NewReading{Meter: m.name, Reading: exact.Milli(at), ReadDate: &day, Correction: correction}
			err := demoAct(tx, "Ana", today, demoAt{day - today, 17}, func() error {
				_, err := putReading(tx, readingRow{tag: m.tag, NewReading: n})
				return err
			})
			if err != nil {
				return fmt.Errorf("meter %d of the demo: %w", i+1, err)
			}
		}
	}
	return nil
}

// demoSchedule makes the plans, with baselines counted back from the meters.
func demoSchedule(tx *db.Tx, today exact.Day) error {
	for _, p := range demoPlans {
		cells := strings.Split(p.row, "|")
		if p.before > 0 {
			a, err := assetByTag(&tx.Conn, cells[0])
			if err != nil {
				return err
			}
			m, err := pickMeter(&tx.Conn, a, cells[4])
			if err != nil {
				return err
			}
			cells[7] = (m.Reading - exact.Milli(p.before*1000)).String()
		}
		if err := demoRows(tx, planTable(), today, []string{strings.Join(cells, "|")}); err != nil {
			return err
		}
	}
	return nil
}

package maintenance

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
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
		"COMP-1|Compressor|compressed air|yard|Boge|C 15|5031-228|needs-attention|Drains by itself; look at the float " +
			"twice a year.",
		"VAN-1|Van 1|vehicles|yard|Ford|Transit 350|WF0-11873|operational|",
		"VAN-2|Van 2|vehicles|yard|Ford|Transit 350|WF0-09264|operational|",
		"VAN-3|Van 3, cooled|vehicles|yard|Renault|Master|VF1-55120|down|",
	}
	demoParts = []string{
		"6204-2RS|Ball bearing 6204|piece|3|4|425|Bearings Ltd|shelf 1",
		"BELT-A42|V-belt A42|piece|2|2|1180|Bearings Ltd|shelf 1",
		"OIL-5W30|Engine oil 5W-30|l|38.5|20|690|Garage Supply|oil store",
		"OIL-VG46|Compressor oil VG 46|l|6|10|845|Boge service|oil store",
		"FILT-AIR-C15|Air filter C 15|piece|1|1|3290|Boge service|shelf 2",
		"FILT-OIL-TR|Oil filter Transit|piece|5|2|1090|Garage Supply|shelf 3",
		"PAD-FR-TR|Brake pads front, Transit|set|2|1|4650|Garage Supply|shelf 3",
		"FUSE-10A|Fuse 10 A|piece|46|0|15||drawer",
	}
	demoHistory = []string{
		"|LATHE-1|Change the spindle oil|medium|preventive|done|Ana|75|38.4|40|Oil changed, strainer cleaned|[-418]|[-417]",
		"|COMP-1|Hour meter is dead|low|corrective|done|Ben|45|96|30|New meter fitted, begins at 0|[-302]|[-300]",
		"|LATHE-1|Tailstock does not lock|high|corrective|done|Ben|130|12.75|210|Lever bent back, new spring|[-266]|[-265]",
		"|COMP-1|Loses pressure over night|high|corrective|done|Ana|95|7.2||Fitting at the dryer sealed|[-152]|[-150]",
		"|VAN-1|Brakes squeal|urgent|corrective|done|Carla|110|46.5|180|New pads in front|[-97]|[-96]",
		"|VAN-2|Inspection|medium|preventive|done|Carla|60|54|240|Passed, tyres in spring|[-61]|[-60]",
		"|VAN-2|Radio has no sound|low|corrective|cancelled||||||[-44]|",
	}
	// demoWork are the jobs at work, of the last days.
	demoWork = []string{
		"|LATHE-1|Spindle bearing is loud above 1200 rpm\nBegan on Thursday, worse when warm. The rear bearing was changed " +
			"two years ago.\n\nMeasure the play in front, fit both bearings, run in for 20 minutes at 400 rpm.|high|" +
			"corrective|in-progress|Ben|95||120||[-3]|",
		"|COMP-1|Oil mist at the outlet\nMore than usual after an hour of work.|medium|corrective|open||20||||[-1]|",
		"|VAN-3|Cooler trips its fuse\nAfter ten minutes, also with the doors shut. The load went into Van 2.|urgent|" +
			"corrective|in-progress|Carla|40||360||[-1]|",
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
	who := db.CLI("maintenance")
	if _, err := s.SetLaborRate(ctx, who, 5400); err != nil {
		return err
	}
	err := db.Exec(ctx, s.db, who, func(tx *db.Tx) error {
		if err := demoRows(tx, assetTable(), today, demoAssets); err != nil {
			return err
		}
		if err := demoReadings(tx, s, today); err != nil {
			return err
		}
		if err := demoRows(tx, partTable(), today, demoParts); err != nil {
			return err
		}
		if err := demoSchedule(tx, s, today); err != nil {
			return err
		}
		return demoRows(tx, workOrderTable(), today, demoHistory)
	})
	if err != nil {
		return err
	}
	return s.demoJobs(ctx, who, today)
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
			if _, err := putReading(tx, readingRow{tag: m.tag, NewReading: n}); err != nil {
				return fmt.Errorf("meter %d of the demo: %w", i+1, err)
			}
		}
	}
	return nil
}

// demoSchedule makes the plans, with baselines counted back from the meters.
func demoSchedule(tx *db.Tx, s *Service, today exact.Day) error {
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
		if err := demoRows(tx, s.planTable(), today, []string{strings.Join(cells, "|")}); err != nil {
			return err
		}
	}
	return nil
}

// demoJobs opens the jobs of these days and moves them to every state.
func (s *Service) demoJobs(ctx context.Context, who db.Caller, today exact.Day) error {
	var err error
	job := func(n WorkOrder, to ...string) (id int64) {
		if err != nil {
			return 0
		}
		var wo WorkOrder
		if wo, err = s.OpenWorkOrder(ctx, who, n); err != nil {
			return 0
		}
		for _, status := range to {
			if err == nil {
				_, err = s.MoveWorkOrder(ctx, who, Move{ID: wo.ID, Status: status, Resolution: demoResolutions[status]})
			}
		}
		return wo.ID
	}
	use := func(id int64, part string, qty exact.Milli) {
		if err == nil {
			_, err = s.UsePart(ctx, who, id, part, qty)
		}
	}
	belts := job(WorkOrder{AssetID: 1, Description: "Check the belts: due by the plan", Type: "preventive",
		AssignedTo: new("Ana"), PMID: new(int64(2))})
	if err == nil {
		err = db.Exec(ctx, s.db, who, func(tx *db.Tx) error { return demoRows(tx, workOrderTable(), today, demoWork) })
	}
	spindle, cooler := belts+1, belts+3
	use(spindle, "6204-2RS", 2_000)
	use(cooler, "FUSE-10A", 3_000)
	job(WorkOrder{AssetID: 4, Description: "Wipers smear", Priority: "low", PartsCost: exact.Decimal{Unscaled: 1890,
		Places: 2}, LaborMinutes: 10}, "in-progress", "done")
	job(WorkOrder{AssetID: 3, Description: "Noise from behind, gone on the second day", Priority: "low"}, "cancelled")
	if err != nil {
		return err
	}
	var picture bytes.Buffer
	if err := png.Encode(&picture, demoBearing()); err != nil {
		return err
	}
	_, err = s.AddPhoto(ctx, who, spindle, "bearing.png", "The outer ring, blue from heat", picture.Bytes())
	return err
}

var demoResolutions = map[string]string{"done": "New blades fitted", "cancelled": "Could not be heard again"}

// demoBearing is a picture of a ball bearing whose outer ring is blue at one side.
func demoBearing() image.Image {
	const wide, high, balls = 320, 240, 9
	img := image.NewPaletted(image.Rect(0, 0, wide, high), color.Palette{
		color.RGBA{92, 84, 74, 255}, color.RGBA{176, 180, 184, 255}, color.RGBA{74, 98, 150, 255},
		color.RGBA{44, 44, 46, 255}, color.RGBA{226, 228, 230, 255}})
	for i := range wide * high {
		x, y := float64(i%wide-wide/2), float64(i/wide-high/2)
		r, turn := math.Hypot(x, y), math.Atan2(y, x)
		_, between := math.Modf((turn/math.Pi + 1) * balls / 2)
		across := math.Hypot(r-68, (between-.5)*2*math.Pi*68/balls)
		switch {
		case r > 82 && r < 104 && turn > -1.4 && turn < .4:
			img.Pix[i] = 2
		case r > 82 && r < 104, r > 34 && r < 54:
			img.Pix[i] = 1
		case r > 34 && r < 104 && across < 13:
			img.Pix[i] = 4
		case r < 104:
			img.Pix[i] = 3
		}
	}
	return img
}

package maintenance

import (
	"bytes"
	"cmp"
	"image"
	"image/color"
	"image/png"
	"math"
	"time"

	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// demoAt is a time of the demo: so many days from today, at hour.minute of the shop's clock.
type demoAt struct {
	day  exact.Day
	time float64
}

// demoJob is a job of the demo workshop. Whoever is to do it begins in time to have worked his minutes when it is done;
// parts are used then, and other parts and downtime noted.
type demoJob struct {
	asset                int64 // 1 Lathe, 2 Compressor, 3 to 5 Van 1 to 3
	by                   string
	opened               demoAt
	what, priority       string
	planned              bool
	who                  string
	done                 demoAt // none: it still waits
	minutes, other, down int64
	resolution           string
	used                 map[string]exact.Milli
}

// demoJobs are what has been done, oldest first. Eva has the vans driven; Ana, Ben and Carla repair.
var demoJobs = []demoJob{
	{1, "Ana", demoAt{-418, 8.10}, "Change the spindle oil", "medium", true, "Ana", demoAt{-417, 9.40}, 75, 3840, 40,
		"Oil changed, strainer cleaned", nil},
	{2, "Ana", demoAt{-358, 7.50}, "Test the safety valve", "medium", true, "Ana", demoAt{-357, 8.40}, 20, 0, 0,
		"Opens at 11 bar and closes again", nil},
	{2, "Ana", demoAt{-302, 9.15}, "Hour meter is dead", "low", false, "Ben", demoAt{-300, 14.20}, 45, 9600, 30,
		"New meter fitted, begins at 0", nil},
	{5, "Eva", demoAt{-301, 15.05}, "Oil and filter", "medium", true, "Carla", demoAt{-300, 10.30}, 55, 1450, 60,
		"Oil and filter changed", map[string]exact.Milli{"OIL-5W30": 9_000}},
	{1, "Ben", demoAt{-266, 10.20}, "Tailstock does not lock", "high", false, "Ben", demoAt{-265, 13.10}, 130, 1275, 210,
		"Lever bent back, new spring", nil},
	{3, "Eva", demoAt{-191, 16.00}, "Oil and filter", "medium", true, "Carla", demoAt{-190, 9.05}, 50, 0, 60,
		"Oil and filter changed", map[string]exact.Milli{"OIL-5W30": 8_000, "FILT-OIL-TR": 1_000}},
	{5, "Eva", demoAt{-179, 14.30}, "Service the cooler", "medium", true, "Carla", demoAt{-178, 11.20}, 90, 6400, 120,
		"Filter and belt renewed, gas is full", nil},
	{2, "Ana", demoAt{-152, 7.35}, "Loses pressure over night", "high", false, "Ana", demoAt{-150, 11.45}, 95, 720, 0,
		"Fitting at the dryer sealed", nil},
	{4, "Eva", demoAt{-121, 15.40}, "Oil and filter", "medium", true, "Carla", demoAt{-120, 9.30}, 50, 0, 60,
		"Oil and filter changed", map[string]exact.Milli{"OIL-5W30": 8_000, "FILT-OIL-TR": 1_000}},
	{1, "Ana", demoAt{-105, 8.20}, "Check the belts", "medium", true, "Ana", demoAt{-104, 7.55}, 25, 0, 30,
		"Tension is right", nil},
	{3, "Eva", demoAt{-97, 7.10}, "Brakes squeal", "urgent", false, "Carla", demoAt{-96, 12.15}, 110, 0, 180,
		"New pads in front", map[string]exact.Milli{"PAD-FR-TR": 1_000}},
	{4, "Eva", demoAt{-82, 16.20}, "Wing mirror is broken", "low", false, "Carla", demoAt{-79, 14.05}, 30, 4200, 0,
		"New glass fitted", nil},
	{5, "Eva", demoAt{-77, 7.15}, "Door seal of the cooler is torn", "medium", false, "Carla", demoAt{-75, 10.20}, 40, 3400,
		0, "New seal glued in", nil},
	{2, "Ana", demoAt{-75, 9.50}, "Belt guard rattles", "low", false, "Ana", demoAt{-74, 8.15}, 15, 0, 0,
		"Bolts tightened", nil},
	{5, "Eva", demoAt{-70, 7.20}, "Rear door does not close", "high", false, "Carla", demoAt{-69, 11.30}, 70, 2860, 120,
		"Hinge replaced", nil},
	{4, "Eva", demoAt{-61, 13.10}, "Inspection", "medium", true, "Carla", demoAt{-60, 12.40}, 60, 5400, 240,
		"Passed; the front tyres are next", nil},
	{3, "Eva", demoAt{-57, 16.40}, "Fog lamp is broken", "low", false, "Carla", demoAt{-54, 14.30}, 25, 2650, 0,
		"New lamp fitted", nil},
	{1, "Ben", demoAt{-54, 11.25}, "Coolant smells", "medium", false, "Ana", demoAt{-53, 9.20}, 40, 2200, 0,
		"Tank cleaned, new coolant", nil},
	{3, "Eva", demoAt{-47, 8.05}, "Washer pump is silent", "low", false, "Carla", demoAt{-45, 15.10}, 35, 1980, 0,
		"New pump fitted", nil},
	{2, "Ana", demoAt{-40, 10.10}, "Air filter is clogged", "medium", true, "Ana", demoAt{-39, 8.30}, 20, 0, 15,
		"New filter", map[string]exact.Milli{"FILT-AIR-C15": 1_000}},
	{2, "Ana", demoAt{-36, 8.10}, "Drain valve sticks", "medium", false, "Ana", demoAt{-35, 9.45}, 30, 0, 10,
		"Taken apart and cleaned", nil},
	{5, "Eva", demoAt{-33, 7.30}, "Tail light is out", "medium", false, "Carla", demoAt{-33, 8.45}, 15, 0, 0,
		"Fuse changed", map[string]exact.Milli{"FUSE-10A": 1_000}},
	{4, "Carla", demoAt{-27, 9.15}, "Change the front tyres", "medium", true, "Carla", demoAt{-26, 13.35}, 80, 21200, 90,
		"Two new tyres, balanced", nil},
	{4, "Eva", demoAt{-23, 7.40}, "Heater stays cold", "medium", false, "Carla", demoAt{-21, 11.10}, 65, 3780, 0,
		"Thermostat changed", nil},
	{1, "Ben", demoAt{-19, 10.40}, "Emergency stop sticks", "urgent", false, "Ben", demoAt{-19, 12.10}, 50, 3100, 80,
		"New switch fitted and tried", nil},
	{3, "Eva", demoAt{-13, 17.05}, "Headlight is dim", "low", false, "Carla", demoAt{-11, 8.50}, 20, 1190, 0,
		"Bulb changed", nil},
	{2, "Ana", demoAt{-12, 7.45}, "Pressure switch is late", "high", false, "Ben", demoAt{-10, 10.05}, 60, 3850, 45,
		"Set to 8 and 10 bar", nil},
}

// demoAct does something as a person at a time.
func demoAct(tx *db.Tx, person string, today exact.Day, at demoAt, act func() error) error {
	hour, minute := math.Modf(at.time)
	clock := time.Duration(hour)*time.Hour + time.Duration(math.Round(minute*100))*time.Minute
	return tx.Past(db.Caller{Service: "maintenance", User: person, Role: "member", Scope: "full", Via: "web"},
		exact.InstantOf((today + at.day).Time(tx.Zone()).Add(clock)), act)
}

// put opens the job and does it.
func (j demoJob) put(tx *db.Tx, today exact.Day) error {
	var wo WorkOrder
	err := demoAct(tx, j.by, today, j.opened, func() (err error) {
		kind := "corrective"
		if j.planned {
			kind = "preventive"
		}
		wo, err = openWorkOrder(tx, WorkOrder{AssetID: j.asset, Description: j.what, Priority: j.priority, Type: kind,
			AssignedTo: &j.who})
		return err
	})
	if err != nil {
		return err
	}
	begun := j.done
	begun.time -= float64((j.minutes + 59) / 60)
	if err := demoMove(tx, j.who, today, begun, wo.ID, "in-progress", ""); err != nil {
		return err
	}
	err = demoAct(tx, j.who, today, j.done, func() error {
		for part, qty := range j.used {
			if _, err := usePart(tx, wo.ID, part, qty); err != nil {
				return err
			}
		}
		return demoSpent(tx, wo.ID, j.minutes, j.other, j.down)
	})
	return cmp.Or(err, demoMove(tx, j.who, today, j.done, wo.ID, "done", j.resolution))
}

// demoMove moves a job.
func demoMove(tx *db.Tx, person string, today exact.Day, at demoAt, id int64, status, resolution string) error {
	return demoAct(tx, person, today, at, func() error {
		_, err := moveWorkOrder(tx, Move{ID: id, Status: status, Resolution: resolution})
		return err
	})
}

// demoSpent notes what a job took.
func demoSpent(tx *db.Tx, id, minutes, other, down int64) error {
	held, err := findWorkOrder(&tx.Conn, id)
	if err != nil {
		return err
	}
	now := WorkOrder{LaborMinutes: minutes, PartsCost: exact.Decimal{Unscaled: other, Places: 2}, DowntimeMinutes: down}
	_, err = changeFields(tx, held, OrderChange{WorkOrder: now,
		Sent: map[string]bool{"labor_minutes": true, "parts_cost": true, "downtime_minutes": true}})
	return err
}

// demoNow is what happened in these days, up to yesterday: it is past at any hour.
func demoNow(tx *db.Tx, today exact.Day) error {
	var id int64
	on := func(person string, day exact.Day, clock float64, act func() error) func() error {
		return func() error { return demoAct(tx, person, today, demoAt{day, clock}, act) }
	}
	opens := func(person string, day exact.Day, clock float64, wo WorkOrder) func() error {
		return on(person, day, clock, func() error {
			made, err := openWorkOrder(tx, wo)
			id = made.ID
			return err
		})
	}
	moves := func(person string, day exact.Day, clock float64, status, resolution string) func() error {
		return func() error { return demoMove(tx, person, today, demoAt{day, clock}, id, status, resolution) }
	}
	uses := func(person string, day exact.Day, clock float64, part string, qty exact.Milli) func() error {
		return on(person, day, clock, func() error {
			_, err := usePart(tx, id, part, qty)
			return err
		})
	}
	spends := func(person string, day exact.Day, clock float64, minutes, other, down int64) func() error {
		return on(person, day, clock, func() error { return demoSpent(tx, id, minutes, other, down) })
	}
	turns := func(person string, day exact.Day, clock float64, asset int64, status string) func() error {
		return on(person, day, clock, func() error { return turnAsset(tx, asset, status) })
	}
	for _, act := range []func() error{
		opens("Ana", -9, 15.40, WorkOrder{AssetID: 1, Description: "Check the belts", Type: "preventive",
			AssignedTo: new("Ana"), PMID: new(int64(2)), DueDate: new(today - 1)}),
		opens("Ben", -8, 8.20, WorkOrder{AssetID: 1, Description: "Spindle bearing is loud above 1200 rpm\nWorse when warm. " +
			"The rear bearing was changed two years ago.\n\nMeasure the play in front, fit both bearings, run in for 20 " +
			"minutes at 400 rpm.", Priority: "high", AssignedTo: new("Ben"), DueDate: new(today + 2)}),
		moves("Ben", -3, 13.05, "in-progress", ""),
		uses("Ben", -2, 10.15, "6204-2RS", 2_000),
		on("Ben", -2, 10.40, func() error {
			var picture bytes.Buffer
			if err := png.Encode(&picture, demoBearing()); err != nil {
				return err
			}
			_, err := addPhoto(tx, id, "bearing.png", "The outer ring, blue from heat", picture.Bytes())
			return err
		}),
		spends("Ben", -2, 11.20, 95, 0, 120),
		opens("Eva", -7, 11.10, WorkOrder{AssetID: 4, Description: "Wipers smear", Priority: "low", AssignedTo: new("Carla")}),
		moves("Carla", -6, 14.05, "in-progress", ""),
		spends("Carla", -6, 14.20, 10, 1890, 0),
		moves("Carla", -6, 14.20, "done", "New blades fitted"),
		opens("Eva", -6, 16.50, WorkOrder{AssetID: 3, Description: "Noise from behind, gone on the second day",
			Priority: "low"}),
		moves("Carla", -4, 15.00, "cancelled", "Could not be heard again"),
		opens("Eva", -4, 17.15, WorkOrder{AssetID: 4, Description: "Handbrake travels too far", AssignedTo: new("Carla"),
			DueDate: new(today + 6)}),
		opens("Eva", -1, 7.25, WorkOrder{AssetID: 5, Description: "Cooler trips its fuse\nAfter ten minutes, also with the " +
			"doors shut. The load went into Van 2.", Priority: "urgent", AssignedTo: new("Carla"), DueDate: new(today + 1)}),
		turns("Eva", -1, 7.25, 5, "down"),
		moves("Carla", -1, 9.10, "in-progress", ""),
		uses("Carla", -1, 10.05, "FUSE-10A", 3_000),
		spends("Carla", -1, 10.20, 40, 0, 0),
		opens("Ana", -1, 16.30, WorkOrder{AssetID: 2, Description: "Oil mist at the outlet\nMore than usual after an hour of " +
			"work."}),
		turns("Ana", -1, 16.30, 2, "needs-attention"),
	} {
		if err := act(); err != nil {
			return err
		}
	}
	return nil
}

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

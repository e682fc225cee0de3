package maintenance

import (
	"context"
	"fmt"
	"io"
	"math"
	"strconv"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
)

// LaborRate is the price of an hour of labor.
type LaborRate struct {
	CentsPerHour int64 `json:"labor_rate_cents" about:"an hour"`
	Previous     int64 `json:"previous_cents"`
	Unpriced     int64 `json:"unpriced_jobs" about:"jobs with labor done before there was a rate; recost gives them today's"`
}

// setLaborRate sets the shop's hourly rate in cents. It applies to orders that are not closed; closed ones keep the
// rate of their closing.
func setLaborRate(tx *db.Tx, cents int64) (none LaborRate, err error) {
	if cents < 0 || cents > maxRate {
		return none, fault.Fieldf("labor_rate_cents", "labor-rate: %d is out of range; it takes cents an hour from %d to %d",
			fault.Cents(cents), fault.Cents(0), fault.Cents(maxRate))
	}
	rate := LaborRate{CentsPerHour: cents}
	if rate.Unpriced, _, err = db.One(&tx.Conn, db.Int, "SELECT count(*)"+unpricedJobs); err != nil {
		return none, err
	}
	if rate.Previous, err = laborRate(&tx.Conn); err != nil || rate.Previous == cents {
		return rate, err
	}
	tx.Do("UPDATE maintenance_settings SET labor_rate_cents = ?", cents)
	return rate, tx.Audit("labor_rate.set", "settings:maintenance", [2]int64{rate.Previous, cents})
}

// offersRecost reports that jobs were done before the first rate was set.
func (r LaborRate) offersRecost() bool { return r.CentsPerHour > 0 && r.Unpriced > 0 }

// unpriced reports that labor was recorded before an hourly rate was set.
const unpriced = "Labor costs nothing while no hourly rate is set."

func laborRate(c *db.Conn) (int64, error) {
	cents, _, err := db.One(c, db.Int, "SELECT labor_rate_cents FROM maintenance_settings")
	return cents, err
}

// LaborRate returns the present hourly rate, in cents.
func (s *Service) LaborRate(ctx context.Context) (int64, error) {
	return db.Read(ctx, s.db, func(c *db.Conn) (int64, error) { return laborRate(c) })
}

func (s *Service) setLaborRate() schema.Op {
	return schema.Op{
		Name: "set_labor_rate", About: "Set the cost of an hour of labor, in cents. It applies to open work orders from " +
			"now on; " +
			"closed ones keep the rate of the day they were closed.",
		Writes: true, Idempotent: true, Response: LaborRate{CentsPerHour: 5400, Previous: 4800},
		Bind: schema.Writes(s.db, func(f *schema.Form, cents *int64) {
			most := int64(maxRate)
			if f.Surface() == schema.Command { // SetLaborRate refuses a rate that is too high: it is no wrong usage
				most = math.MaxInt64
			}
			f.Int(cents, "labor_rate_cents", "what an hour costs, in cents", schema.Required, schema.Range(0, most),
				schema.Positional("CENTS_PER_HOUR"), schema.Label("An hour of labor"))
		}, setLaborRate),
		Fill: func(c *db.Conn, _ map[string]string) (map[string]string, bool, error) {
			cents, err := laborRate(c)
			return map[string]string{"labor_rate_cents": strconv.FormatInt(cents, 10)}, cents > 0, err
		},
		Example: "maintenance labor-rate 5400",
		Print: schema.Printed(func(w io.Writer, r LaborRate) {
			fmt.Fprintf(w, "an hour of labor: %s, it was %s\n", units(r.CentsPerHour), units(r.Previous))
		}),
		Did: schema.SaidIn(func(r LaborRate, m schema.Money) string {
			text := fmt.Sprintf("An hour of labor costs %s; it was %s.", m(r.CentsPerHour), m(r.Previous))
			if r.offersRecost() {
				text += fmt.Sprintf(" %s without a rate.", jobs(r.Unpriced, "was done", "were done"))
			}
			return text
		}),
		Undo: func(answer any) *schema.Undo {
			if answer.(LaborRate).offersRecost() {
				return &schema.Undo{Op: "recost", Label: "Cost them anew"}
			}
			return nil
		},
		Leads: func(any) string { return "/settings" },
	}
}

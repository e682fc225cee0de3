package maintenance

import (
	"context"

	"quartermaster/schema/db"
	"quartermaster/schema/fault"
)

// LaborRate is what an hour of labor costs.
type LaborRate struct {
	CentsPerHour int64 `json:"labor_rate_cents" about:"an hour"`
	Previous     int64 `json:"previous_cents"`
}

// SetLaborRate sets the shop's hourly rate in cents. Orders that are not closed cost
// it from now on; those that are keep the rate of the day they were closed.
func (s *Service) SetLaborRate(ctx context.Context, who db.Caller, cents int64) (LaborRate, error) {
	return db.Update(ctx, s.db, who, func(tx *db.Tx) (none LaborRate, err error) {
		if cents < 0 || cents > maxRate {
			return none, fault.Invalidf("labor-rate: %d is out of range; it takes cents an hour from 0 to %d", cents, maxRate)
		}
		rate := LaborRate{CentsPerHour: cents}
		if rate.Previous, err = laborRate(&tx.Conn); err != nil || rate.Previous == cents {
			return rate, err
		}
		if _, err := tx.Exec("UPDATE maintenance_settings SET labor_rate_cents = ?", cents); err != nil {
			return none, err
		}
		return rate, tx.Audit("labor_rate.set", "settings:maintenance", [2]int64{rate.Previous, cents})
	})
}

func laborRate(c *db.Conn) (int64, error) {
	cents, _, err := db.One(c, db.Int, "SELECT labor_rate_cents FROM maintenance_settings")
	return cents, err
}

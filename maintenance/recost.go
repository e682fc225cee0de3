package maintenance

import (
	"fmt"

	"quartermaster/schema"
	"quartermaster/schema/db"
)

// Recosted is the result of computing jobs' costs again.
type Recosted struct {
	Jobs         int64 `json:"jobs"`
	CentsPerHour int64 `json:"labor_rate_cents"`
	AddedCents   int64 `json:"added_cents" about:"by how much their cost rises in all"`
}

// unpricedJobs are the jobs with labor done before the first hourly rate.
const unpricedJobs = " FROM work_orders WHERE status = 'done' AND labor_rate_cents = 0 AND labor_minutes > 0"

// recostJobs applies today's rate to the jobs done before the first hourly rate.
func recostJobs(tx *db.Tx) (r Recosted, err error) {
	if r.CentsPerHour, err = laborRate(&tx.Conn); err != nil || r.CentsPerHour == 0 {
		return r, err
	}
	ids := []int64{}
	err = db.Each(&tx.Conn, func(row *db.Row) error {
		ids = append(ids, row.Int())
		r.AddedCents += costOf(row.Int(), r.CentsPerHour, 0, 0).LaborCents
		return nil
	}, "SELECT id, labor_minutes"+unpricedJobs)
	if err != nil || len(ids) == 0 {
		return r, err
	}
	r.Jobs = int64(len(ids))
	for _, id := range ids {
		tx.Do("UPDATE work_orders SET labor_rate_cents = ?, updated_at = ? WHERE id = ?", r.CentsPerHour,
			tx.Now(), id)
		if err := tx.Audit("workorder.recosted", db.Subject("work_order", id),
			map[string]int64{"labor_rate_cents": r.CentsPerHour}); err != nil {
			return r, err
		}
	}
	return r, nil
}

func (s *Service) recost() schema.Op {
	return schema.Op{
		Name:   "recost",
		About:  "Apply today's hourly rate to jobs done before there was one.",
		Writes: true, Idempotent: true, Asks: true, Response: Recosted{Jobs: 4, CentsPerHour: 5400, AddedCents: 32400},
		Bind:    schema.Writes0(s.db, recostJobs),
		Example: "maintenance recost",
		Did: schema.SaidIn(func(r Recosted, m schema.Money) string {
			return fmt.Sprintf("%s more: %s.", jobs(r.Jobs, "costs", "cost"), m(r.AddedCents))
		}),
		Will: schema.SaidIn(func(r Recosted, m schema.Money) string {
			return fmt.Sprintf("%s without an hourly rate would cost %s more in total.", jobs(r.Jobs, "", ""), m(r.AddedCents))
		}),
		Leads: func(any) string { return "/settings" },
	}
}

func jobs(n int64, one, many string) string {
	switch {
	case n == 1 && one == "":
		return "1 job"
	case n == 1:
		return "1 job " + one
	case one == "":
		return fmt.Sprintf("%d jobs", n)
	}
	return fmt.Sprintf("%d jobs %s", n, many)
}

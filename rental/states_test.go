package rental

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"quartermaster/schema"
	"quartermaster/schema/assert"
	"quartermaster/schema/db"
)

// TestStatesFollowTheDay changes units, leases and the day at random and compares the lists by state with the
// tables.
func TestStatesFollowTheDay(t *testing.T) {
	h := open(t, "2026-11-20")
	h.Must(h.row("properties", "name=House"))
	r := rand.New(rand.NewPCG(12, 21))
	today := int64(day(t, "2026-11-20"))
	exec := func(query string, args ...any) {
		t.Helper()
		h.Must(db.Exec(ctx, h.DB, cli, func(tx *db.Tx) error {
			if _, err := tx.Exec(query, args...); err != nil {
				return err
			}
			return tx.Audit("test", "test", nil)
		}))
	}
	for unit := range 12 {
		exec("INSERT INTO units (id, property_id, name, market_rent_cents) VALUES (?, 1, ?, 0)", unit+1, fmt.Sprint("U", unit))
	}
	const listed = "SELECT coalesce(group_concat(id, ' '), '') FROM (SELECT x.id FROM "
	for i := range 160 {
		unit, slot := 1+r.Int64N(12), r.Int64N(4)
		start := today - 100 + 60*slot + r.Int64N(20)
		end := start + r.Int64N(40)
		what := r.IntN(5)
		switch what {
		case 0, 1:
			exec("DELETE FROM leases WHERE unit_id = ? AND start_date BETWEEN ? AND ?", unit, today-100+60*slot, today-41+60*slot)
			exec(`INSERT INTO leases (unit_id, start_date, end_date, rent_cents, frequency, due_day, deposit_cents, proration, last_day)
				VALUES (?1, ?2, ?3, 1, 'monthly', 1, 0, 'actual', ?3)`, unit, start, end)
		case 2:
			exec("UPDATE leases SET end_date = start_date + 1, last_day = start_date + 1 WHERE unit_id = ? AND start_date >= ?", unit, today-40)
		case 3:
			exec("DELETE FROM leases WHERE id = (SELECT max(id) FROM leases WHERE unit_id = ?)", unit)
		default:
			exec("INSERT INTO units (property_id, name, market_rent_cents) VALUES (1, ?, 0)", fmt.Sprint("N", i))
			h.At(h.Now().AddDate(0, 0, r.IntN(4)))
		}
		now := h.Number("SELECT ?", h.Now().Unix()/86400)
		for status, where := range map[string]string{active: "x.start_date <= ?1 AND x.last_day >= ?1", ended: "x.last_day < ?1", upcoming: "x.start_date > ?1"} {
			var got []int64
			for after, more := int64(0), true; more; {
				list, err := h.Leases(ctx, viewer, LeaseFilter{Status: status, Cursor: schema.Cursor[int64]{After: after, Limit: 3}})
				h.Must(err)
				for _, l := range list.Leases {
					got = append(got, l.ID)
				}
				if more = list.Next != nil; more {
					after = *list.Next
				}
			}
			want := h.Texts(listed+"leases x WHERE "+where+" ORDER BY x.id)", now)[0]
			assert.MustEqual(t, fmt.Sprint(got), "["+want+"]", "%d, after %d: %s leases are %s, listed", i, what, status, want)
		}
		for status, not := range map[string]string{vacant: "NOT ", occupied: ""} {
			list := assert.Value(h.Units(ctx, UnitFilter{Status: status, Cursor: schema.Cursor[int64]{After: 2, Limit: 7}}))(h.T)
			var got []int64
			for _, u := range list.Units {
				got = append(got, u.ID)
				assert.Must(t, u.Status == status, "%+v is listed as %s", u, status)
			}
			where := "units x WHERE " + not + "EXISTS (SELECT 1 FROM leases l WHERE l.unit_id = x.id AND l.start_date <= ?1 AND l.last_day >= ?1)"
			want := h.Texts(listed+where+" AND x.id > 2 ORDER BY x.id LIMIT 7)", now)[0]
			n := assert.Value(h.CountUnits(ctx, UnitFilter{Status: status}))(h.T)
			if text := fmt.Sprint(got); text != "["+want+"]" || n != h.Number("SELECT count(*) FROM "+where, now) {
				t.Fatalf("%d, after %d: %s units are %s, listed are %s of %d", i, what, status, want, text, n)
			}
		}
	}
}

package rental

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"quartermaster/schema/assert"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/mail"
)

// model implements rules 12 and 13 a second time from the ledgers, without the program's code.
type model struct {
	before, gap, least int64
	late               []int64
	marks              map[int64]map[int]bool // by charge: steps
	last               map[int64]exact.Day    // by lease: the last late message
	told               map[string]bool        // "lease day"
	paused             map[int64]exact.Day
	address            map[int64]string // by lease: "", blocked, or one
	ended              map[int64]exact.Day
}

// due is what a lease's tenant must get on a day: lines in the format of said, and what to note.
func (m *model) due(h *fixture, l Ledger, today exact.Day) (lines []string, note func()) {
	id := l.Lease.ID
	open, oldest, kind := int64(0), exact.Day(0), 0
	var listed []Charge
	for _, c := range l.Charges {
		if c.AmountCents-c.PaidCents <= 0 || c.DueDate >= today {
			continue
		}
		if len(listed) == 0 {
			oldest = c.DueDate
		}
		listed, open = append(listed, c), open+c.AmountCents-c.PaidCents
		for k := len(m.late); k >= 1; k-- {
			if int64(c.DueDate)+m.late[k-1] <= int64(today) {
				if !m.marks[c.ID][k] && k > kind {
					kind = k
				}
				break
			}
		}
	}
	common := func(late bool, open int64) string {
		last, mailed := m.last[id]
		until, held := m.paused[id]
		end, ends := m.ended[id]
		switch {
		case late && mailed && int64(today)-int64(last) < m.gap:
			return "gap"
		case late && open < m.least:
			return "small"
		case held && today <= until:
			return "paused"
		case m.address[id] == "":
			return "no_address"
		case strings.HasPrefix(m.address[id], "blocked"):
			return "blocked"
		case ends && today > end:
			return "ended"
		}
		return ""
	}
	var notes []func()
	if kind > 0 {
		why := common(true, open)
		lines = append(lines, fmt.Sprintf("%d late-%d %d %s %d %s %s", id, kind, open, oldest, today-oldest, m.address[id], why))
		if why == "" {
			notes = append(notes, func() {
				m.last[id] = today
				for _, c := range listed {
					for k := range m.late {
						if int64(c.DueDate)+m.late[k] <= int64(today) {
							if m.marks[c.ID] == nil {
								m.marks[c.ID] = map[int]bool{}
							}
							m.marks[c.ID][k+1] = true
						}
					}
				}
			})
		}
	}
	if m.before > 0 {
		for i, cents := range h.willOwe(id, today, m.before) {
			d := today + exact.Day(i)
			key := fmt.Sprint(id, d)
			if cents <= 0 || m.told[key] {
				continue
			}
			why := common(false, cents)
			lines = append(lines, fmt.Sprintf("%d reminder %d %s %d %s %s", id, cents, d, d-today, m.address[id], why))
			if why == "" {
				notes = append(notes, func() { m.told[key] = true })
			}
		}
	}
	return lines, func() {
		for _, n := range notes {
			n()
		}
	}
}

var errTakenBack = errors.New("taken back")

// willOwe is the open amount of each day's charges after posting day by day: it posts, reads and rolls back.
func (h *fixture) willOwe(lease int64, first exact.Day, days int64) (all []int64) {
	h.T.Helper()
	err := db.Exec(ctx, h.DB, db.Bookkeeping(), func(tx *db.Tx) error {
		for on := first; on <= first+exact.Day(days); on++ {
			if err := catchUpTo(tx, lease, on); err != nil {
				return err
			}
			cents, _, err := db.One(&tx.Conn, db.Int, `SELECT coalesce(sum(amount_cents - paid_cents), 0) FROM charges WHERE lease_id = ? AND due_date = ?
				AND (type = 'rent' OR recurring_id IS NOT NULL)`, lease, on)
			if err != nil {
				return err
			}
			all = append(all, cents)
		}
		return errTakenBack
	})
	assert.Must(h.T, errors.Is(err, errTakenBack), "%v", err)
	return all
}

// TestRemindersEqualANaiveModel compares 10,000 random ledgers on random days with the model.
func TestRemindersEqualANaiveModel(t *testing.T) {
	t.Parallel()
	const leases, days = 500, 3
	files := uint64(20)
	if testing.Short() { // with the race detector
		files = 1
	}
	for seed := range files {
		r := rand.New(rand.NewPCG(seed, 12))
		h := open(t, "2026-11-02")
		h.setUpMail()
		m := &model{before: r.Int64N(15) * r.Int64N(2), gap: 1 + r.Int64N(9), least: r.Int64N(30_000), marks: map[int64]map[int]bool{},
			last: map[int64]exact.Day{}, told: map[string]bool{}, paused: map[int64]exact.Day{}, address: map[int64]string{}, ended: map[int64]exact.Day{}}
		for at := int64(0); len(m.late) < 1+r.IntN(3); {
			at += 1 + r.Int64N(20)
			m.late = append(m.late, at)
		}
		must(h, admin, setReminders, ReminderChange{&m.before, &m.gap, &m.least, m.late})
		today := day(t, "2026-11-02")
		h.randomLeases(r, m, today, leases)
		for range days {
			today += exact.Day(1 + r.IntN(12))
			h.On(today.String())
			h.randomPayments(r, m, today, leases)
			assert.Must(t, h.comparesWith(m, today, leases),
				"seed %d, %s: before %d, gap %d, least %d, late %v", seed, today, m.before, m.gap, m.least, m.late)
		}
		h.sound()
	}
}

// randomLeases makes leases of every frequency, some with an end, with tenants with and without an address.
func (h *fixture) randomLeases(r *rand.Rand, m *model, today exact.Day, n int) {
	var units, tenants, all, every strings.Builder
	units.WriteString("property,name,market_rent_cents\n")
	tenants.WriteString("name,email\n")
	all.WriteString("property,unit,start_date,tenant,rent_cents,frequency,due_day,end_date\n")
	every.WriteString("property,unit,lease_start,type,label,amount_cents,from\n")
	for i := range n {
		id := int64(i + 1)
		start, end := today-exact.Day(r.IntN(60)), ""
		if r.IntN(5) == 0 {
			m.ended[id] = start + exact.Day(r.IntN(100))
			end = m.ended[id].String()
		}
		m.address[id] = []string{"", "blocked%d@example.org", "t%d@example.org", "t%d@example.org"}[r.IntN(4)]
		if m.address[id] != "" {
			m.address[id] = fmt.Sprintf(m.address[id], id)
		}
		fmt.Fprintf(&units, "House,%d,1\n", id)
		fmt.Fprintf(&tenants, "Tenant %d,%s\n", id, m.address[id])
		fmt.Fprintf(&all, "House,%d,%s,Tenant %d,%d,%s,%d,%s\n", id, start, id, r.IntN(60_000), frequencies[r.IntN(3)], 1+r.IntN(31), end)
		if r.IntN(4) == 0 {
			fmt.Fprintf(&every, "House,%d,%s,utility,Water,%d,%s\n", id, start, 1+r.IntN(5000), today+exact.Day(r.IntN(30)-15))
		}
		if r.IntN(8) == 0 {
			m.paused[id] = today + exact.Day(r.IntN(30))
		}
	}
	h.load("properties", "name\nHouse\n")
	h.load("units", units.String())
	h.load("tenants", tenants.String())
	h.load("leases", all.String())
	h.load("recurring", every.String())
	h.Must(db.Exec(ctx, h.DB, db.Bookkeeping(), func(tx *db.Tx) error {
		for id, address := range m.address {
			if strings.HasPrefix(address, "blocked") {
				h.Must(mail.Block(tx, address, ""))
			}
			if until, is := m.paused[id]; is {
				_, err := tx.Exec("UPDATE leases SET paused_until = ? WHERE id = ?", until, id)
				h.Must(err)
			}
		}
		return nil
	}))
}

// randomPayments makes a third of the tenants pay: too little, or ahead.
func (h *fixture) randomPayments(r *rand.Rand, m *model, today exact.Day, n int) {
	h.Must(db.Exec(ctx, h.DB, cli, func(tx *db.Tx) error {
		for id := int64(1); id <= int64(n); id++ {
			if r.IntN(3) == 0 {
				if _, err := receive(tx, ReceiptRequest{LeaseID: id, AmountCents: 1 + r.Int64N(90_000), PaidDate: today.String()}); err != nil {
					return err
				}
			}
		}
		return nil
	}))
}

// comparesWith sends due reminders and reports whether the model agrees.
func (h *fixture) comparesWith(m *model, today exact.Day, n int) bool {
	h.T.Helper()
	due := assert.Value(h.RemindersDue(ctx, viewer, nil))(h.T)
	var want []string
	var notes []func()
	for id := int64(1); id <= int64(n); id++ {
		l := h.ledger(id)
		lines, note := m.due(h, l, today)
		want, notes = append(want, lines...), append(notes, note)
	}
	slices.Sort(want)
	sent := must(h, ann, sendReminders, nil)
	for _, note := range notes {
		note()
	}
	for _, got := range [][]string{said(due.Reminders), said(append(sent.Sent, sent.Skipped...))} {
		for i := range max(len(got), len(want)) {
			if i >= len(got) || i >= len(want) || got[i] != want[i] {
				h.T.Errorf("got\n%s\nwant\n%s", strings.Join(got[min(i, len(got)):min(i+3, len(got))], "\n"), strings.Join(want[min(i, len(want)):min(i+3, len(want))], "\n"))
				return false
			}
		}
	}
	return true
}

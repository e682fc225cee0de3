package reorder

import (
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// maxChannel bounds a channel's name, in characters.
const maxChannel = 64

// noChannel stands for sales without a channel: a SKU-day's total minus the shares of its channels.
const noChannel = int64(0)

// shares writes the channels' shares of an upload's SKU-days.
type shares struct {
	replace bool
	ids     []int64 // of the upload's channels, by index; noChannel for none
	read    *db.Stmt
	stored  map[int64]exact.Milli // of the present SKU-day, by channel
	now     map[int64]exact.Milli
}

// newShares looks the upload's channels up, and makes new ones.
func newShares(tx *db.Tx, u *upload, replace bool) (*shares, error) {
	s := &shares{replace: replace, ids: make([]int64, len(u.channels)), stored: map[int64]exact.Milli{},
		now: map[int64]exact.Milli{}}
	for i, name := range u.channels {
		if name == "" {
			continue
		}
		id, found, err := db.One(&tx.Conn, db.Int, "SELECT id FROM sales_channels WHERE name = ?", name)
		if err == nil && !found {
			id, err = tx.Insert("INSERT INTO sales_channels (name) VALUES (?)", name)
		}
		if err != nil {
			return nil, err
		}
		s.ids[i] = id
	}
	var err error
	s.read, err = tx.Prepare("SELECT channel_id, qty FROM channel_sales WHERE day = ? AND sku_id = ?")
	return s, err
}

// write stores the new shares of one SKU-day, and returns its new total. With replace the named channels begin at 0;
// others stay.
func (s *shares) write(u *upload, t *total, day exact.Day, sku int64, d *days) (exact.Milli, error) {
	if err := s.readStored(t, day, sku); err != nil {
		return 0, err
	}
	sum := t.old
	clear(s.now)
	for _, r := range t.rows {
		id := s.ids[r.channel]
		if _, seen := s.now[id]; seen {
			continue
		}
		old, isStored := s.stored[id]
		s.now[id] = old
		if s.replace {
			s.now[id], sum = 0, sum-old
			if isStored {
				d.replaced++
			}
		}
	}
	for _, r := range t.rows {
		if sum+r.qty > maxDayTotal {
			u.refuseTotal(r)
			continue
		}
		sum += r.qty
		s.now[s.ids[r.channel]] += r.qty
		d.imported++
	}
	for _, r := range t.rows {
		old, stored := s.stored[s.ids[r.channel]]
		u.tell(r, outcome(stored, old != s.now[s.ids[r.channel]]))
	}
	for id, qty := range s.now {
		old, isStored := s.stored[id]
		if id == noChannel || isStored && old == qty {
			continue
		}
		d.tx.Do("INSERT OR REPLACE INTO channel_sales (day, sku_id, channel_id, qty) VALUES (?, ?, ?, ?)", day, sku, id, qty)
	}
	return sum, nil
}

// readStored reads the stored shares, including the rest without a channel.
func (s *shares) readStored(t *total, day exact.Day, sku int64) error {
	clear(s.stored)
	if !t.isStored {
		return nil
	}
	if err := s.read.Ints(int64(day), sku); err != nil {
		return err
	}
	rest := t.old
	for {
		r, err := s.read.Step()
		if err != nil {
			return err
		}
		if r == nil {
			break
		}
		id, qty := r.Int(), r.Milli()
		s.stored[id] = qty
		rest -= qty
	}
	if rest > 0 || len(s.stored) == 0 {
		s.stored[noChannel] = rest
	}
	return nil
}

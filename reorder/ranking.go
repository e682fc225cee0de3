package reorder

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// ranking is what is kept of all SKUs for a day, so that a page of a list with the sums of
// all that match costs what it gives. It is renewed by the SKUs that were changed since
// (table sku_touched), and is never changed itself. A SKU takes some 115 bytes.
type ranking struct {
	h         horizon
	byCode    []*entry // all SKUs, in the byte order of their codes
	urgent    []*entry // the active ones, most urgent first
	suppliers []*supplierSums
}

// entry is what lists narrow and order a SKU by, and what their sums add up.
type entry struct {
	id        int64
	code      string
	supplier  string
	stock     exact.Milli
	sold      exact.Milli // in the window that ends on the ranking's day
	suggested int64
	cost      int64
	days      int16 // that the demand is spread over
	status    int8  // its place in statuses; inactive
}

// inactive is the place behind the statuses of SKUs that have none.
const inactive = int8(3)

// supplierSums are the sums of a supplier's active SKUs, by status.
type supplierSums struct {
	name string
	sums [inactive]entrySums
}

type entrySums struct {
	skus, toOrder int64
	cost          exact.Int128
}

func (s *entrySums) add(e *entry, sign int64) {
	s.skus += sign
	if e.suggested > 0 {
		s.toOrder += sign
	}
	s.cost = s.cost.Add(exact.Mul(e.cost, sign))
}

// cents is the cost; what no int64 holds is its largest.
func (s *entrySums) cents() int64 { return s.cost.DivRound(1) }

// ranked returns the ranking of today.
func (s *Service) ranked(c *db.Conn) (*ranking, error) {
	return s.ranking.At(c, db.Renewal[*ranking]{
		Last:    "SELECT coalesce(max(seq), 0) FROM sku_touched",
		Since:   "SELECT sku_id FROM sku_touched WHERE seq > ?",
		Size:    func(k *ranking) int { return len(k.byCode) },
		All:     func() (*ranking, error) { return rankAll(c) },
		Changed: func(old *ranking, ids []int64) (*ranking, error) { return old.renewed(c, ids) },
	})
}

// touched notes that the SKUs changed, for who keeps a ranking.
func touched(tx *db.Tx, ids ...int64) error {
	if len(ids) == 0 {
		return nil
	}
	list, err := json.Marshal(ids)
	if err != nil {
		return err
	}
	if _, err := tx.Exec("INSERT INTO sku_touched (sku_id) SELECT value FROM json_each(?)", string(list)); err != nil {
		return err
	}
	_, err = tx.Exec("DELETE FROM sku_touched WHERE seq <= (SELECT max(seq) FROM sku_touched) - 20000")
	return err
}

// touchedAll notes that all SKUs changed: it leaves a number out.
func touchedAll(tx *db.Tx) error {
	_, err := tx.Exec("INSERT INTO sku_touched (seq, sku_id) SELECT coalesce(max(seq), 0) + 2, 0 FROM sku_touched")
	return err
}

const entryColumns = `id, active, current_stock, on_order, sold, ifnull(first_sold, 2932897),
	lead_time_days, safety_stock_days, pack_size, moq, unit_cost_cents, sku, supplier FROM skus`

// scanEntry reads a SKU's entry as of the horizon's day; since is what its sum lacks by then.
func scanEntry(r *db.Row, h horizon, since windowDelta) entry {
	e := entry{id: r.Int()}
	active := r.Bool()
	b := basis{stock: r.Milli(), onOrder: r.Milli(), sold: r.Milli() + since[e.id], firstSold: r.Day(),
		lead: r.Int(), safety: r.Int(), pack: r.Int(), moq: r.Milli(), unitCost: r.Int()}
	e.code, e.supplier = r.Text(), r.Text()
	e.stock, e.sold, e.status = b.stock, b.sold, inactive
	e.days = int16(b.demandDays(h)) // #nosec G115 -- at most 365
	status := b.status(h)
	e.suggested, e.cost = b.order(h, status)
	if active {
		e.status = urgency(status)
	}
	return e
}

// rankAll ranks every SKU.
func rankAll(c *db.Conn) (*ranking, error) {
	h, since, err := asOfToday(c)
	if err != nil {
		return nil, err
	}
	n, _, err := db.One(c, db.Int, "SELECT count(*) FROM skus")
	if err != nil {
		return nil, err
	}
	k, all, suppliers := &ranking{h: h}, make([]entry, 0, n), map[string]*supplierSums{}
	err = db.Each(c, func(r *db.Row) error {
		e := scanEntry(r, h, since)
		of := suppliers[e.supplier]
		if of == nil {
			of = &supplierSums{name: e.supplier}
			suppliers[e.supplier] = of
		}
		e.supplier = of.name // the same text, once
		if e.status != inactive {
			of.sums[e.status].add(&e, 1)
		}
		all = append(all, e)
		return nil
	}, "SELECT "+entryColumns)
	if err != nil {
		return nil, err
	}
	k.byCode, k.urgent = make([]*entry, len(all)), make([]*entry, 0, len(all))
	for i := range all {
		k.byCode[i] = &all[i]
		if all[i].status != inactive {
			k.urgent = append(k.urgent, &all[i])
		}
	}
	for _, of := range suppliers {
		k.suppliers = append(k.suppliers, of)
	}
	slices.SortFunc(k.byCode, byCode)
	slices.SortFunc(k.urgent, byUrgency)
	slices.SortFunc(k.suppliers, bySupplier)
	return k, nil
}

// renewed is the ranking with the changed SKUs as they are now.
func (k *ranking) renewed(c *db.Conn, ids []int64) (*ranking, error) {
	_, since, err := asOfToday(c)
	if err != nil {
		return nil, err
	}
	now := &ranking{k.h, slices.Clone(k.byCode), slices.Clone(k.urgent), slices.Clone(k.suppliers)}
	for _, id := range ids {
		e, found, err := db.One(c, func(r *db.Row) entry { return scanEntry(r, k.h, since) }, "SELECT "+entryColumns+" WHERE id = ?", id)
		if err != nil {
			return nil, err
		}
		if found {
			now.put(&e)
		}
	}
	return now, nil
}

// put puts a SKU's entry in the place of the one that there is.
func (k *ranking) put(e *entry) {
	at, found := slices.BinarySearchFunc(k.byCode, e, byCode)
	if !found {
		k.byCode = slices.Insert(k.byCode, at, e)
	} else {
		old := k.byCode[at]
		k.byCode[at] = e
		if old.status != inactive {
			k.sum(old, -1)
			i, _ := slices.BinarySearchFunc(k.urgent, old, byUrgency)
			k.urgent = slices.Delete(k.urgent, i, i+1)
		}
	}
	if e.status != inactive {
		k.sum(e, 1)
		i, _ := slices.BinarySearchFunc(k.urgent, e, byUrgency)
		k.urgent = slices.Insert(k.urgent, i, e)
	}
}

// sum adds a entry to the sums of its supplier, or with sign -1 takes it off.
func (k *ranking) sum(e *entry, sign int64) {
	of := supplierSums{name: e.supplier}
	at, found := slices.BinarySearchFunc(k.suppliers, &of, bySupplier)
	if found {
		of = *k.suppliers[at]
	} else {
		k.suppliers = slices.Insert(k.suppliers, at, nil)
	}
	of.sums[e.status].add(e, sign)
	k.suppliers[at] = &of
}

// The orders of a ranking's lists. No two SKUs are equal by them.

func byCode(a, b *entry) int { return strings.Compare(a.code, b.code) }

func byUrgency(a, b *entry) int {
	return cmp.Or(
		cmp.Compare(a.status, b.status),
		coverCompare(a.stock, a.sold, int64(a.days), b.stock, b.sold, int64(b.days)),
		strings.Compare(a.code, b.code))
}

func bySupplier(a, b *supplierSums) int { return strings.Compare(a.name, b.name) }

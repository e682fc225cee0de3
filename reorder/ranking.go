package reorder

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/words"
)

// ranking is every SKU with the figures by which lists filter, sort and add up. It is computed per request and not
// stored: 10,000 SKUs take 9 ms, and writes need not update it.
type ranking struct {
	h   horizon
	all []entry
}

// entry are the figures of a SKU by which lists filter, sort and add up.
type entry struct {
	id        int64
	code      string
	name      string // folded, while they are sorted by it
	supplier  string
	stock     exact.Milli
	sold      exact.Milli // in the window that ends today
	suggested int64
	cost      int64
	open      int64 // units to order beyond open drafts, and their cost
	openCost  int64
	days      int16 // over which the demand is spread
	status    int8  // its index in statuses; inactive
}

// inactive is the place behind the statuses of SKUs that have none.
const inactive = int8(3)

const basisColumns = `id, active, current_stock, on_order, sold, ifnull(first_sold, 2932897),
	lead_time_days, safety_stock_days, pack_size, moq, unit_cost_cents`

// scanBasis reads a SKU's forecast's basis; since is the change of its sum up to the horizon's day.
func scanBasis(r *db.Row, since windowDelta) (id int64, active bool, b basis) {
	id, active = r.Int(), r.Bool()
	return id, active, basis{id: id, stock: r.Milli(), onOrder: r.Milli(), sold: r.Milli() + since[id], firstSold: r.Day(),
		lead: r.Int(), safety: r.Int(), pack: r.Int(), moq: r.Milli(), unitCost: r.Int()}
}

// rank reads every SKU as of today.
func rank(c *db.Conn) (*ranking, error) { return rankBeside(c, nil) }

// rankBeside is rank; open is the quantity to order beyond the drafted ones by SKU id.
func rankBeside(c *db.Conn, drafted map[int64]exact.Milli) (*ranking, error) {
	h, since, err := asOfToday(c)
	if err != nil {
		return nil, err
	}
	n, _, err := db.One(c, db.Int, "SELECT count(*) FROM skus")
	if err != nil {
		return nil, err
	}
	k, suppliers := &ranking{h: h, all: make([]entry, 0, n)}, map[string]string{}
	err = db.Each(c, func(r *db.Row) error {
		k.all = append(k.all, scanEntry(r, h, since, drafted, suppliers))
		return nil
	}, "SELECT "+basisColumns+", sku, supplier FROM skus")
	return k, err
}

// scanEntry reads a SKU's entry as of the horizon's day; since is what its sum lacks by then.
// Equal suppliers share one text.
func scanEntry(r *db.Row, h horizon, since windowDelta, drafted map[int64]exact.Milli,
	suppliers map[string]string) entry {
	id, active, b := scanBasis(r, since)
	e := entry{id: id, code: r.Text(), supplier: r.Text()}
	if of, known := suppliers[e.supplier]; known {
		e.supplier = of
	} else {
		suppliers[e.supplier] = e.supplier
	}
	e.stock, e.sold, e.status = b.stock, b.sold, inactive
	e.days = int16(b.demandDays(h)) // #nosec G115 -- at most 365
	status := b.status(h)
	e.suggested, e.cost = b.order(h, status)
	if e.open, e.openCost = e.suggested, e.cost; e.open > 0 && drafted[e.id] > 0 {
		b.onOrder += drafted[e.id]
		e.open, e.openCost = b.order(h, status)
	}
	if active {
		e.status = urgency(status)
	}
	return e
}

// where returns the entries that are wanted.
func (k *ranking) where(wanted func(*entry) bool) []*entry {
	some := []*entry{}
	for i := range k.all {
		if e := &k.all[i]; wanted(e) {
			some = append(some, e)
		}
	}
	return some
}

// wants reports whether the query selects the SKU.
func (q ReportQuery) wants(e *entry) bool {
	return e.status != inactive && q.wantsStatus(statuses[e.status]) && (q.Supplier == "" || q.Supplier == e.supplier)
}

// entries are what the query asks for, most urgent first.
func (k *ranking) entries(q ReportQuery) []*entry {
	some := k.where(q.wants)
	slices.SortFunc(some, byUrgency)
	return some
}

// sumOf is the sum of entries.
type sumOf struct {
	skus, toOrder int64
	cost          exact.Int128
}

func (s *sumOf) add(e *entry) {
	s.skus++
	if e.suggested > 0 {
		s.toOrder++
	}
	s.cost = s.cost.Add(exact.Mul(e.cost, 1))
}

// cents is the cost; what no int64 holds is its largest.
func (s *sumOf) cents() int64 { return s.cost.DivRound(1) }

// reportSums are the sums over what a query asks for.
type reportSums struct {
	counts     Counts // of all active SKUs
	all        sumOf
	byStatus   []StatusSum   // most urgent first
	bySupplier []SupplierSum // most cost first
}

// sums adds up what the query asks for.
func (k *ranking) sums(q ReportQuery) reportSums {
	total := reportSums{byStatus: []StatusSum{}, bySupplier: []SupplierSum{}}
	var counts [inactive]int64
	var byStatus [inactive]sumOf
	bySupplier := map[string]*sumOf{}
	for i := range k.all {
		e := &k.all[i]
		if e.status != inactive {
			counts[e.status]++
		}
		if !q.wants(e) {
			continue
		}
		of := bySupplier[e.supplier]
		if of == nil {
			of = &sumOf{}
			bySupplier[e.supplier] = of
		}
		of.add(e)
		byStatus[e.status].add(e)
		total.all.add(e)
	}
	total.counts = Counts{counts[0], counts[1], counts[2]}
	for i, status := range statuses {
		if s := &byStatus[i]; s.skus > 0 {
			total.byStatus = append(total.byStatus, StatusSum{status, s.skus, s.cents()})
		}
	}
	for name, s := range bySupplier {
		total.bySupplier = append(total.bySupplier, SupplierSum{Supplier: name, SKUs: s.skus, ToOrder: s.toOrder,
			EstCostCents: s.cents()})
	}
	slices.SortFunc(total.bySupplier, func(a, b SupplierSum) int {
		return cmp.Or(cmp.Compare(b.EstCostCents, a.EstCostCents), strings.Compare(a.Supplier, b.Supplier))
	})
	return total
}

// place returns where in the list the SKU with the code is; -1 when it is not there.
func place(all []*entry, code string) int {
	return slices.IndexFunc(all, func(e *entry) bool { return e.code == code })
}

// walked is the share of all SKUs above which one scan of the table is faster than reading SKU by SKU.
const walked = 6

// records reads the SKUs of the entries, with their sums as of today. fn keeps no rec: the next SKU is read into it.
func (k *ranking) records(c *db.Conn, entries []*entry, fn func(i int, rec *article)) error {
	var rec article
	if len(entries) > len(k.all)/walked {
		place := make(map[int64]int32, len(entries))
		for i, e := range entries[:min(len(entries), math.MaxInt32)] {
			place[e.id] = int32(i) // #nosec G115 -- it was compared
		}
		return db.Each(c, func(r *db.Row) error {
			if i, listed := place[r.Int()]; listed {
				articles.Scan(r, &rec)
				rec.sold = entries[i].sold
				fn(int(i), &rec)
			}
			return nil
		}, "SELECT id, "+articles.Columns()+" FROM skus")
	}
	one, err := c.Prepare("SELECT " + articles.Columns() + " FROM skus WHERE id = ?")
	if err != nil {
		return err
	}
	defer one.Reset()
	for i, e := range entries {
		if err := one.Ints(e.id); err != nil {
			return err
		}
		r, err := one.Step()
		if err != nil {
			return err
		}
		if r == nil {
			return fmt.Errorf("SKU %s is gone, though SKUs are never removed", e.code)
		}
		articles.Scan(r, &rec)
		rec.sold = e.sold
		fn(i, &rec)
	}
	return nil
}

// rows returns the report's rows of the entries.
func (k *ranking) rows(c *db.Conn, entries []*entry) ([]Row, error) {
	rows := make([]Row, len(entries))
	return rows, k.records(c, entries, func(i int, rec *article) { rows[i] = rowOf(*rec, k.h) })
}

// mentioning returns the ids of the SKUs that have each word in code or name, or with barcodes
// also in the barcode.
func mentioning(c *db.Conn, text string, barcodes bool) (map[int64]bool, error) {
	found, wanted := map[int64]bool{}, words.Of(text)
	return found, db.Each(c, func(r *db.Row) error {
		id, code, name, barcode := r.Int(), r.Text(), r.Text(), r.Text()
		if wanted.In(code, name) || barcodes && wanted.In(code, name, barcode) {
			found[id] = true
		}
		return nil
	}, "SELECT id, sku, name, barcode FROM skus")
}

// sort sorts the entries by a column of ShelfSorts, with "" by code. Of two equal ones the lesser code comes first.
func (k *ranking) sort(c *db.Conn, entries []*entry, by string, falling bool) error {
	compare := byCode
	switch by {
	case "name":
		at := make(map[int64]*entry, len(entries))
		for _, e := range entries {
			at[e.id] = e
		}
		err := db.Each(c, func(r *db.Row) error {
			if e := at[r.Int()]; e != nil {
				e.name = folded(r.Text())
			}
			return nil
		}, "SELECT id, name FROM skus")
		if err != nil {
			return err
		}
		compare = func(a, b *entry) int { return strings.Compare(a.name, b.name) }
	case "supplier":
		compare = func(a, b *entry) int { return strings.Compare(folded(a.supplier), folded(b.supplier)) }
	case "stock":
		compare = func(a, b *entry) int { return cmp.Compare(a.stock, b.stock) }
	case "cover":
		compare = byUrgency
	case "order":
		compare = func(a, b *entry) int { return cmp.Compare(a.open, b.open) }
	case "cost":
		compare = func(a, b *entry) int { return cmp.Compare(a.openCost, b.openCost) }
	}
	slices.SortFunc(entries, func(a, b *entry) int {
		if falling {
			return cmp.Or(compare(b, a), byCode(a, b))
		}
		return cmp.Or(compare(a, b), byCode(a, b))
	})
	return nil
}

// The orders of lists.

func codeOf(e *entry) string { return e.code }

func byCode(a, b *entry) int { return strings.Compare(a.code, b.code) }

func byUrgency(a, b *entry) int {
	return cmp.Or(
		cmp.Compare(a.status, b.status),
		coverCompare(a.stock, a.sold, int64(a.days), b.stock, b.sold, int64(b.days)),
		strings.Compare(a.code, b.code))
}

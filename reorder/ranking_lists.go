package reorder

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"quartermaster/schema/db"
)

// of is the active SKUs of a status, Flagged or All, most urgent first. The list is not
// the caller's to change.
func (k *ranking) of(status string) []*entry {
	begin := func(status int8) int {
		return sort.Search(len(k.urgent), func(i int) bool { return k.urgent[i].status >= status })
	}
	switch status {
	case All:
		return k.urgent
	case Flagged:
		return k.urgent[:begin(urgency(Healthy))]
	case Below, Near, Healthy:
		return k.urgent[begin(urgency(status)):begin(urgency(status)+1)]
	}
	return nil
}

// entries are what the query asks for, most urgent first. The list is not the caller's to
// change.
func (k *ranking) entries(q ReportQuery) []*entry {
	all := k.of(q.Status)
	if q.Supplier == "" {
		return all
	}
	return where(all, func(e *entry) bool { return e.supplier == q.Supplier })
}

// where returns the entries that are wanted.
func where(all []*entry, wanted func(*entry) bool) []*entry {
	var some []*entry
	for _, e := range all {
		if wanted(e) {
			some = append(some, e)
		}
	}
	return some
}

// reportSums are the sums over what a query asks for.
type reportSums struct {
	counts     Counts // of all active SKUs
	all        entrySums
	byStatus   []StatusSum   // most urgent first
	bySupplier []SupplierSum // most cost first
}

// sums adds up what the query asks for.
func (k *ranking) sums(q ReportQuery) reportSums {
	total := reportSums{byStatus: []StatusSum{}, bySupplier: []SupplierSum{}}
	var counts, statusSums [inactive]entrySums
	for _, of := range k.suppliers {
		var asked entrySums
		for i := range of.sums {
			counts[i].merge(&of.sums[i])
			if q.wants(statuses[i]) && (q.Supplier == "" || q.Supplier == of.name) {
				statusSums[i].merge(&of.sums[i])
				asked.merge(&of.sums[i])
			}
		}
		if asked.skus > 0 {
			total.all.merge(&asked)
			total.bySupplier = append(total.bySupplier, SupplierSum{of.name, asked.skus, asked.toOrder, asked.cents()})
		}
	}
	total.counts = Counts{counts[0].skus, counts[1].skus, counts[2].skus}
	for i, status := range statuses {
		if s := &statusSums[i]; s.skus > 0 {
			total.byStatus = append(total.byStatus, StatusSum{status, s.skus, s.cents()})
		}
	}
	slices.SortFunc(total.bySupplier, func(a, b SupplierSum) int {
		return cmp.Or(cmp.Compare(b.EstCostCents, a.EstCostCents), strings.Compare(a.Supplier, b.Supplier))
	})
	return total
}

func (s *entrySums) merge(o *entrySums) {
	s.skus += o.skus
	s.toOrder += o.toOrder
	s.cost = s.cost.Add(o.cost)
}

// place returns where in the list the SKU with the code stands; -1 when it is not there.
func (k *ranking) place(all []*entry, code string) int {
	e := k.find(code)
	if e == nil {
		return -1
	}
	return slices.Index(all, e)
}

// find returns a SKU's entry, nil when there is none.
func (k *ranking) find(code string) *entry {
	i, found := slices.BinarySearchFunc(k.byCode, code, func(e *entry, code string) int { return strings.Compare(e.code, code) })
	if !found {
		return nil
	}
	return k.byCode[i]
}

// page returns the entries behind the SKU with the code, from the beginning when it is not
// there, at most limit of them, or with 0 all; and the code to go on with, "" at the end.
func (k *ranking) page(all []*entry, after string, limit int64) (some []*entry, next string) {
	if after != "" {
		all = all[k.place(all, after)+1:]
	}
	if limit > 0 && int64(len(all)) > limit {
		return all[:limit], all[limit-1].code
	}
	return all, ""
}

// walked is which part of all SKUs a list has when it is read quicker by one walk through
// the table than SKU by SKU.
const walked = 6

// records reads the SKUs of the entries, with their sums as of the ranking's day.
func (k *ranking) records(c *db.Conn, entries []*entry, fn func(i int, rec *record)) error {
	if len(entries) > len(k.byCode)/walked {
		place := make(map[int64]int32, len(entries))
		for i, e := range entries[:min(len(entries), math.MaxInt32)] {
			place[e.id] = int32(i) // #nosec G115 -- it was compared
		}
		return db.Each(c, func(r *db.Row) error {
			rec := scanNumbers(r)
			if i, listed := place[rec.id]; listed {
				rec.scanTexts(r)
				rec.sold = entries[i].sold
				fn(int(i), &rec)
			}
			return nil
		}, "SELECT "+columns+" FROM skus")
	}
	one, err := c.Prepare("SELECT " + columns + " FROM skus WHERE id = ?")
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
		rec := scan(r)
		rec.sold = e.sold
		fn(i, &rec)
	}
	return nil
}

// rows returns the report's rows of the entries.
func (k *ranking) rows(c *db.Conn, entries []*entry) ([]Row, error) {
	rows := make([]Row, len(entries))
	return rows, k.records(c, entries, func(i int, rec *record) { rows[i] = rowOf(*rec, k.h) })
}

// lookFor returns the SKUs whose code or name, or with barcodes also whose barcode, has the
// text in it, in any case; with "" all. They are in the order of their codes, and the list
// is not the caller's to change.
func (k *ranking) lookFor(c *db.Conn, text string, barcodes bool) (found []*entry, err error) {
	if text == "" {
		return k.byCode, nil
	}
	q, wanted := CatalogueQuery{Q: text}, folded(text)
	if !barcodes {
		if err := q.narrow(c); err != nil {
			return nil, err
		}
	}
	query, args := q.statement()
	err = db.Each(c, func(r *db.Row) error {
		rec := scanNumbers(r)
		if rec.scanNames(r); !rec.mentions(wanted) {
			if !barcodes {
				return nil
			}
			if rec.scanRest(r); !hasFolded(rec.Barcode, wanted) {
				return nil
			}
		}
		if e := k.find(rec.Code); e != nil {
			found = append(found, e)
		}
		return nil
	}, query, args...)
	return found, err
}

// sorted returns the entries in the order of a column of ShelfSorts, with "" as they are. Of two
// that are alike the one that came first comes first. The given list is not changed.
func (k *ranking) sorted(c *db.Conn, entries []*entry, by string, falling bool) ([]*entry, error) {
	compare := byCode
	switch by {
	case "":
		return entries, nil
	case "name":
		names := make(map[int64]string, len(entries))
		if err := k.records(c, entries, func(_ int, rec *record) { names[rec.id] = folded(rec.Name) }); err != nil {
			return nil, err
		}
		compare = func(a, b *entry) int { return strings.Compare(names[a.id], names[b.id]) }
	case "supplier":
		compare = func(a, b *entry) int { return strings.Compare(folded(a.supplier), folded(b.supplier)) }
	case "stock":
		compare = func(a, b *entry) int { return cmp.Compare(a.stock, b.stock) }
	case "cover":
		compare = byUrgency
	case "order":
		compare = func(a, b *entry) int { return cmp.Compare(a.suggested, b.suggested) }
	case "cost":
		compare = func(a, b *entry) int { return cmp.Compare(a.cost, b.cost) }
	}
	entries = slices.Clone(entries)
	slices.SortStableFunc(entries, func(a, b *entry) int {
		if falling {
			a, b = b, a
		}
		return compare(a, b)
	})
	return entries, nil
}

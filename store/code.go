package store

import (
	"context"
	"slices"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// Batch sums up redeem codes minted under one name. The codes themselves are shown only at minting.
type Batch struct {
	Batch     string        `json:"batch"`
	SKU       string        `json:"sku"`
	Tier      *string       `json:"tier"`
	Total     int64         `json:"total"`
	Unused    int64         `json:"unused"`
	Redeemed  int64         `json:"redeemed"`
	Void      int64         `json:"void"`
	CreatedAt exact.Instant `json:"created_at"`

	id, product int64
}

const (
	codeUnused   = "unused"
	codeRedeemed = "redeemed"
	codeVoid     = "void"
)

var codeStatuses = []string{codeUnused, codeRedeemed, codeVoid}

const (
	batchColumns = "b.id, b.product_id, b.batch, p.sku, b.tier, b.unused, b.redeemed, b.void, b.created_at"
	batchTables  = "store_batches b CROSS JOIN store_products p ON p.id = b.product_id"
)

func scanBatch(r *db.Row) Batch {
	b := Batch{
		id: r.Int(), product: r.Int(), Batch: r.Text(), SKU: r.Text(), Tier: r.TextPtr(),
		Unused: r.Int(), Redeemed: r.Int(), Void: r.Int(), CreatedAt: r.Instant(),
	}
	b.Total = b.Unused + b.Redeemed + b.Void
	return b
}

func lookUpBatch(c *db.Conn, name string) (Batch, bool, error) {
	return db.One(c, scanBatch, "SELECT "+batchColumns+" FROM "+batchTables+" WHERE b.batch = ?", name)
}

// BatchPage is one page of batches.
type BatchPage struct {
	Batches []Batch `json:"batches"`
	Next    *int64  `json:"next" about:"send this as after for the next page; null at the end"`
}

// Batches lists batches, newest first. A batch restricts to that name, a status to batches with codes of that status.
func (s *Service) Batches(ctx context.Context, batch, status string, p schema.Cursor[int64]) (BatchPage, error) {
	return db.Read(ctx, s.db, func(c *db.Conn) (page BatchPage, err error) {
		page.Batches, err = listBatches(c, batch, status, p)
		page.Batches, page.Next = schema.Cut(page.Batches, p.Limit, func(b Batch) int64 { return b.id })
		return page, err
	})
}

func listBatches(c *db.Conn, batch, status string, p schema.Cursor[int64]) ([]Batch, error) {
	where, args := "b.id < ?", []any{below(p)}
	if slices.Contains(codeStatuses, status) { // each has an index of its own
		where += " AND b." + status + " > 0"
	}
	if batch != "" {
		where, args = where+" AND b.batch = ?", append(args, batch)
	}
	return db.All(c, scanBatch, "SELECT "+batchColumns+" FROM "+batchTables+" WHERE "+where+
		" ORDER BY b.id DESC LIMIT ?", append(args, p.Fetch())...)
}

// Voided is a batch whose unused codes can no longer be redeemed.
type Voided struct {
	Batch
	Voided int64 `json:"voided" about:"codes that were unused until now"`
}

// VoidBatch makes every unused code of a batch void; redeemed ones stay. An unknown
// batch is refused as not found.
func (s *Service) VoidBatch(ctx context.Context, who db.Caller, batch string) (Voided, error) {
	return db.Update(ctx, s.db, who, func(tx *db.Tx) (Voided, error) { return void(tx, batch) })
}

func void(tx *db.Tx, batch string) (Voided, error) {
	b, found, err := lookUpBatch(&tx.Conn, batch)
	switch {
	case err != nil:
		return Voided{}, err
	case !found:
		return Voided{}, noBatch(batch)
	case b.Unused == 0:
		return Voided{Batch: b}, nil
	}
	n, err := tx.Exec("UPDATE store_codes SET status = 'void' WHERE batch_id = ? AND status = 'unused'", b.id)
	if err != nil {
		return Voided{}, err
	}
	v := Voided{Batch: b, Voided: int64(n)}
	v.Unused, v.Void = b.Unused-v.Voided, b.Void+v.Voided
	countCodes(tx, b.id, codeVoid, v.Voided)
	return v, tx.Audit("codes.voided", "batch:"+b.Batch, map[string]int64{"voided": v.Voided})
}

// countCodes moves n codes of a batch from unused to another status in every count.
func countCodes(tx *db.Tx, batch int64, to string, n int64) {
	update := "UPDATE store_batches SET unused = unused - ?1, void = void + ?1 WHERE id = ?2"
	if to == codeRedeemed {
		update = "UPDATE store_batches SET unused = unused - ?1, redeemed = redeemed + ?1 WHERE id = ?2"
	}
	tx.Do(update, n, batch)
	add(tx, codesPrefix+codeUnused, -n)
	add(tx, codesPrefix+to, n)
}

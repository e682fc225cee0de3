package store

import (
	"context"
	"strconv"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// Batch sums up redeem codes that were minted under one name. The codes themselves
// are known only to those who were given them.
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
	Next    *int64  `json:"next" about:"after of the next page; null at the end"`
}

// Batches lists batches, the newest first. A batch that is not empty keeps the one of
// that name, a status those that have codes of that status.
func (s *Service) Batches(ctx context.Context, batch, status string, p Page) (BatchPage, error) {
	return view(ctx, s.db, func(c *db.Conn) (page BatchPage, err error) {
		page.Batches, err = listBatches(c, batch, status, p)
		page.Batches, page.Next = cut(p, page.Batches, func(b Batch) int64 { return b.id })
		return page, err
	})
}

func listBatches(c *db.Conn, batch, status string, p Page) ([]Batch, error) {
	if batch == "" {
		return db.All(c, scanBatch, batchesWith(status), p.below(), p.ask())
	}
	b, found, err := lookUpBatch(c, batch)
	if err != nil || !found || !b.has(status) || b.id >= p.below() {
		return []Batch{}, err
	}
	return []Batch{b}, nil
}

// batchesWith is the statement that lists the batches that have codes of a status.
// Each status has an index of its own.
func batchesWith(status string) string {
	where := ""
	switch status {
	case codeUnused:
		where = "b.unused > 0 AND "
	case codeRedeemed:
		where = "b.redeemed > 0 AND "
	case codeVoid:
		where = "b.void > 0 AND "
	}
	return "SELECT " + batchColumns + " FROM " + batchTables + " WHERE " + where + "b.id < ? ORDER BY b.id DESC LIMIT ?"
}

// has tells whether the batch has codes of the status; every batch has of none in
// particular.
func (b Batch) has(status string) bool {
	switch status {
	case codeUnused:
		return b.Unused > 0
	case codeRedeemed:
		return b.Redeemed > 0
	case codeVoid:
		return b.Void > 0
	}
	return true
}

// Minted is what minting gives: the codes, this once.
type Minted struct {
	Batch string   `json:"batch"`
	SKU   string   `json:"sku"`
	Tier  *string  `json:"tier"`
	Count int64    `json:"count"`
	Codes []string `json:"codes" about:"in plain text this once; a replay of the answer holds none"`
}

// Kept is the answer without the codes: they are kept nowhere.
func (m Minted) Redacted() any {
	m.Codes = []string{}
	return m
}

const maxMint = 1000

// MintCodes makes count codes for a product and gives them, this once. batch "" makes
// a new one, named after the time and the sku; the name of one that is there adds to
// it. Refused: a count out of 1 to 1000, a sku of no active licensed product, a tier
// that it does not have, a batch name out of [A-Za-z0-9._-]{1,64}, a batch of another
// sku or tier (conflict).
func (s *Service) MintCodes(ctx context.Context, who db.Caller, count int64, sku, tier, batch string) (Minted, error) {
	if count < 1 || count > maxMint {
		return Minted{}, fault.Fieldf("count", "count: %d is out of range; it takes 1 to %d", count, maxMint)
	}
	if batch != "" && !isBatchName(batch) {
		return Minted{}, fault.Fieldf("batch", "batch: %s is not allowed; it takes 1 to 64 of A-Z, a-z, 0-9, ., _ and -", schema.Quote(batch))
	}
	codes := make([]string, count)
	digests := make([][]byte, count)
	for i := range codes {
		codes[i] = newCode()
		digests[i] = digest(codes[i], codeLength)
	}
	return db.Update(ctx, s.db, who, func(tx *db.Tx) (Minted, error) {
		p, err := mintable(tx, sku, tier)
		if err != nil {
			return Minted{}, err
		}
		b, err := ensureBatch(tx, batch, p, tier)
		if err != nil {
			return Minted{}, err
		}
		if err := storeCodes(tx, b.id, digests); err != nil {
			return Minted{}, err
		}
		err = tx.Audit("codes.minted", "batch:"+b.Batch, map[string]any{"sku": p.SKU, "tier": orNil(tier), "count": count})
		return Minted{Batch: b.Batch, SKU: p.SKU, Tier: orNil(tier), Count: count, Codes: codes}, err
	})
}

const mostBatchName = 64

func isBatchName(s string) bool {
	return len(s) >= 1 && len(s) <= mostBatchName && madeOf(s, "._-", true)
}

func mintable(tx *db.Tx, sku, tier string) (Product, error) {
	p, err := findProduct(&tx.Conn, sku)
	switch {
	case err != nil:
		return p, err
	case p.Kind != kindLicense:
		return p, fault.Fieldf("sku", "sku: %s is not licensed (its kind is %s); codes are for products of the kind license", p.SKU, p.Kind)
	case !p.Active:
		return p, fault.Fieldf("sku", "sku: %s is not active; codes are for active products", p.SKU)
	}
	return p, p.takesTier(tier)
}

// ensureBatch gives the batch of the name, or a new one.
func ensureBatch(tx *db.Tx, name string, p Product, tier string) (Batch, error) {
	if name == "" {
		free, err := freeBatchName(tx, p.SKU)
		if err != nil {
			return Batch{}, err
		}
		name = free
	}
	b, found, err := lookUpBatch(&tx.Conn, name)
	switch {
	case err != nil:
		return b, err
	case found && (b.product != p.id || textOr(b.Tier, "") != tier):
		return b, fault.Conflictf("batch: %s holds codes for %s, tier %s; give another name", name, b.SKU, textOr(b.Tier, "none"))
	case found:
		return b, nil
	}
	b = Batch{Batch: name, SKU: p.SKU, Tier: orNil(tier), CreatedAt: tx.Now(), product: p.id}
	b.id, err = tx.Insert("INSERT INTO store_batches (batch, product_id, tier, created_at) VALUES (?, ?, ?, ?)", name, p.id, b.Tier, tx.Now())
	return b, err
}

// freeBatchName is YYYYMMDD-HHMMSS-<sku> by the shop's clock, or the first of it with
// -2, -3 and so on that no batch has. What a batch's name may not hold is a hyphen in
// the sku's part, which is cut where the name would grow too long.
func freeBatchName(tx *db.Tx, sku string) (string, error) {
	part := strings.Map(func(r rune) rune {
		if r < 128 && madeOf(string(r), "._-", true) {
			return r
		}
		return '-'
	}, sku)
	base := tx.Now().Time().In(tx.Zone()).Format("20060102-150405-") + part
	for n := 1; ; n++ {
		number := ""
		if n > 1 {
			number = "-" + strconv.Itoa(n)
		}
		name := base[:min(len(base), mostBatchName-len(number))] + number
		_, taken, err := lookUpBatch(&tx.Conn, name)
		if err != nil || !taken {
			return name, err
		}
	}
}

func storeCodes(tx *db.Tx, batch int64, digests [][]byte) error {
	q, err := tx.Change("INSERT INTO store_codes (hash, batch_id, status) VALUES (?, ?, 'unused')")
	if err != nil {
		return err
	}
	for _, d := range digests {
		if err := q.Args(d, batch); err != nil {
			return err
		}
		if err := q.Run(); err != nil {
			return err
		}
	}
	n := int64(len(digests))
	if _, err := tx.Exec("UPDATE store_batches SET unused = unused + ? WHERE id = ?", n, batch); err != nil {
		return err
	}
	return add(tx, codesPrefix+codeUnused, n)
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
		return Voided{}, fault.NotFoundf("there is no batch %s", schema.Quote(batch))
	case b.Unused == 0:
		return Voided{Batch: b}, nil
	}
	n, err := tx.Exec("UPDATE store_codes SET status = 'void' WHERE batch_id = ? AND status = 'unused'", b.id)
	if err != nil {
		return Voided{}, err
	}
	v := Voided{Batch: b, Voided: int64(n)}
	v.Unused, v.Void = b.Unused-v.Voided, b.Void+v.Voided
	if err := countCodes(tx, b.id, codeVoid, v.Voided); err != nil {
		return v, err
	}
	return v, tx.Audit("codes.voided", "batch:"+b.Batch, map[string]int64{"voided": v.Voided})
}

// countCodes moves n codes of a batch from unused to another status in every count.
func countCodes(tx *db.Tx, batch int64, to string, n int64) error {
	update := "UPDATE store_batches SET unused = unused - ?1, void = void + ?1 WHERE id = ?2"
	if to == codeRedeemed {
		update = "UPDATE store_batches SET unused = unused - ?1, redeemed = redeemed + ?1 WHERE id = ?2"
	}
	if _, err := tx.Exec(update, n, batch); err != nil {
		return err
	}
	if err := add(tx, codesPrefix+codeUnused, -n); err != nil {
		return err
	}
	return add(tx, codesPrefix+to, n)
}

func (s *Service) listBatches() schema.Op {
	return schema.Op{
		Route: "GET /api/redeem-codes",
		About: "Batches of redeem codes, the newest first, each summed up by status. The codes themselves are shown at minting only.",
		Response: BatchPage{Batches: []Batch{{
			Batch: "launch", SKU: "PLUGIN", Tier: &exampleTier, Total: 50, Unused: 41, Redeemed: 9, CreatedAt: exampleInstant,
		}}},
		Bind: func(f *schema.Form) schema.Handler {
			var batch, status string
			var p Page
			f.Text(&batch, "batch", "only the batch of this name", schema.Most(200), schema.Example("launch"))
			f.Enum(&status, "status", "only batches that have codes in this status", []string{codeUnused, codeRedeemed, codeVoid})
			p.bind(f)
			return func(ctx context.Context, _ db.Caller) (any, error) { return s.Batches(ctx, batch, status, p) }
		},
	}
}

func (s *Service) mintCodes() schema.Op {
	return schema.Op{
		Route:  "POST /api/redeem-codes",
		About:  "Mint redeem codes. They are given in plain text this once and stored only as hashes; the answer kept for an Idempotency-Key holds none.",
		Writes: true, Creates: true,
		Response: Minted{Batch: "launch", SKU: "PLUGIN", Tier: &exampleTier, Count: 2, Codes: []string{"7Q4Z-J0M3-RT9W-XYAB", "CDEF-GH2K-5MNP-QRST"}},
		Bind: func(f *schema.Form) schema.Handler {
			var count int64
			var sku, tier, batch string
			f.Int(&count, "count", "how many codes", schema.Range(1, maxMint), schema.Required, schema.Example(2))
			f.Text(&sku, "sku", "an active product of the kind license", schema.Required, schema.Most(200), schema.Example("PLUGIN"))
			f.Text(&tier, "tier", "one of the product's tiers; any of [a-z0-9_-]{1,32} if it has none", schema.Most(200), schema.Example("pro"))
			f.Text(&batch, "batch", "the batch's name, [A-Za-z0-9._-]{1,64}; one that is there is added to; without it a new one is named after the time and the sku",
				schema.Most(200), schema.Example("launch"))
			return func(ctx context.Context, who db.Caller) (any, error) {
				return s.MintCodes(ctx, who, count, sku, tier, batch)
			}
		},
	}
}

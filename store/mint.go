package store

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// Minted are the minted codes, shown only once.
type Minted struct {
	Batch string   `json:"batch"`
	SKU   string   `json:"sku"`
	Tier  *string  `json:"tier"`
	Count int64    `json:"count"`
	Codes []string `json:"codes" about:"in plain text, shown only now; a replay of the answer has none"`

	product Product // as it was then
}

// Product is what people call the product that the codes are for.
func (m Minted) Product() string { return m.product.Name }

// Ends says when what a code gives ends.
func (m Minted) Ends() string {
	switch {
	case m.product.Kind != kindLicense:
		return "Each gives a download."
	case m.product.LicenseDays == nil:
		return "Each gives a license without an end."
	}
	return fmt.Sprintf("Each gives a license of %s from the day it is redeemed.",
		exact.Plural(*m.product.LicenseDays, "day", "days"))
}

// Redacted is the answer without the codes, which are stored nowhere.
func (m Minted) Redacted() any {
	m.Codes = []string{}
	return m
}

const maxMint = 1000

// Minting asks for codes of a product. Batch "" is a new one, named after the time and the SKU; an existing name adds
// to it.
type Minting struct {
	Count            int64
	SKU, Tier, Batch string
}

// mintCodes makes count codes for a product and returns them, only once. batch "" makes a new one, named after the time
// and the sku; an existing name adds to it. Refused: a count out of 1 to 1000, a sku of no active licensed product, an
// unknown tier, a batch name out of [A-Za-z0-9._-]{1,64}, a batch of another sku or tier (conflict).
func mintCodes(tx *db.Tx, n Minting) (m Minted, err error) {
	if n.Batch != "" && !isBatchName(n.Batch) {
		return m, fault.Fieldf("batch", "batch: %s is not allowed; it takes 1 to 64 of A-Z, a-z, 0-9, ., _ and -",
			schema.Quote(n.Batch))
	}
	p, err := mintable(tx, n.SKU, n.Tier)
	if err != nil {
		return m, err
	}
	b, err := ensureBatch(tx, n.Batch, p, n.Tier)
	if err != nil {
		return m, err
	}
	m = Minted{Batch: b.Batch, SKU: p.SKU, Tier: db.NullText(n.Tier), Count: n.Count, product: p}
	digests := make([][]byte, n.Count)
	for i := range digests {
		m.Codes = append(m.Codes, newCode())
		digests[i] = digest(m.Codes[i], codeLength)
	}
	storeCodes(tx, b.id, digests)
	return m, tx.Audit("codes.minted", "batch:"+b.Batch, map[string]any{"sku": p.SKU, "tier": m.Tier, "count": n.Count})
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
	case p.Kind == kindOther:
		return p, fault.Fieldf("sku",
			"sku: %s is not licensed (its kind is %s); codes are for products of the kind license or download", p.SKU, p.Kind)
	case !p.Active:
		return p, fault.Fieldf("sku", "sku: %s is not active; codes are for active products", p.SKU)
	}
	return p, p.takesTier(tier)
}

// ensureBatch returns the batch of the name, or a new one.
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
	case found && (b.product != p.id || schema.Cell(b.Tier) != tier):
		return b, fault.Conflictf("batch: %s has codes for %s, tier %s; choose another name", name, b.SKU, cmp.Or(schema.Cell(b.Tier), "none"))
	case found:
		return b, nil
	}
	b = Batch{Batch: name, SKU: p.SKU, Tier: db.NullText(tier), CreatedAt: tx.Now(), product: p.id}
	b.id, err = tx.Insert("INSERT INTO store_batches (batch, product_id, tier, created_at) VALUES (?, ?, ?, ?)", name,
		p.id, b.Tier, tx.Now())
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

func storeCodes(tx *db.Tx, batch int64, digests [][]byte) {
	for _, d := range digests {
		tx.Do("INSERT INTO store_codes (hash, batch_id, status) VALUES (?, ?, 'unused')", d, batch)
	}
	n := int64(len(digests))
	tx.Do("UPDATE store_batches SET unused = unused + ? WHERE id = ?", n, batch)
	add(tx, codesPrefix+codeUnused, n)
}

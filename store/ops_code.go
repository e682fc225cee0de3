package store

import (
	"context"
	"fmt"
	"io"
	"net/url"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

func batchLeads(name string) string { return "/redeem-codes/" + url.PathEscape(name) }

func exampleBatch() Batch {
	return Batch{Batch: "launch", SKU: "PLUGIN", Tier: &exampleTier, Total: 50, Unused: 41, Redeemed: 9,
		CreatedAt: exampleInstant}
}

func printBatches(w io.Writer, p BatchPage) {
	schema.Tabulate(w, "BATCH|PRODUCT|TIER|CODES|UNUSED|REDEEMED|VOID|MADE", p.Batches, func(b Batch) []any {
		return []any{b.Batch, b.SKU, schema.Cell(b.Tier), b.Total, b.Unused, b.Redeemed, b.Void, b.CreatedAt}
	})
}

func (s *Service) listBatches() schema.Op {
	return schema.Op{
		Name: "list_batches",
		About: "Batches of redeem codes, newest first, with counts by status. The codes themselves are shown only when " +
			"minted.",
		Response: BatchPage{Batches: []Batch{exampleBatch()}},
		Example:  "store batches list --status unused",
		Print:    schema.Printed(printBatches),
		Bind: schema.Reads3(func(f *schema.Form, batch *string, status *string, p *schema.Cursor[int64]) {
			f.Text(batch, "batch", "only the batch of this name", schema.Most(200), schema.Example("launch"))
			f.Enum(status, "status", "only batches that have codes in this status", codeStatuses)
			bindCursor(f, p)
		}, s.Batches),
	}
}

// Batch returns one batch. A name that no batch has is refused as not found.
func (s *Service) Batch(ctx context.Context, name string) (Batch, error) {
	return db.Read(ctx, s.db, func(c *db.Conn) (Batch, error) {
		b, found, err := lookUpBatch(c, name)
		if err == nil && !found {
			err = noBatch(name)
		}
		return b, err
	})
}

func noBatch(name string) error { return fault.NotFoundf("there is no batch %s", schema.Quote(name)) }

func (s *Service) batchDetail() schema.Op {
	return schema.Op{
		Name: "batch_detail", About: "One batch of redeem codes, with counts by status.", Response: exampleBatch(),
		Refuses: []fault.Kind{fault.NotFound},
		Example: "store batches show launch",
		Leads:   schema.Of(func(b Batch) string { ; return batchLeads(b.Batch) }),
		Print:   schema.Printed(func(w io.Writer, b Batch) { ; printBatches(w, BatchPage{Batches: []Batch{b}}) }),
		Bind:    schema.Reads(bindBatch, s.Batch),
	}
}

func bindBatch(f *schema.Form, batch *string) {
	f.Text(batch, "batch", "the batch's name", schema.Required, schema.Most(200), schema.Positional("BATCH"),
		schema.Example("launch"), schema.Choices(batchChoices))
}

func (s *Service) mintCodes() schema.Op {
	return schema.Op{
		Name:   "mint_codes",
		About:  "Mint redeem codes. They are shown only now and stored as hashes; a replayed answer has none.",
		Writes: true, Creates: true, Credential: true,
		Response: Minted{Batch: "launch", SKU: "PLUGIN", Tier: &exampleTier, Count: 2,
			Codes: []string{"7Q4Z-J0M3-RT9W-XYAB", "CDEF-GH2K-5MNP-QRST"}},
		Example: "store codes mint --count 20 --sku PLUGIN --tier pro --batch launch-2026",
		Print: schema.Printed(func(w io.Writer, m Minted) {
			for _, code := range m.Codes {
				fmt.Fprintln(w, code)
			}
		}),
		Did: schema.Said(func(m Minted) string {
			return fmt.Sprintf("%s of batch %s are minted.", exact.Plural(m.Count, "code", "codes"), m.Batch)
		}),
		Leads: schema.Of(func(m Minted) string { ; return batchLeads(m.Batch) }),
		Bind: schema.Writes(s.db, func(f *schema.Form, m *Minting) {
			f.Int(&m.Count, "count", "how many codes", schema.Range(1, maxMint), schema.Required, schema.Example(2))
			f.Text(&m.SKU, "sku", "an active product of the kind license or download", schema.Required, schema.Most(200),
				schema.Label("Product"), schema.Choices(anyMintable), schema.NewBy("save_product"), schema.Example("PLUGIN"))
			f.Text(&m.Tier, "tier", "one of the product's tiers; any of [a-z0-9_-]{1,32} if it has none", schema.Most(200),
				schema.Help("One of the product's tiers, if it has some."),
				schema.Example("pro"))
			f.Text(&m.Batch, "batch", "the batch's name, [A-Za-z0-9._-]{1,64}; an existing batch grows; without it a new batch "+
				"is named after time and SKU",
				schema.Most(200), schema.Example("launch"), schema.Choices(batchChoices), schema.Any,
				schema.Help("Letters A to Z, digits, dots and hyphens. A batch that exists grows. Without a name, one is made "+
					"from time and SKU."))
		}, mintCodes),
	}
}

func (s *Service) voidCodes() schema.Op {
	return schema.Op{
		Name: "void_codes", About: "Void the unused codes of a batch; redeemed ones stay.",
		Writes: true, Destructive: true, Response: Voided{Batch: exampleBatch(), Voided: 41},
		Refuses: []fault.Kind{fault.NotFound},
		Example: "store codes void launch-2026",
		Print: schema.Printed(func(w io.Writer, v Voided) {
			fmt.Fprintf(w, "batch %s: %d codes voided\n", v.Batch.Batch, v.Voided)
		}),
		Did: schema.Said(func(v Voided) string {
			return fmt.Sprintf("%s of batch %s are void.", exact.Plural(v.Voided, "code", "codes"), v.Batch.Batch)
		}),
		Thing: schema.Of(func(v Voided) string {
			return exact.Plural(v.Voided, "code", "codes") + " of batch " +
				v.Batch.Batch
		}),
		Will: schema.Said(func(v Voided) string {
			return fmt.Sprintf("%s of batch %s, not yet redeemed, will be void for good; %d redeemed ones stay.",
				exact.Plural(v.Voided, "code", "codes"), v.Batch.Batch, v.Redeemed)
		}),
		Leads: schema.Of(func(v Voided) string { ; return batchLeads(v.Batch.Batch) }),
		Bind:  schema.Writes(s.db, bindBatch, void),
	}
}

package page

import (
	"context"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/page"
	"quartermaster/store"
)

func seatName(a store.Activation) string {
	if a.Label != "" {
		return a.Label
	}
	return "seat " + page.Num(a.ID)
}

type batchesView struct {
	store.BatchPage
	total int64
}

func batches(s *store.Service) page.Page {
	return page.New(page.Spec[batchesView]{
		Path: "/redeem-codes", Title: "Redeem codes", Menu: "Redeem codes", Key: "r",
		Load: func(f *schema.Form) page.Loader[batchesView] {
			var name, status string
			var p page.Paging
			p.Bind(f, batchSorts.Names()...)
			f.Text(&name, "batch", "Only the batch of this name", schema.Most(200), schema.Label("Batch"))
			f.Enum(&status, "status", "Only batches with codes of this status", []string{"unused", "redeemed", "void"})
			return func(ctx context.Context, _ db.Caller) (batchesView, error) {
				list, err := s.Batches(ctx, name, status, schema.Cursor[int64]{})
				if err != nil {
					return batchesView{}, err
				}
				v := batchesView{list, int64(len(list.Batches))}
				v.Batches, v.Next = page.Arrange(p, list.Batches, batchSorts)
				return v, nil
			}
		},
		View: Batches,
		CSV: func(v batchesView) page.Sheet {
			return page.SheetOf("redeem-codes", []string{"batch", "sku", "tier", "total", "unused", "redeemed",
				"void", "created_at"}, v.Batches, func(b store.Batch) []string {
				return []string{b.Batch, b.SKU, schema.Cell(b.Tier), page.Num(b.Total), page.Num(b.Unused),
					page.Num(b.Redeemed), page.Num(b.Void), b.CreatedAt.String()}
			})
		},
	})
}

type batchView struct{ store.Batch }

// PageTitle is the batch's name.
func (v batchView) PageTitle() string { return v.Batch.Batch }

func batch(s *store.Service) page.Page {
	return page.New(page.Spec[batchView]{
		Path: "/redeem-codes/:batch", Title: "Batch",
		Load: func(f *schema.Form) page.Loader[batchView] {
			var name string
			f.Text(&name, "batch", "The batch", schema.InPath("batch"), schema.Most(200))
			return func(ctx context.Context, _ db.Caller) (batchView, error) {
				b, err := s.Batch(ctx, name)
				return batchView{b}, err
			}
		},
		View: BatchPage,
	})
}

// batchActs are the actions on a batch; voiding needs codes that are unused.
func batchActs(b store.Batch) []page.Action {
	acts := []page.Action{page.Open("Mint more", "mint_codes", "batch", b.Batch, "sku", b.SKU, "tier",
		schema.Cell(b.Tier)).Main().Key("n")}
	if b.Unused > 0 {
		acts = append(acts, page.Open("Void unused codes", "void_codes", "batch", b.Batch).Danger())
	}
	return acts
}

type productsView struct {
	store.ProductPage
	total int64
	next  *int64
}

func products(s *store.Service) page.Page {
	return page.New(page.Spec[productsView]{
		Path: "/products", Title: "Products", Menu: "Products", Key: "p",
		Load: func(f *schema.Form) page.Loader[productsView] {
			var x store.ProductFilter
			var p page.Paging
			p.Bind(f, productSorts.Names()...)
			f.Enum(&x.Kind, "kind", "Only this kind", []string{"license", "download", "other"})
			f.Enum(&x.Active, "active", "Only active ones, or only inactive ones", []string{"true", "false"})
			x.Q = p.Q
			return func(ctx context.Context, _ db.Caller) (productsView, error) {
				list, err := s.Products(ctx, x)
				if err != nil {
					return productsView{}, err
				}
				v := productsView{ProductPage: list, total: int64(len(list.Products))}
				v.Products, v.next = page.Arrange(p, list.Products, productSorts)
				return v, nil
			}
		},
		View: Products,
		CSV: func(v productsView) page.Sheet {
			return page.SheetOf("products", []string{"sku", "name", "kind", "price_cents", "activation_limit", "license_days",
				"tiers", "active"}, v.Products, store.ProductCells)
		},
	})
}

func unbooked(s *store.Service) page.Page {
	return page.New(page.Spec[store.UnbookedList]{
		Path: "/unbooked", Title: "Payments that could not be booked", Menu: "Unbooked", Key: "u",
		Load: page.Always(func(ctx context.Context, _ db.Caller) (store.UnbookedList, error) {
			return s.Unbooked(ctx)
		}),
		View: UnbookedPayments,
	})
}

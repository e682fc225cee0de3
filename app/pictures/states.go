package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/chromedp/chromedp"
)

// states shows pages without a link: refused forms, questions, one-time secrets, errors.
func (c *camera) states(ctx context.Context, bases []string) error {
	store, maintenance, rental, reorder := bases[0], bases[1], bases[2], bases[3]
	shown := func(name string, err error) error {
		if err == nil {
			c.pages++
			err = errors.Join(chromedp.Do(ctx, chromedp.EmulateViewport(narrowest, 640)), c.present(ctx, name, "state-"+name))
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return nil
	}
	for _, s := range []struct {
		name, address string
		fields        []string
	}{
		{"refused", reorder + "/do/save_sku?sku=OFF-001", []string{"[name=unit_cost]", "1.2.3.4", "[name=lead_time_days]",
			"soon"}},
		{"key", store + "/do/create_key?user=demo&service=store&scope=read", nil},
		{"codes", store + "/do/mint_codes?sku=PLUGIN&tier=basic&count=4&expires_at=2030-01-01T00:00:00Z&batch=pictures", nil},
		{"refused-one", store + "/do/mint_codes?sku=NONE&count=4", nil},
		{"letter", rental + "/do/invite_tenant?tenant_id=2", nil},
		{"moved", maintenance + "/do/advance_status?id=8&status=in_progress", nil},
	} {
		if err := shown(s.name, submit(ctx, s.address, s.fields...)); err != nil {
			return err
		}
	}
	for _, s := range []struct{ name, address, file, cells string }{
		{"preview", reorder + "/import/skus", "skus.csv",
			"sku,name,supplier,unit_cost_cents,lead_time_days\nNEW-1,A new thing,Acme,450,7\nNEW-2,Another,Acme,four fifty,7\n"},
		{"preview-map", rental + "/import/payments", "bank.csv",
			"Day;Wer;Was\n01.11.2026;Ana;1.234,50\n02.11.2026;Ben;980,00\n"},
		{"preview-refused", maintenance + "/import/assets", "assets.xlsx", "this is no spreadsheet"},
	} {
		if err := shown(s.name, upload(ctx, s.address, s.file, s.cells)); err != nil {
			return err
		}
	}
	for name, address := range map[string]string{"question": rental + "/do/end_lease?lease_id=1&date=2027-03-31",
		"missing": store + "/nix", "nothing": store + "/orders?q=nothing+like+this", "found": maintenance + "/search?q=lathe",
		"filter": maintenance + "/work-orders?status=nix"} {
		if err := c.shots(ctx, address, "state-"+name); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// upload sends a file by the form of the address.
func upload(ctx context.Context, address, name, cells string) error {
	if err := chromedp.Do(ctx, chromedp.Navigate(address), chromedp.WaitReady("main")); err != nil {
		return err
	}
	put := fmt.Sprintf(
		`(() => { const t = new DataTransfer(); t.items.add(new File([%q], %q)); document.querySelector("[type=file]").files = t.files; return true })()`, cells, name)
	if _, err := chromedp.Run(ctx, chromedp.Evaluate[bool](put)); err != nil {
		return err
	}
	return submit(ctx, "")
}

// letter makes a tenant's invitation and returns its link.
func (c *camera) letter(ctx context.Context, rental string) (string, error) {
	if err := submit(ctx, rental+"/do/invite_tenant?tenant_id=1"); err != nil {
		return "", err
	}
	return chromedp.Run(ctx,
		chromedp.Evaluate[string](
			`document.querySelector("main").textContent.match(/https?:\S+\/portal\/welcome\/\S+/)?.[0] ?? ""`))
}

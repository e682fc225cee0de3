// Command clients reads a running appliance with the clients that oapi-codegen generated of
// its four documents. Arguments: for each service its address and its key.
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"

	"clients/check"
	"clients/maintenance"
	"clients/rental"
	"clients/reorder"
	"clients/store"
)

func main() {
	auth := func(key string) func(context.Context, *http.Request) error {
		return func(_ context.Context, r *http.Request) error {
			r.Header.Set("Authorization", "Bearer "+key)
			return nil
		}
	}
	a := os.Args[1:]
	s, _ := store.NewClientWithResponses(a[0], store.WithRequestEditorFn(auth(a[1])))
	m, _ := maintenance.NewClientWithResponses(a[2], maintenance.WithRequestEditorFn(auth(a[3])))
	r, _ := rental.NewClientWithResponses(a[4], rental.WithRequestEditorFn(auth(a[5])))
	o, _ := reorder.NewClientWithResponses(a[6], reorder.WithRequestEditorFn(auth(a[7])))

	orders, err := s.ListOrdersWithResponse(context.Background(), nil)
	if err != nil || orders.JSON200 == nil {
		fmt.Fprintln(os.Stderr, "orders:", err)
		os.Exit(1)
	}
	licenses, err := s.ListLicensesWithResponse(context.Background(), &store.ListLicensesParams{})
	if err != nil || licenses.JSON200 == nil {
		fmt.Fprintln(os.Stderr, "licenses:", err)
		os.Exit(1)
	}
	ref, key := orders.JSON200.Orders[0].OrderRef, licenses.JSON200.Licenses[0].LicenseKey
	skus, err := o.ListSkusWithResponse(context.Background(), &reorder.ListSkusParams{})
	if err != nil || skus.JSON200 == nil {
		fmt.Fprintln(os.Stderr, "skus:", err)
		os.Exit(1)
	}
	sku := skus.JSON200.Skus[0].Sku

	late, err := r.ArrearsReportWithResponse(context.Background())
	if err != nil || late.JSON200 == nil || len(late.JSON200.Arrears) == 0 {
		fmt.Fprintln(os.Stderr, "arrears:", err)
		os.Exit(1)
	}
	owed := late.JSON200.Arrears[0]

	bad := 0
	report := func(service string, called int, faults []string) {
		fmt.Printf("%s: %d operations, %d differences\n", service, called, len(faults))
		for _, f := range faults {
			fmt.Println("   ", f)
		}
		bad += len(faults)
	}
	called, faults := check.Reads(s,
		check.Args{"OrderDetail": {ref}, "MintCodes": {`{"batch":"tried","sku":"` + product(orders) + `","count":2}`},
			"CheckLicense": {`{"license_key":"` + key + `","sku":"X"}`}, "ListActivations": {`{"license_key":"` + key + `"}`}},
		"ReceiveStripe", "ReceiveLemonsqueezy", "ReceivePolar", "McpGet")
	report("store", called, faults)
	called, faults = check.Reads(m,
		check.Args{"ShowWorkorder": {1}, "CreateWorkorder": {`{"asset_id":1,"description":"Tried","due_date":"2027-01-31"}`},
			"EditWorkorder": {1, `{"priority":"high"}`}, "RecordMeter": {1, `{"reading":999999.125}`}}, "McpGet")
	report("maintenance", called, faults)
	called, faults = check.Reads(r,
		check.Args{"LeaseDetail": {1},
			"RecordPayment": {owed.LeaseId, fmt.Sprintf(`{"charge_id":%d,"amount_cents":100,"method":"cash"}`, owed.Id)},
			"CreateTicket":  {`{"unit_id":1,"title":"Tried"}`}}, "McpGet")
	report("rental", called, faults)
	called, faults = check.Reads(o,
		check.Args{"IngestSales": {`{"rows":[{"date":"2026-11-20","sku":"` + sku + `","qty":1.5}],"replace":true}`},
			"AdjustStock": {sku, `{"delta":2.5}`}}, "McpGet")
	report("reorder", called, faults)
	if bad > 0 {
		os.Exit(1)
	}
}

// product is what the newest order sold.
func product(orders *store.ListOrdersResponse) string {
	for _, o := range orders.JSON200.Orders {
		for _, i := range o.Items {
			return i.Sku
		}
	}
	return ""
}

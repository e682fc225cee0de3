package reorder

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
	"quartermaster/schema/strict"
)

func printIngested(w io.Writer, done Ingested) {
	fmt.Fprintf(w, "%d rows stored, %d refused\n", done.Imported, done.Skipped)
	for _, e := range done.Errors {
		fmt.Fprintf(w, "row %d: %s\n", e.Row, e.Reason)
	}
	for _, k := range done.Crossed {
		fmt.Fprintf(w, "%s is %s now; buy %d\n", k.SKU, k.Status, k.SuggestedQty)
	}
}

func didIngest(done Ingested) string {
	text := exact.Plural(done.Imported, "row of sales is", "rows of sales are") + " stored."
	if done.Skipped > 0 {
		text = fmt.Sprintf("%s stored, %s refused: row %d, %s.",
			exact.Plural(done.Imported, "row of sales is", "rows of sales are"), exact.Plural(done.Skipped, "is", "are"),
			done.Errors[0].Row+1, done.Errors[0].Reason)
	}
	if len(done.Crossed) > 0 {
		text += " " + exact.Plural(len(done.Crossed), "SKU fell to its", "SKUs fell to their") + " reorder point."
	}
	return text
}

// refusal lists the faults of each row of an upload of which nothing was stored.
func (done Ingested) refusal() error {
	e := fault.Invalidf("rows: nothing is stored; row %d: %s", done.Errors[0].Row+1, done.Errors[0].Reason)
	for _, r := range done.Errors {
		name, _, _ := strings.Cut(r.Reason, ":")
		e.Fields = append(e.Fields, fault.Field{Field: fmt.Sprintf("rows.%d.%s", r.Row, name), Detail: r.Reason})
	}
	return e
}

func (s *Service) ingestSales() schema.Op {
	row := Sale{Date: sampleDay.today - 1, SKU: sample.Code, Qty: 2500}
	replaced := 1
	return schema.Op{
		Name: "ingest_sales", Says: "Store daily sales",
		Example: `reorder sales ingest --rows '[{"date": "2026-11-19", "sku": "TEA-1", "qty": 2.5}]' --channel web --replace`,
		Print:   schema.Printed(printIngested), Did: schema.Said(didIngest), Leads: func(any) string { return "/sales" },
		About: "Store rows of daily sales. They are added to what is stored, so rows sent twice count twice. With replace " +
			"they are totalled by SKU and day " +
			"and replace it; with a channel only its share. Wrong rows are refused and named; the others are stored. " +
			"Sales do not change the stock.",
		Writes: true, Overwrites: true, MaxBody: 16 << 20,
		Response: Ingested{
			Imported: 1, Skipped: 1,
			Errors:  []RowError{{Row: 1, Reason: "sku: \"TEA\" is not in the catalogue; SKUs are case-sensitive"}},
			Crossed: []Crossed{{SKU: sample.Code, Status: Below, SuggestedQty: 72}}, ReplacedDays: &replaced,
			SendAgain: "Correct these rows and send only them again: 1. The others are stored; sending them again would " +
				"count them twice.",
		},
		Bind: func(f *schema.Form) schema.Handler {
			var rows strict.Value
			var replace bool
			var channel string
			f.Rows(&rows, "rows", "the sales, at most 50,000 rows", row, maxRows, schema.Required)
			f.Bool(&replace, "replace",
				"replace what is stored for their SKUs and days by the rows' totals", schema.Example(true))
			f.Text(&channel, "channel", "where they were sold; with replace only this channel's share is replaced",
				schema.Most(maxChannel), schema.Example("web"))
			surface := f.Surface()
			return func(ctx context.Context, who db.Caller) (any, error) {
				done, err := s.Ingest(ctx, who, rows, IngestOptions{Replace: replace, Channel: channel,
					Agent: surface == schema.Tool})
				if err == nil && surface == schema.Page && done.Skipped > 0 && done.Imported == 0 {
					err = done.refusal()
				}
				return done, err
			}
		},
	}
}

// errorsTold is the number of refused rows whose reasons an agent gets.
const errorsTold = 100

// afterUpload reports the result of an upload to an agent: nothing stored is a refusal; a partial one names the rows to
// send again.
func (done Ingested) afterUpload() (Ingested, error) {
	switch {
	case done.Imported == 0 && done.Skipped == 0:
		return done, fault.Fieldf("rows", "rows is empty: nothing is stored; %s", wantsRow)
	case done.Skipped == 0:
		return done, nil
	case done.Imported == 0:
		why := schema.Few(done.Errors, 10, func(e RowError) string { return fmt.Sprintf("row %d: %s", e.Row, e.Reason) })
		return done, fault.Fieldf("rows", "rows: nothing is stored, all %d rows are refused; %s", done.Skipped,
			strings.Join(why, "; "))
	}
	done.SendAgain = "Correct these rows and send only them again: " + positions(done.Errors) + ". The others are " +
		"stored; sending them again would count them twice."
	if len(done.Errors) > errorsTold {
		done.Errors = done.Errors[:errorsTold]
		done.SendAgain += fmt.Sprintf(" errors lists the first %d.", errorsTold)
	}
	return done, nil
}

// positions lists the rows' positions, runs of them as 3-7.
func positions(errors []RowError) string {
	var list []string
	for i := 0; i < len(errors); i++ {
		from := i
		for i+1 < len(errors) && errors[i+1].Row == errors[i].Row+1 {
			i++
		}
		text := strconv.Itoa(errors[from].Row)
		if i > from {
			text += "-" + strconv.Itoa(errors[i].Row)
		}
		list = append(list, text)
	}
	return strings.Join(list, ", ")
}

package cli

import (
	"context"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"quartermaster/reorder"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

type purchaseList struct {
	PurchaseOrders []reorder.PurchaseOrder `json:"purchase_orders"`
}

func (p *program) purchaseCommand() *cobra.Command {
	return group("po", "Keep purchase orders: create, order, receive, cancel, suggest",
		`A purchase order is a draft, ordered, partial (some of it has come), received or
cancelled. What is not yet received of ordered and partial ones is on order.`,
		p.purchaseCreateCommand(), p.purchaseListCommand(), p.purchaseShowCommand(),
		p.purchaseMoveCommand("order", "Turn a draft into an order", (*reorder.Service).PlaceOrder),
		p.purchaseReceiveCommand(),
		p.purchaseMoveCommand("cancel", "Cancel a purchase order of which something is still to come", (*reorder.Service).CancelOrder),
		p.purchaseSuggestCommand())
}

func (p *program) purchaseCreateCommand() *cobra.Command {
	var n reorder.NewOrder
	var lines []string
	var expected string
	cmd := p.jsonFlag(p.acting(&cobra.Command{
		Use:   "create --supplier NAME --line SKU=QTY[@CENTS]... [--expected DAY] [--order]",
		Short: "Make a purchase order, and print its number",
		Long: `Make a purchase order, a draft unless --order is given, and print its number. A line's
price is the SKU's unit cost unless it is given, in cents.`,
		Example: `  quartermaster reorder po create --supplier Leaf --line TEA-1=24 --line TEA-2=12@1850
  quartermaster reorder po create --supplier Leaf --line TEA-1=24 --expected 2026-12-01 --order`,
		Args: noArgs,
		RunE: p.run(func(ctx context.Context, _ []string) (err error) {
			if n.Lines, err = parseLines(lines); err != nil {
				return err
			}
			if expected != "" {
				day, ok := exact.ParseDay(expected)
				if !ok {
					return usagef("--expected: %q is not a calendar day; give YYYY-MM-DD", expected)
				}
				n.ExpectedDate = &day
			}
			return p.withReorder(ctx, func(s *reorder.Service, who db.Caller) error {
				made, err := s.CreateOrder(ctx, who, n)
				if err != nil {
					return err
				}
				return p.print(made, func(w io.Writer) { fmt.Fprintln(w, made.Number) })
			})
		}),
	}))
	f := cmd.Flags()
	f.StringVar(&n.Supplier, "supplier", "", "who is to deliver")
	f.StringArrayVar(&lines, "line", nil, "a SKU with its quantity; any number of times")
	f.StringVar(&expected, "expected", "", "the day on which it is expected")
	f.BoolVar(&n.Order, "order", false, "order it right away")
	require(cmd, "supplier")
	require(cmd, "line")
	return cmd
}

func parseLines(texts []string) ([]reorder.NewLine, error) {
	lines := make([]reorder.NewLine, len(texts))
	for i, text := range texts {
		l, err := reorder.ParseLine(text)
		if err != nil {
			return nil, usagef("--%w", err)
		}
		lines[i] = l
	}
	return lines, nil
}

func (p *program) purchaseListCommand() *cobra.Command {
	return p.jsonFlag(&cobra.Command{
		Use:     "list",
		Short:   "List the purchase orders by number",
		Example: "  quartermaster reorder po list --json",
		Args:    noArgs,
		RunE: p.run(func(ctx context.Context, _ []string) error {
			return p.withReorder(ctx, func(s *reorder.Service, _ db.Caller) error {
				all, err := s.PurchaseOrders(ctx)
				if err != nil {
					return err
				}
				return p.tellPurchases(all)
			})
		}),
	})
}

func (p *program) tellPurchases(all []reorder.PurchaseOrder) error {
	return p.print(purchaseList{all}, func(w io.Writer) {
		columns(w, []string{"NUMBER", "SUPPLIER", "STATUS", "EXPECTED", "LINES"}, all, func(o reorder.PurchaseOrder) []string {
			return []string{o.Number, o.Supplier, o.Status, dayOrNothing(o.ExpectedDate), strconv.Itoa(len(o.Lines))}
		})
	})
}

func dayOrNothing(d *exact.Day) string {
	if d == nil {
		return ""
	}
	return d.String()
}

func (p *program) purchaseShowCommand() *cobra.Command {
	return p.jsonFlag(&cobra.Command{
		Use:     "show NUMBER",
		Short:   "Show a purchase order with its lines",
		Example: "  quartermaster reorder po show PO-000001 --json",
		Args:    cobra.ExactArgs(1),
		RunE: p.run(func(ctx context.Context, args []string) error {
			return p.withReorder(ctx, func(s *reorder.Service, _ db.Caller) error {
				o, err := s.PurchaseOrder(ctx, args[0])
				if err != nil {
					return err
				}
				return p.print(o, func(w io.Writer) { tellPurchase(w, o) })
			})
		}),
		ValidArgsFunction: p.purchaseNumbers,
	})
}

func tellPurchase(w io.Writer, o reorder.PurchaseOrder) {
	fmt.Fprintf(w, "%s: %s", o.Number, o.Status)
	if o.Supplier != "" {
		fmt.Fprintf(w, ", from %s", o.Supplier)
	}
	if o.ExpectedDate != nil {
		fmt.Fprintf(w, ", expected %s", o.ExpectedDate)
	}
	fmt.Fprintln(w)
	columns(w, []string{"SKU", "ORDERED", "RECEIVED", "UNIT COST"}, o.Lines, func(l reorder.OrderLine) []string {
		return []string{l.SKU, l.Ordered.String(), l.Received.String(), money(l.UnitCostCents)}
	})
}

// purchaseMoveCommand is order or cancel.
func (p *program) purchaseMoveCommand(word, short string,
	move func(*reorder.Service, context.Context, db.Caller, string) (reorder.PurchaseOrder, error),
) *cobra.Command {
	return p.jsonFlag(p.acting(&cobra.Command{
		Use:     word + " NUMBER",
		Short:   short,
		Example: "  quartermaster reorder po " + word + " PO-000001",
		Args:    cobra.ExactArgs(1),
		RunE: p.run(func(ctx context.Context, args []string) error {
			return p.withReorder(ctx, func(s *reorder.Service, who db.Caller) error {
				o, err := move(s, ctx, who, args[0])
				if err != nil {
					return err
				}
				return p.tellStatus(o)
			})
		}),
		ValidArgsFunction: p.purchaseNumbers,
	}))
}

func (p *program) tellStatus(o reorder.PurchaseOrder) error {
	return p.print(o, func(w io.Writer) { fmt.Fprintf(w, "%s: %s\n", o.Number, o.Status) })
}

func (p *program) purchaseReceiveCommand() *cobra.Command {
	var lines []string
	cmd := p.jsonFlag(p.acting(&cobra.Command{
		Use:   "receive NUMBER [--line SKU=QTY]...",
		Short: "Take what came of a purchase order into stock",
		Long: `Take what came of a purchase order into stock: the lines that are given, or without one
all that is outstanding. Never more than was ordered.`,
		Example: `  quartermaster reorder po receive PO-000001
  quartermaster reorder po receive PO-000001 --line TEA-1=12`,
		Args: cobra.ExactArgs(1),
		RunE: p.run(func(ctx context.Context, args []string) error {
			came, err := parseLines(lines)
			if err != nil {
				return err
			}
			var receipts []reorder.Receipt
			for i, l := range came {
				if l.UnitCostCents != nil {
					return usagef("--line %q: what comes in has no price; write it as SKU=QTY", lines[i])
				}
				receipts = append(receipts, reorder.Receipt{SKU: l.SKU, Qty: l.Qty})
			}
			return p.withReorder(ctx, func(s *reorder.Service, who db.Caller) error {
				o, err := s.Receive(ctx, who, args[0], receipts)
				if err != nil {
					return err
				}
				return p.tellStatus(o)
			})
		}),
		ValidArgsFunction: p.purchaseNumbers,
	}))
	cmd.Flags().StringArrayVar(&lines, "line", nil, "a SKU with the quantity that came; any number of times")
	return cmd
}

func (p *program) purchaseSuggestCommand() *cobra.Command {
	return p.jsonFlag(p.acting(&cobra.Command{
		Use:   "suggest",
		Short: "Draft a purchase order for each supplier out of the report",
		Long: `Draft a purchase order for each supplier out of what the report suggests to buy. The
drafts that it made before, and that nobody touched since, are replaced.`,
		Example: "  quartermaster reorder po suggest --json",
		Args:    noArgs,
		RunE: p.run(func(ctx context.Context, _ []string) error {
			return p.withReorder(ctx, func(s *reorder.Service, who db.Caller) error {
				made, err := s.SuggestOrders(ctx, who)
				if err != nil {
					return err
				}
				return p.tellPurchases(made)
			})
		}),
	}))
}

// purchaseNumbers completes a purchase order's number as the first argument.
func (p *program) purchaseNumbers(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	var numbers []string
	if len(args) == 0 {
		ctx := context.Background()
		_ = p.withReorder(ctx, func(s *reorder.Service, _ db.Caller) error { // without a database there is nothing to complete
			all, err := s.PurchaseOrders(ctx)
			for _, o := range all {
				numbers = append(numbers, o.Number+"\t"+o.Status+" "+o.Supplier)
			}
			return err
		})
	}
	return numbers, cobra.ShellCompDirectiveNoFileComp
}

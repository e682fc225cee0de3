package page

import (
	"context"
	"slices"

	"quartermaster/rental"
	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/mail"
	"quartermaster/schema/page"
)

func bindYear(f *schema.Form, year *int64) {
	f.Int(year, "year", "The year", schema.Range(1900, 9999), schema.Label("Year"))
}

func thisYear(ctx context.Context, s *rental.Service) (int64, error) {
	today, err := s.Today(ctx)
	year, _, _ := today.Date()
	return int64(year), err
}

func statement(s *rental.Service) page.Page {
	return page.New(page.Spec[rental.Statement]{
		Path: "/leases/:id/statement", Title: "Statement",
		Load: func(f *schema.Form) page.Loader[rental.Statement] {
			var id, year int64
			f.ID(&id, "lease_id", "the lease", schema.InPath("id"))
			bindYear(f, &year)
			return func(ctx context.Context, who db.Caller) (st rental.Statement, err error) {
				if year == 0 {
					if year, err = thisYear(ctx, s); err != nil {
						return st, err
					}
				}
				if st, err = s.LeaseStatement(ctx, who, id, year); err != nil {
					return st, err
				}
				st.PayTo, err = s.PayTo(ctx, id, st.Lease.BalanceCents)
				return st, err
			}
		},
		View: Statement,
		CSV: func(v rental.Statement) page.Sheet {
			sheet := page.Sheet{Name: "statement-" + page.Num(v.Lease.ID) + "-" + page.Num(v.Year),
				Columns: []string{"day", "kind", "text", "amount_cents"}}
			add := func(day exact.Day, kind, text string, cents int64) {
				sheet.Rows = append(sheet.Rows, []string{day.String(), kind, text, page.Num(cents)})
			}
			add(v.From, "opening_balance", "", v.OpeningBalanceCents)
			for _, c := range v.Charges {
				add(c.DueDate, c.Type, c.Label, c.AmountCents)
			}
			for _, m := range v.Payments {
				add(m.PaidDate, "payment", m.Method, -m.AmountCents)
			}
			if v.CreditReturnedCents != 0 {
				add(v.To, "credit_returned", "", v.CreditReturnedCents)
			}
			add(v.To, "closing_balance", "", v.ClosingBalanceCents)
			return sheet
		},
	})
}

func receipt(s *rental.Service) page.Page {
	return page.New(page.Spec[rental.Receipt]{
		Path: "/payments/:id", Title: "Receipt",
		Load: page.ByID("payment_id", "the payment", func(ctx context.Context, _ db.Caller, id int64) (
			rental.Receipt, error) {
			return s.LeaseReceipt(ctx, id)
		}),
		View: Receipt,
	})
}

// letterView is a letter about overdue charges, of one lease or of all leases of a tenant.
type letterView struct {
	rental.Standing
	mail.Printed
	path  string
	to    string // the addressee, one name per line
	about string // the lease, or ""
	today exact.Day
	sum   int64
	pay   []*rental.PayTo // of each lease
	among bool            // it is one of several on the page
}

// nothing is the subject of a letter to a tenant who owes nothing.
func (v *letterView) nothing() string {
	if v.about == "" {
		return "nothing is overdue"
	}
	return v.about + ": nothing is overdue"
}

// add adds a lease's overdue charges, and where to pay them.
func (v *letterView) add(ctx context.Context, s *rental.Service, r rental.Ledger) (err error) {
	if v.today, err = s.Today(ctx); err != nil {
		return err
	}
	before := v.sum
	if r.Unposted != "" {
		v.Standing = r.Standing
	}
	for _, c := range r.Charges {
		if !c.Paid && c.DueDate < v.today {
			v.sum += c.BalanceCents
		}
	}
	pay, err := s.PayTo(ctx, r.Lease.ID, v.sum-before)
	if pay != nil {
		v.pay = append(v.pay, pay)
	}
	return err
}

func bindStep(f *schema.Form, step *int64) {
	f.Int(step, "step", "The step", schema.Range(1, 3), schema.Label("Step"))
}

func reminder(s *rental.Service) page.Page {
	return page.New(page.Spec[letterView]{
		Path: "/leases/:id/reminder", Title: "Reminder",
		Load: func(f *schema.Form) page.Loader[letterView] {
			var id, step int64
			f.ID(&id, "lease_id", "the lease", schema.InPath("id"))
			bindStep(f, &step)
			return func(ctx context.Context, who db.Caller) (letterView, error) {
				r, err := s.Ledger(ctx, who, id)
				if err != nil {
					return letterView{}, err
				}
				v := letterView{to: tenantName(r.Lease), about: r.Lease.Property + " / " + r.Lease.Unit,
					path: page.Path("leases", page.Num(id), "reminder")}
				if err := v.add(ctx, s, r); err != nil || v.sum == 0 {
					return v, err
				}
				v.Printed, err = s.LateLetter(ctx, db.Subject("lease", id), step)
				return v, err
			}
		},
		View: Reminder,
	})
}

// tenantReminder is the one letter to a tenant, for all leases.
func tenantReminder(s *rental.Service) page.Page {
	return page.New(page.Spec[letterView]{
		Path: "/tenants/:id/reminder", Title: "Reminder",
		Load: func(f *schema.Form) page.Loader[letterView] {
			var id, step int64
			f.ID(&id, "tenant_id", "the tenant", schema.InPath("id"))
			bindStep(f, &step)
			return func(ctx context.Context, who db.Caller) (letterView, error) {
				return letterTo(ctx, s, who, id, step)
			}
		},
		View: Reminder,
	})
}

// letterTo is the letter to a tenant about all leases.
func letterTo(ctx context.Context, s *rental.Service, who db.Caller, id, step int64) (v letterView, err error) {
	t, err := s.TenantDetail(ctx, who, id)
	if err != nil {
		return v, err
	}
	v.path = page.Path("tenants", page.Num(id), "reminder")
	v.to = t.Name
	var to []string // whom the leases with arrears name: a co-tenant of another lease is not told
	for _, l := range slices.Backward(t.LeaseList) {
		r, err := s.Ledger(ctx, who, l.ID)
		if err != nil {
			return v, err
		}
		owed := v.sum
		if err := v.add(ctx, s, r); err != nil {
			return v, err
		}
		if v.sum > owed {
			to = append(to, tenantName(l))
		}
	}
	if to = slices.Compact(to); len(to) == 1 {
		v.to = to[0]
	}
	if v.sum > 0 {
		v.Printed, err = s.LateLetter(ctx, db.Subject("tenant", id), step)
	}
	return v, err
}

// letters are those to all tenants in arrears that match, to print at once.
func letters(s *rental.Service) page.Page {
	return page.New(page.Spec[[]letterView]{
		Path: "/arrears/letters", Title: "Letters",
		Load: func(f *schema.Form) page.Loader[[]letterView] {
			var q, age string
			f.Text(&q, "q", "Words", schema.Most(200))
			f.Enum(&age, "age", "Days overdue", ageNames)
			return func(ctx context.Context, who db.Caller) (all []letterView, err error) {
				behind, err := s.Arrears(ctx, who)
				if err != nil {
					return nil, err
				}
				for _, t := range matching(behind, q, age).addressees() {
					v, err := letterTo(ctx, s, who, t, 0)
					if err != nil {
						return nil, err
					}
					v.among = true
					all = append(all, v)
				}
				return all, nil
			}
		},
		View: Letters,
	})
}

// signature is where a letter's signature begins: its last paragraph, if that is the shop's, else its end.
func signature(all []mail.Piece, shop string) int {
	if n := len(all) - 1; n >= 0 && len(all[n].Lines) > 0 && all[n].Lines[0] == shop {
		return n
	}
	return len(all)
}

package page

import (
	"context"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/page"
	"quartermaster/store"
)

type customersView struct {
	store.CustomerPage
	total int64
}

func customers(s *store.Service) page.Page {
	return page.New(page.Spec[customersView]{
		Path: "/customers", Title: "Customers", Menu: "Customers", Key: "c",
		Load: func(f *schema.Form) page.Loader[customersView] {
			var k store.CustomerFilter
			var p page.Paging
			p.Bind(f, customerSorts.Names()...)
			k.Q, k.Cursor = p.Q, p.Cursor()
			return func(ctx context.Context, _ db.Caller) (v customersView, err error) {
				if v.CustomerPage, err = s.Customers(ctx, k); err != nil {
					return v, err
				}
				v.total, err = inAll(ctx, s.CountCustomers, k, k.Cursor, len(v.Customers), v.Next)
				err = page.Arranged(p, &v.Customers, v.total, &v.Next, customerSorts, err)
				return v, err
			}
		},
		View: Customers,
		CSV: func(v customersView) page.Sheet {
			return page.SheetOf("customers", []string{"email", "name"}, v.Customers, func(k store.Customer) []string {
				return []string{k.Email, k.Name}
			})
		},
	})
}

type customerView struct {
	store.CustomerDetail
	currency string // of the last order
	months   []store.MonthSum
}

// PageTitle is the customer's name, or the address.
func (v customerView) PageTitle() string { return v.title() }

// AuditSubject is what the audit trail has the customer under.
func (v customerView) AuditSubject() string { return "customer:" + v.Email }

// MailSubjects are the customer, and what the customer bought.
func (v customerView) MailSubjects() []string {
	subjects := []string{db.Subject("customer", v.ID)}
	for _, o := range v.Orders {
		subjects = append(subjects, "order:"+o.OrderRef)
	}
	for _, l := range v.Licenses {
		subjects = append(subjects, db.Subject("license", l.ID))
	}
	return subjects
}

func (v customerView) title() string { return buyerName(store.Buyer{Email: v.Email, Name: v.Name}) }

// ShowsSecret reports whether keys of licenses stand on the page.
func (v customerView) ShowsSecret() bool { return len(v.Licenses) > 0 }

func customer(s *store.Service) page.Page {
	return page.New(page.Spec[customerView]{
		Path: "/customers/:id", Title: "Customer",
		Load: page.ByID("customer_id", "The customer", func(ctx context.Context, who db.Caller, id int64) (v customerView, err error) {
			if v.CustomerDetail, err = s.CustomerDetail(ctx, who, id); err != nil || len(v.Orders) < 2 {
				return v, err
			}
			v.currency = v.Orders[0].Currency
			v.months, err = s.MonthsOfCustomer(ctx, id, v.currency)
			return v, err
		}),
		View: Customer,
	})
}

type licensesView struct {
	store.LicensePage
	total int64
}

func licenses(s *store.Service) page.Page {
	return page.New(page.Spec[licensesView]{
		Path: "/licenses", Title: "Licenses", Menu: "Licenses", Key: "l", Marks: true,
		Load: func(f *schema.Form) page.Loader[licensesView] {
			var l store.LicenseFilter
			var p page.Paging
			p.Bind(f, licenseSorts.Names()...)
			f.Enum(&l.Status, "status", "Only this status", []string{"active", "expired", "suspended", "revoked"})
			f.Text(&l.SKU, "sku", "Only of this product", schema.Most(200), schema.Label("Product"),
				schema.Choices(store.ProductChoices))
			f.Text(&l.Email, "email", "Only orders of this buyer", schema.Most(254), schema.Label("Buyer"))
			f.Text(&l.OrderRef, "order_ref", "Only of this order", schema.Most(200), schema.Label("Order"))
			l.Q, l.Cursor = p.Q, p.Cursor()
			return func(ctx context.Context, who db.Caller) (v licensesView, err error) {
				if v.LicensePage, err = s.Licenses(ctx, who, l); err != nil {
					return v, err
				}
				v.total, err = inAll(ctx, s.CountLicenses, l, l.Cursor, len(v.Licenses), v.Next)
				err = page.Arranged(p, &v.Licenses, v.total, &v.Next, licenseSorts, err)
				return v, err
			}
		},
		View: Licenses,
		CSV: func(v licensesView) page.Sheet {
			return page.SheetOf("licenses", []string{"id", "license_key", "sku", "tier", "order_ref",
				"customer_email", "status", "activation_limit", "activation_count", "expires_at", "created_at",
				"last_checked_at"}, v.Licenses, func(l store.License) []string {
				return []string{
					page.Num(l.ID), l.Key, l.SKU, schema.Cell(l.Tier), l.OrderRef, l.CustomerEmail, l.Status, schema.Cell(l.ActivationLimit),
					page.Num(l.ActivationCount),
					schema.Cell(l.ExpiresAt), l.CreatedAt.String(), schema.Cell(l.LastCheckedAt),
				}
			})
		},
	})
}

type licenseView struct {
	store.LicenseDetail
	files []store.IssuedFile
}

// MailSubjects are the license and the order that brought it.
func (v licenseView) MailSubjects() []string {
	return []string{db.Subject("license", v.ID), "order:" + v.OrderRef}
}

// untilWord stands before the end: only a license that works does so until then.
func (v licenseView) untilWord() string {
	if v.Status == "active" {
		return " until "
	}
	return ", end: "
}

// PageTitle says whose license it is.
func (v licenseView) PageTitle() string { return "License of " + v.CustomerEmail }

// ShowsSecret reports whether the license's key stands on the page.
func (licenseView) ShowsSecret() bool { return true }

func license(s *store.Service) page.Page {
	return page.New(page.Spec[licenseView]{
		Path: "/licenses/:id", Title: "License",
		Load: page.ByID("license_id", "The license", func(ctx context.Context, who db.Caller, id int64) (licenseView, error) {
			d, err := s.License(ctx, who, id)
			if err != nil {
				return licenseView{}, err
			}
			files, err := s.LicenseFiles(ctx, id)
			return licenseView{d, files.Files}, err
		}),
		View: License,
	})
}

// customerActs are the actions on the customer; a forgotten one has none.
func customerActs(v customerView) []page.Action {
	if v.Forgotten() {
		return nil
	}
	id := page.Num(v.ID)
	return []page.Action{page.Open("Edit", "save_customer", "email", v.Email),
		page.Open("Change e-mail", "change_email", "customer_id", id), page.Open("Record order", "record_order", "email", v.Email),
		page.Open("Merge into another", "merge_customers", "from", id),
		page.Open("Forget", "forget_customer", "customer_id", id).Danger()}
}

// licenseActs are the actions on the license now.
func licenseActs(v licenseView) []page.Action {
	id := page.Num(v.ID)
	var acts []page.Action
	switch v.Status {
	case "revoked":
		return nil
	case "suspended":
		acts = append(acts, page.Do("Resume", "resume_license", "license_id", id).Main())
	default:
		acts = append(acts, page.Do("Suspend", "suspend_license", "license_id", id))
	}
	if v.ExpiresAt != nil {
		acts = append(acts, page.Open("Extend", "extend_license", "license_id", id))
	}
	if v.Status == "active" {
		acts = append(acts, page.Open("Offline file", "make_license_file", "license_id", id))
	}
	return append(acts, page.Open("Seats", "set_license_limit", "license_id", id),
		page.Open("Replace key", "rotate_license_key", "license_id", id), page.Open("Revoke", "revoke_license", "license_id",
			id).Danger())
}

// keyOf is the license's key; in the list of all, which may be cached and compressed, only its last four characters.
func keyOf(l store.License, list bool) string {
	if !list {
		return l.Key
	}
	return "…" + store.KeyEnd(l.Key)
}

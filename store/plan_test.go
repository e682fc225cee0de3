package store

import (
	"errors"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"quartermaster/schema/db"
)

// walks says which functions' statements may walk a whole table or sort, and why.
var walks = map[string]string{
	"productTable":       "an export is of every record",
	"customerTable":      "an export is of every record",
	"orderTable":         "an export is of every record",
	"readTotals":         "a row a total",
	"anyProduct":         "a list to choose from, and there are few products",
	"anyMintable":        "a list to choose from, and there are few products",
	"Products":           "there are few products",
	"Refunds":            "an order's few refunds, by time",
	"ForgetCustomer":     "a list that is short",
	"CountUnbooked":      "a list that is short",
	"checkCustomers":     "doctor looks at everything",
	"checkOrders":        "doctor looks at everything",
	"checkLicenses":      "doctor looks at everything",
	"checkSeats":         "doctor looks at everything",
	"checkBatches":       "doctor looks at everything",
	"checkCodes":         "doctor looks at everything",
	"checkSubscriptions": "doctor looks at everything",
	"checkHolds":         "doctor looks at everything",
	"refundsOf":          "an order's few refunds, by time",
	"settleInvoices":     "a subscription's few invoices, by time",
	"unbookedPayments":   "a list that is short, by its time",
}

// sqlOf gives the constant SQL texts of the package, each with its function.
func sqlOf(t *testing.T) map[string][]string {
	t.Helper()
	fset := token.NewFileSet()
	paths, err := filepath.Glob("*.go")
	must(t, err)
	var files []*ast.File
	for _, path := range paths {
		if !strings.HasSuffix(path, "_test.go") {
			f, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
			must(t, err)
			files = append(files, f)
		}
	}
	// Only the package's own constants matter: what it imports need not be there.
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	conf := types.Config{Importer: noImports{}, Error: func(error) {}}
	_, _ = conf.Check("store", fset, files, info)

	isSQL := regexp.MustCompile(`^\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\s`)
	all := map[string][]string{}
	for _, f := range files {
		for _, decl := range f.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			ast.Inspect(fn, func(n ast.Node) bool {
				e, ok := n.(ast.Expr)
				if !ok {
					return true
				}
				v := info.Types[e].Value
				if v == nil || v.Kind() != constant.String {
					return true
				}
				if q := constant.StringVal(v); isSQL.MatchString(q) {
					all[fn.Name.Name] = append(all[fn.Name.Name], q)
				}
				return false // the parts of a constant are no statements
			})
		}
	}
	return all
}

type noImports struct{}

func (noImports) Import(string) (*types.Package, error) { return nil, errors.New("left out") }

func TestEveryStatementHasItsIndex(t *testing.T) {
	s := newShop(t)
	all := sqlOf(t)
	found := 0
	for _, queries := range all {
		found += len(queries)
	}
	if found < 60 {
		t.Fatalf("only %d statements were found", found)
	}
	for _, provider := range []string{"", "stripe"} {
		for _, status := range []string{"", "paid"} {
			q := s.newest(OrderFilter{Provider: provider, Status: status})
			all["Orders"] = append(all["Orders"], q)
		}
	}
	for _, status := range []string{"", codeUnused, codeRedeemed, codeVoid} {
		all["Batches"] = append(all["Batches"], batchesWith(status))
	}
	used := map[string]bool{}
	for function, queries := range all {
		for _, q := range queries {
			trimmed := strings.TrimSpace(q)
			if strings.HasSuffix(trimmed, "WHERE") || strings.HasSuffix(q, " FROM ") || strings.HasSuffix(q, " o") || strings.HasSuffix(q, " l") ||
				strings.HasSuffix(trimmed, "l.subscription_id") || strings.Contains(q, "%") && strings.Contains(q, "%d") {
				continue // the beginning of a statement that is put together
			}
			for _, step := range s.Steps(q) {
				if !strings.HasPrefix(step, "SCAN ") && !strings.Contains(step, "TEMP B-TREE") || step == "SCAN CONSTANT ROW" ||
					strings.Contains(step, "VIRTUAL TABLE INDEX") || strings.HasPrefix(step, "SCAN (subquery") || function == "Orders" && step == "SCAN o" {
					continue
				}
				used[function] = true
				if walks[function] == "" {
					t.Errorf("%s: %s\n%s", function, step, q)
				}
			}
		}
	}
	for function := range walks {
		if !used[function] {
			t.Errorf("%s walks no table any more", function)
		}
	}
}

// newest is the statement of a filter.
func (s *shop) newest(f OrderFilter) (query string) {
	must(s.T, s.DB.View(background, func(c *db.Conn) (err error) {
		query, _, _, err = f.newestFirst(c, 10)
		return err
	}))
	return query
}

func TestRequestsReadByTheseIndexes(t *testing.T) {
	s := newShop(t)
	newest := s.newest
	licenses := func(f LicenseFilter) (query string) {
		must(t, s.DB.View(background, func(c *db.Conn) error {
			from, where, _, _, err := f.where(c)
			query = "SELECT " + licenseColumns + " FROM " + indexed(licenseTables, from) + " WHERE " + where + " ORDER BY l.id DESC LIMIT ?"
			return err
		}))
		return query
	}
	for want, q := range map[string]string{
		"SEARCH l USING INDEX store_licenses_product (product_id=? AND rowid<?)":                  licenses(LicenseFilter{SKU: "PLUGIN"}),
		"SEARCH l USING INDEX store_licenses_suspended (id<?)":                                    licenses(LicenseFilter{Status: "suspended"}),
		"SEARCH l USING INDEX sqlite_autoindex_store_licenses_1 (key_hash=? AND rowid<?)":         licenses(LicenseFilter{Q: newKey()}),
		"SEARCH o USING INTEGER PRIMARY KEY (rowid<?)":                                            newest(OrderFilter{}),
		"SEARCH o USING INDEX store_orders_status (status=? AND rowid<?)":                         newest(OrderFilter{Status: "paid"}),
		"SEARCH o USING INDEX store_orders_provider (provider=? AND rowid<?)":                     newest(OrderFilter{Provider: "p"}),
		"SEARCH o USING INDEX store_orders_provider_status (provider=? AND status=? AND rowid<?)": newest(OrderFilter{Provider: "p", Status: "paid"}),
		"SEARCH b USING INDEX store_batches_unused (id<?)":                                        batchesWith(codeUnused),
		"SEARCH b USING INDEX store_batches_redeemed (id<?)":                                      batchesWith(codeRedeemed),
		"SEARCH b USING INDEX store_batches_void (id<?)":                                          batchesWith(codeVoid),
	} {
		steps := s.Steps(q)
		if !slices.Contains(steps, want) {
			t.Errorf("got %q, want %q first", steps, want)
		}
	}
	all := sqlOf(t)
	for function, want := range map[string]string{
		"look":        "SEARCH l USING INDEX sqlite_autoindex_store_licenses_1 (key_hash=?)",
		"lookUpCode":  "SEARCH k USING PRIMARY KEY (hash=?)",
		"expired":     "SEARCH store_licenses USING COVERING INDEX store_licenses_expiring (expires_at>? AND expires_at<?)",
		"Activations": "SEARCH store_activations USING INDEX store_activations_license (license_id=? AND rowid<?)",
	} {
		var steps []string
		for _, q := range all[function] {
			steps = append(steps, s.Steps(q)...)
		}
		if !strings.Contains(strings.Join(steps, "\n"), want) {
			t.Errorf("%s: %q lacks %q", function, steps, want)
		}
	}
}

package reorder

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// excuses are the statements that have to look at every row of a table or to sort,
// each with its reason; all others find what they want, in its order, by an index.
var excuses = map[string]string{
	"SELECT forecast_window_days, target_cover_days, standing_day FROM reorder_settings":            "one row",
	"UPDATE reorder_settings SET standing_day = ?":                                                  "one row",
	"UPDATE reorder_settings SET forecast_window_days = ?, target_cover_days = ?, standing_day = ?": "one row",

	"SELECT " + columns + " FROM skus WHERE active = 1": "the report counts all active SKUs",
	"SELECT count(*) FROM skus WHERE active = 1":        "the report counts all active SKUs",
	"SELECT " + columns + " FROM skus":                  "new settings judge every SKU",
	"SELECT day, sku_id, qty FROM sales":                "doctor adds up all sales",
	"SELECT number, status, sku_id, ordered, received FROM purchase_orders CROSS JOIN purchase_order_lines ON order_id = purchase_orders.id": "doctor adds up all orders",
	countSales:                         "the narrowing is put behind it",
	selectShares:                       "an export gives all sales",
	selectShares + "ORDER BY day, sku": "an export gives all sales",
	"SELECT " + lineColumns + " FROM purchase_order_lines CROSS JOIN skus ON skus.id = sku_id WHERE order_id = ? ORDER BY sku": "one order's lines are sorted",
	"SELECT seq FROM sqlite_sequence WHERE name = 'purchase_orders'":                                                           "one row a table",
}

// TestStatementsUseIndexes asks the engine how it would carry out each statement of
// the package's source.
func TestStatementsUseIndexes(t *testing.T) {
	s := open(t)
	s.Must(s.Declare().Demo(context.Background(), day(t, "2026-11-20")))
	found := statements(t)
	for _, q := range []CatalogueQuery{{}, {Supplier: "X"}, {Active: "0"}, {Active: "1"}, {Supplier: "X", Active: "0"}, {Q: "tea", Active: "1"}} {
		query, _ := q.statement()
		found = append(found, query)
	}
	if len(found) < 35 {
		t.Fatalf("only %d statements found in the source", len(found))
	}
	excused := map[string]bool{}
	for _, query := range found {
		for _, step := range s.Steps(query) {
			if !wasteful.MatchString(step) {
				continue
			}
			if excused[query] = true; excuses[query] == "" {
				t.Errorf("%s: %s", query, step)
			}
		}
	}
	for query := range excuses {
		if !excused[query] {
			t.Errorf("%s: is allowed to look at every row, but stands nowhere", query)
		}
	}
}

// wasteful is a step that looks at every row of a table, or sorts what it found. One
// that goes along an index reads a list in its order, or only the rows of a partial
// index.
var wasteful = regexp.MustCompile(`^SCAN (skus|sales|purchase_orders|purchase_order_lines|reorder_settings|sqlite_sequence)$|FOR ORDER BY`)

// statements reads the SQL out of the package's source: every constant text that
// begins like a statement, with the package's own constants in their places.
func statements(t *testing.T) (all []string) {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	constants := map[string]string{"columns": columns, "orderColumns": orderColumns, "lineColumns": lineColumns, "supplierColumns": supplierColumns, "selectShares": selectShares, "insertSale": insertSale}
	var text func(e ast.Expr) (string, bool)
	text = func(e ast.Expr) (string, bool) {
		switch e := e.(type) {
		case *ast.BasicLit:
			s, err := strconv.Unquote(e.Value)
			return s, err == nil && e.Kind == token.STRING
		case *ast.Ident:
			s, is := constants[e.Name]
			return s, is
		case *ast.BinaryExpr:
			a, isA := text(e.X)
			b, isB := text(e.Y)
			return a + b, isA && isB
		}
		return "", false
	}
	isStatement := regexp.MustCompile(`^(SELECT|INSERT|UPDATE|DELETE|WITH)\s`)
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			e, is := n.(ast.Expr)
			if !is {
				return true
			}
			s, is := text(e)
			if is && isStatement.MatchString(s) && !strings.HasSuffix(s, "sku > ?") { // the catalogue's is put together by its filters
				all = append(all, s)
			}
			return !is
		})
	}
	return all
}

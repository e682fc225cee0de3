package maintenance

import (
	"errors"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// wholeTables says which statements may walk a whole table, by the function that they
// stand in, and why.
var wholeTables = map[string]string{
	"listDue":        "the list is of every plan",
	"exportPlans":    "an export is of every record",
	"exportReadings": "an export is of every record",
	"assetTable":     "an export is of every record",
	"meterTable":     "an export is of every record",
	"partTable":      "an export is of every record",
	"workOrderTable": "an export is of every record",
	"checkMeters":    "doctor looks at everything",
	"checkPlans":     "doctor looks at everything",
	"checkUsedParts": "doctor looks at everything",
	"checkCounts":    "doctor looks at everything",
	"checkRestarts":  "doctor looks at everything",
	"checkMonth":     "doctor looks at everything",
	"assigneeNames":  "the names so far are walked, not the orders",
	"readBoard":      "a lane's jobs are put in the order of their urgency",
	"readOverview":   "an asset's jobs are put in the order of their urgency",
	"addJobs":        "a few hundred jobs of a range are put in the order of their assets",
	"assetNames":     "a refusal tells what there is",
	"planNamed":      "a refusal tells what there is",
	"partNamed":      "a refusal tells what there is",
	"assetChoices":   "a list to choose from is of every record",
	"tagChoices":     "a list to choose from is of every record",
	"partChoices":    "a list to choose from is of every record",
	"planChoices":    "a list to choose from is of every record",
	"putReading":     "the epochs of one meter are counted up, not stored",
}

// statement is one SQL text of the package and the function that it stands in.
type statement struct{ function, query string }

// statements finds every constant SQL text that the package's functions run.
func statements(t *testing.T) (all []statement) {
	t.Helper()
	files := token.NewFileSet()
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var sources []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(files, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		sources = append(sources, f)
	}
	info := types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	// Nothing that is imported is needed: only the package's own constants are folded.
	c := types.Config{Importer: nothing{}, Error: func(error) {}}
	_, _ = c.Check("maintenance", files, sources, &info)
	for _, f := range sources {
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			ast.Inspect(fn, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				for _, arg := range call.Args {
					if v := info.Types[arg].Value; v != nil && v.Kind() == constant.String {
						if q := constant.StringVal(v); verb.MatchString(q) {
							all = append(all, statement{fn.Name.Name, q})
						}
					}
				}
				return true
			})
		}
	}
	return all
}

var verb = regexp.MustCompile(`^(SELECT|INSERT|UPDATE|DELETE|WITH) `)

type nothing struct{}

func (nothing) Import(string) (*types.Package, error) { return nil, errors.New("not imported") }

// TestStatementsUseIndexes holds every statement to an index, and none to sort what
// an index could give in order.
func TestStatementsUseIndexes(t *testing.T) {
	s := open(t)
	all := statements(t)
	if len(all) < 50 {
		t.Fatalf("only %d statements were found", len(all))
	}
	for _, f := range filters() {
		list, _ := f.newestFirst(nil)
		count, _ := f.inAll(nil)
		all = append(all, statement{"listWorkOrders", list})
		if f.AssetID != 0 || f.AssignedTo != "" {
			all = append(all, statement{"countWorkOrders", count})
		}
	}
	used := map[string]bool{}
	for _, st := range all {
		for _, step := range s.Steps(st.query) {
			walks := strings.HasPrefix(step, "SCAN ") && step != "SCAN CONSTANT ROW"
			if st.function == "listWorkOrders" && step == "SCAN w" || step == "SCAN maintenance_settings" {
				walks = false // the newest rows off the end of the table, and the one row of settings
			}
			if !walks && !strings.Contains(step, "TEMP B-TREE") {
				continue
			}
			used[st.function] = true
			if wholeTables[st.function] == "" {
				t.Errorf("%s: %s\n%s", st.function, step, st.query)
			}
		}
	}
	for function := range wholeTables {
		if !used[function] {
			t.Errorf("%s walks no table any more", function)
		}
	}
}

// filters are all kinds of filters.
func filters() (all []Filter) {
	for _, status := range []string{"", "open", "done"} {
		for _, priority := range []string{"", "urgent"} {
			for asset := range int64(2) {
				for _, who := range []string{"", "Ana"} {
					all = append(all, Filter{Status: status, Priority: priority, AssetID: asset, AssignedTo: who, Limit: 5})
				}
			}
		}
	}
	return all
}

// TestHotStatements says of the statements that must stay fast which index they use.
func TestHotStatements(t *testing.T) {
	s := open(t)
	byStatus, _ := Filter{Status: "open", Limit: newest}.newestFirst(nil)
	any, _ := Filter{Limit: newest}.newestFirst(nil)
	for query, want := range map[string][]string{
		any:          {"SCAN w", "SEARCH a USING INTEGER PRIMARY KEY (rowid=?)", "SCALAR SUBQUERY 1", "SCAN maintenance_settings"},
		byStatus:     {"SEARCH w USING INDEX work_orders_status (status=?)", "SEARCH a USING INTEGER PRIMARY KEY (rowid=?)", "SCALAR SUBQUERY 1", "SCAN maintenance_settings"},
		firstReading: {"SEARCH readings USING PRIMARY KEY (meter_id=? AND epoch=? AND day>?)"},
	} {
		if got := s.Steps(query); strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s\n%s", query, strings.Join(got, "\n"))
		}
	}
}

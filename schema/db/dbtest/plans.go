package dbtest

import (
	"flag"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"quartermaster/schema/db"
)

// Plans says how the statements of a package's functions may read.
type Plans struct {
	// Walks says why a function's statement may scan a whole table or sort its result: "exportPlans: SCAN p" -> "an export
	// has every record". * means any function.
	Walks map[string]string

	// Small says why a table may be scanned by the queries that read it.
	Small map[string]string

	// Uses says which step a function's statements must have.
	Uses map[string]string
}

// Main runs the package's tests, then asks the engine for the plan of every statement that the package ran: none may
// scan a table or sort unless Plans allows it. Call it from TestMain.
func Main(m *testing.M, p Plans) {
	code := m.Run()
	if faults := p.check(); code == 0 && len(faults) > 0 {
		fmt.Println("FAIL: plans of the statements that the tests ran; give each an index, or a reason in plans_test.go")
		for _, f := range faults {
			fmt.Println("   ", f)
		}
		code = 1
	}
	os.Exit(code)
}

// ran are the statements that ran, each with its functions.
var ran struct {
	sync.Mutex
	by map[string]map[string]bool
}

// trace notes the statement under the function that runs it. A test's own statements do not count.
func trace(query string) {
	var pcs [24]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs[:])])
	for {
		f, more := frames.Next()
		if !strings.HasPrefix(f.Function, "quartermaster/schema/db.") && !strings.Contains(f.File, "schema/record/") {
			if strings.HasSuffix(f.File, "_test.go") || strings.Contains(f.File, "/dbtest/") {
				return
			}
			note(query, nameOf(f.Function))
			return
		}
		if !more {
			return // the database's own goroutines
		}
	}
}

func note(query, function string) {
	ran.Lock()
	defer ran.Unlock()
	if ran.by == nil {
		ran.by = map[string]map[string]bool{}
	}
	if ran.by[query] == nil {
		ran.by[query] = map[string]bool{}
	}
	ran.by[query][function] = true
}

// nameOf is a function's name in its package's source; for a closure the name of the enclosing function.
func nameOf(function string) string {
	function, _, _ = strings.Cut(path.Base(function), "[") // "rental.(*Service).Ledger.func1"
	name := function
	for part := range strings.SplitSeq(function, ".") {
		if !closure.MatchString(part) && !strings.HasPrefix(part, "(") {
			name = part
		}
	}
	return name
}

var (
	closure   = regexp.MustCompile(`^(func\d+|\d+|gowrap\d+|deferwrap\d+)$`)
	planned   = regexp.MustCompile(`^\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\b`)
	walks     = regexp.MustCompile(`^SCAN \w+$|TEMP B-TREE`)
	tableName = regexp.MustCompile(`^SCAN (\w+)$`)
)

// check lists the forbidden plans of the statements that ran and, after a run of all tests, the unused entries of
// Plans.
func (p Plans) check() (faults []string) {
	h, err := blankFixture()
	if err != nil {
		return []string{err.Error()}
	}
	defer func() { _ = os.RemoveAll(filepath.Dir(h.path)) }()
	defer func() { _ = h.DB.Close() }()
	used, has := map[string]bool{}, map[string]bool{}
	for query, functions := range ran.by {
		if !planned.MatchString(query) {
			continue
		}
		steps, err := h.steps(query)
		if err != nil {
			faults = append(faults, fmt.Sprintf("%v: %s", err, query))
		}
		for function := range functions {
			for _, step := range steps {
				if strings.Contains(step, p.Uses[function]) {
					has[function] = true
				}
				if !walks.MatchString(step) || p.small(step) {
					continue
				}
				key, any := function+": "+step, "*: "+step
				if used[key], used[any] = true, true; p.Walks[key] == "" && p.Walks[any] == "" {
					faults = append(faults, key+"\n        "+query)
				}
			}
		}
	}
	if flag.Lookup("test.run").Value.String() == "" && !testing.Short() && len(ran.by) > 0 {
		faults = append(faults, p.stale(used, has)...)
	}
	slices.Sort(faults)
	return faults
}

// stale lists the unused entries of Plans, after a run of all tests.
func (p Plans) stale(used, has map[string]bool) (faults []string) {
	for key := range p.Walks {
		if !used[key] {
			faults = append(faults, key+" stands in no plan any more")
		}
	}
	for function, step := range p.Uses {
		if !has[function] {
			faults = append(faults, fmt.Sprintf("%s: no statement has %q in its plan", function, step))
		}
	}
	return faults
}

func (p Plans) small(step string) bool {
	m := tableName.FindStringSubmatch(step)
	return m != nil && p.Small[m[1]] != ""
}

// blankFixture opens an empty database outside a test.
func blankFixture() (*Fixture, error) {
	dir, err := os.MkdirTemp("", "dbtest")
	if err != nil {
		return nil, err
	}
	h := &Fixture{path: filepath.Join(dir, "plans.db")}
	file, err := blank()
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(h.path, file, 0o600); err != nil {
		return nil, err
	}
	h.DB, err = db.Open(h.path, db.Options{})
	return h, err
}

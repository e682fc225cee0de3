package rest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"quartermaster/app/apptest"
	"quartermaster/schema"
	"quartermaster/schema/assert"
	"quartermaster/schema/exact"
	"quartermaster/schema/page"
)

// TestHooksAcceptTheirOperationsAnswers calls every hook of each service's operations (message, question, print, link)
// with an answer of the declared type. None panics on another type.
func TestHooksAcceptTheirOperationsAnswers(t *testing.T) {
	t.Parallel()
	money := exact.CurrencyOf("EUR").Format
	hooks := map[string]func(op schema.Op, answer any){
		"Did":   func(op schema.Op, answer any) { _ = op.Did != nil && op.Did(answer, money) == "" },
		"Doubt": func(op schema.Op, answer any) { _ = op.Doubt != nil && op.Doubt(answer, money).Title == "" },
		"Will":  func(op schema.Op, answer any) { _ = op.Will != nil && op.Will(answer, money) == "" },
		"Leads": func(op schema.Op, answer any) { _ = op.Leads != nil && op.Leads(answer) == "" },
		"Undo":  func(op schema.Op, answer any) { _ = op.Undo != nil && op.Undo(answer) == nil },
		"Print": func(op schema.Op, answer any) {
			if op.Print != nil {
				op.Print(io.Discard, answer)
			}
		},
	}
	s := apptest.Start(t)
	for _, service := range s.Server.Declared() {
		ops := slices.Clone(service.Ops)
		for _, area := range areas {
			ops = append(ops, s.Server.Screens(service.Name).Acts(area)...)
		}
		for _, op := range ops {
			for _, answer := range append([]any{op.Response}, op.Examples...) {
				before, _ := json.Marshal(answer)
				for name, hook := range hooks {
					cause := panicOf(func() { hook(op, answer) })
					assert.That(t, cause == nil, "%s: %s of %s fails on a %T: %v", service.Name, name, op.Name, answer, cause)
					after, _ := json.Marshal(answer)
					assert.Must(t, bytes.Equal(before, after), "%s: %s of %s changes the answer", service.Name, name, op.Name)
				}
			}
		}
	}
}

// areas are the groups of people whose pages have forms.
var areas = []page.Area{page.Staff, page.Tenant, page.Buyer, page.Public}

// panicOf calls fn and returns the value of its panic.
func panicOf(fn func()) (cause any) {
	defer func() { cause = recover() }()
	fn()
	return nil
}

// named is an operation that a page's source names: page.Do("Remove", "remove_part", ...), a form's address or an undo.
var named = regexp.MustCompile(`page\.(?:Do|Open|Fields|Form)\((?:"[^"]*"|[a-z]\w*(?:\([^()]*\))?(?:\s*\+\s*[^,"]*)?),\s*"([a-z_]+)"|"/do/([a-z_]+)|Op: "([a-z_]+)"`)

// TestPagesNameExistingOperations reads the sources of every service's pages.
func TestPagesNameExistingOperations(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	for _, service := range s.Server.Declared() {
		known := map[string]bool{}
		for _, area := range areas {
			for _, op := range s.Server.Screens(service.Name).Acts(area) {
				known[op.Name] = true
			}
		}
		found := 0
		for _, folder := range []string{service.Name, filepath.Join(service.Name, "page")} {
			for _, ending := range []string{"*.templ", "*.go"} {
				files := assert.Value(filepath.Glob(filepath.Join("../../..", folder, ending)))(t)
				for _, file := range files {
					if strings.HasSuffix(file, "_templ.go") || strings.HasSuffix(file, "_test.go") {
						continue
					}
					text := assert.Value(os.ReadFile(file))(t)
					for _, m := range named.FindAllStringSubmatch(string(text), -1) {
						found++
						op := m[1] + m[2] + m[3]
						assert.That(t, known[op], "%s names %s, which is no operation of %s", file, op, service.Name)
					}
				}
			}
		}
		assert.That(t, found >= 10, "%v", fmt.Sprint(service.Name, ": only ", found, " operations are named"))
	}
}

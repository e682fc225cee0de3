package schema

import (
	"cmp"
	"context"
	"io"

	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// Service is the complete declaration of one of the four services.
type Service struct {
	Name      string // "reorder"
	Title     string // "Reorder service"
	About     string
	Addr      string // its default address: "127.0.0.1:8084"
	Agents    bool   // it has an agent endpoint
	Elsewhere string // where agents do what no tool does
	DemoPath  string // the path of the demo's curl line: "/api/reorder-report"
	Ping      string // the version in GET /api/ping; "" is the program's
	Health    string // the version in GET /healthz
	Document  string // the version of the OpenAPI document
	Ops       []Op
	Tables    []Table
	Reports   []Table                                                  // exported, never imported
	Journal   func(ctx context.Context, w io.Writer, year int64) error // a year's entries for hledger; nil: none
	Records   []Record
	Events    []Event
	Check     func(c *db.Conn) (breaches []string, err error)  // recomputes every invariant, for doctor
	Demo      func(ctx context.Context, today exact.Day) error // fills an empty database with a believable small shop
}

// Record is a kind of record in the audit trail, and its page.
type Record struct {
	Noun string // of the trail's subjects: "work_order" in work_order:12
	Page string // "/work-orders/": its page is that and the id; "": no page of its own

	ByName bool // a subject that is no number is searched for in the list: customer:ann@example.com

	// Within finds the subject whose page shows a record without a page of its own, as SQL with the id as ?: "SELECT
	// 'asset:' || asset_id FROM meters WHERE id = ?".
	Within string
}

// Record finds one of the service's kinds of records.
func (s Service) Record(noun string) Record {
	for _, r := range s.Records {
		if r.Noun == noun {
			return r
		}
	}
	return Record{}
}

// Tools are the agents' operations, as they are described to agents.
func (s Service) Tools() []Op {
	var tools []Op
	for _, op := range s.Ops {
		if op.Tool == "" {
			continue
		}
		if op.About = cmp.Or(op.AgentAbout, op.About); op.AgentResponse != nil {
			op.Response = op.AgentResponse
		}
		tools = append(tools, op)
	}
	return tools
}

// Op finds the first operation of the name: that of the command line and the pages.
func (s Service) Op(name string) (Op, bool) {
	for _, op := range s.Ops {
		if op.Name == name {
			return op, true
		}
	}
	return Op{}, false
}

// Table finds one of the service's tables.
func (s Service) Table(name string) (Table, bool) {
	for _, t := range s.Tables {
		if t.Name == name {
			return t, true
		}
	}
	return Table{}, false
}

// Export finds one of the service's tables, or of the reports that are only exported.
func (s Service) Export(name string) (Table, bool) {
	if t, ok := s.Table(name); ok {
		return t, true
	}
	return Service{Tables: s.Reports}.Table(name)
}

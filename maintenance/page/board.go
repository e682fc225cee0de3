package page

import (
	"context"
	"fmt"
	"strings"

	"github.com/a-h/templ"

	"quartermaster/maintenance"
	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/page"
)

// board is the first page: the jobs of these days by state.
func board(s *maintenance.Service) page.Page {
	return page.New(page.Spec[maintenance.Board]{
		Path: "/", Title: "Board", Menu: "Board", Key: "b",
		Load: func(*schema.Form) page.Loader[maintenance.Board] {
			return func(ctx context.Context, _ db.Caller) (maintenance.Board, error) { return s.Board(ctx) }
		},
		View: func(b maintenance.Board) templ.Component { return Board(b) },
	})
}

// boardTitle answers what the day needs.
func boardTitle(b maintenance.Board) string {
	if b.Opened+b.Started == 0 {
		return "No job is waiting"
	}
	var parts []string
	if b.Opened > 0 {
		parts = append(parts, page.Plural(b.Opened, "job open", "jobs open"))
	}
	if b.Started > 0 {
		parts = append(parts, fmt.Sprintf("%d in progress", b.Started))
	}
	text := strings.Join(parts, ", ")
	if b.Overdue > 0 {
		text += fmt.Sprintf(", %d overdue", b.Overdue)
	}
	return text
}

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
	return page.New(page.Spec[boardView]{
		Path: "/", Title: "Board", Menu: "Board", Key: "b",
		Load: func(*schema.Form) page.Loader[boardView] {
			return func(ctx context.Context, who db.Caller) (v boardView, err error) {
				if v.Board, err = s.Board(ctx); err != nil {
					return v, err
				}
				v.Mine, err = s.Mine(ctx, who.User)
				return v, err
			}
		},
		View: func(v boardView) templ.Component { return Board(v) },
	})
}

// boardView is the board, and before it the jobs of who looks.
type boardView struct {
	maintenance.Board
	Mine []maintenance.WorkOrder
}

// boardTitle answers what the day needs.
func boardTitle(b boardView) string {
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

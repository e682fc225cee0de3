package page

import (
	"context"
	"slices"

	"github.com/a-h/templ"

	"quartermaster/rental"
	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/page"
)

type boardView struct {
	columns map[string][]rental.Ticket
	counts  map[string]int64
	states  []string
	list    []rental.Ticket // for the file
}

func (v boardView) open() (n int64) {
	for status, of := range v.counts {
		if status != "resolved" {
			n += of
		}
	}
	return n
}

func board(s *rental.Service) page.Page {
	return page.New(page.Spec[boardView]{
		Path: "/maintenance", Title: "Tickets", Menu: "Tickets", Key: "k",
		Load: func(f *schema.Form) page.Loader[boardView] {
			var p page.Paging
			var t rental.TicketFilter
			p.Bind(f)
			f.Enum(&t.Status, "status", "Only tickets with this status", rental.TicketStates(),
				schema.Alias("in-progress", "in_progress"))
			f.ID(&t.UnitID, "unit_id", "Of this unit", schema.Label("Unit"))
			t.Q = p.Q
			return func(ctx context.Context, _ db.Caller) (boardView, error) {
				v := boardView{states: rental.TicketStates()}
				if t.Status != "" {
					v.states = []string{t.Status}
				}
				if p.All {
					t.Limit = p.Limit
					list, err := s.Tickets(ctx, t)
					v.list = list.Tickets
					return v, err
				}
				var err error
				v.columns, v.counts, err = s.TicketBoard(ctx, t)
				return v, err
			}
		},
		View: Board,
		CSV: func(v boardView) page.Sheet {
			return page.SheetBy("tickets", v.list, "id", "property", "unit", "title", "description", "priority", "status")
		},
	})
}

type ticketView struct{ rental.TicketDetail }

// PageTitle is what is wrong.
func (v ticketView) PageTitle() string { return v.Title }

func ticket(s *rental.Service) page.Page {
	return page.New(page.Spec[ticketView]{
		Path: "/maintenance/:id", Title: "Ticket",
		Load: page.ByID("ticket_id", "the ticket", func(ctx context.Context, _ db.Caller, id int64) (ticketView, error) {
			d, err := s.TicketDetail(ctx, id)
			return ticketView{d}, err
		}),
		View: TicketPage,
	})
}

func picture(s *rental.Service) page.Page {
	return photo("/photos/:id", page.Staff, s.Photo)
}

func photo(path string, area page.Area, read func(context.Context, db.Caller, int64) (string, []byte, error)) page.Page {
	return page.New(page.Spec[page.File]{
		Path: path, Title: "Photo", Area: area,
		Load: page.ByID("photo_id", "the photo", func(ctx context.Context, who db.Caller, id int64) (page.File, error) {
			media, image, err := read(ctx, who, id)
			return page.File{Kind: media, Body: image}, err
		}),
		View: func(page.File) templ.Component { return templ.NopComponent },
	})
}

func ticketActions(k rental.Ticket) []page.Action {
	var all []page.Action
	for i, to := range rental.TicketNext(k.Status) {
		a := page.Do(moveWord(k.Status, to), "advance_ticket", "ticket_id", page.Num(k.ID), "status", to)
		if i == len(rental.TicketNext(k.Status))-1 && k.Status != "resolved" {
			a = a.Main()
		}
		all = append(all, a)
	}
	return append(all, page.Open("New expense", "add_expense", "ticket_id", page.Num(k.ID)))
}

// ticketMoves are the lawful moves of a ticket on the board, the one ahead first.
func ticketMoves(k rental.Ticket) []page.Action {
	var all []page.Action
	for _, to := range slices.Backward(rental.TicketNext(k.Status)) {
		all = append(all, page.Do(moveWord(k.Status, to), "advance_ticket", "ticket_id", page.Num(k.ID), "status",
			to).Named(k.Title))
	}
	return all
}

package rental

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"quartermaster/schema/db"
	"quartermaster/schema/fault"
)

func TestTicketMoves(t *testing.T) {
	states := []string{"open", "in_progress", "resolved"}
	allowed := map[string][]string{"open": {"in_progress"}, "in_progress": {"open", "resolved"}, "resolved": {"open"}}
	h := open(t, "2026-11-20")
	h.lease("start_date=2026-11-01")
	for _, from := range states {
		for _, to := range states {
			h.On("2026-11-20")
			made, err := h.CreateTicket(ctx, ann, NewTicket{UnitID: 1, Title: "Tap"})
			h.Must(err)
			for _, step := range map[string][]string{"in_progress": {"in_progress"}, "resolved": {"in_progress", "resolved"}}[from] {
				_, err := h.MoveTicket(ctx, ann, made.ID, step)
				h.Must(err)
			}
			h.On("2026-11-21")
			events, before := len(h.events()), h.written()
			got, err := h.post(h.advanceTicket(), ann, fmt.Sprint(made.ID), `{"status":"`+to+`"}`)
			if !slices.Contains(allowed[from], to) {
				h.Refused(err, fault.Invalid, "cannot move to "+to, "allowed from "+from+": "+strings.Join(allowed[from], ", "))
				if h.written() != before {
					t.Errorf("%s to %s was refused and wrote something", from, to)
				}
				continue
			}
			h.Must(err)
			k := got.(Ticket)
			if k.Status != to || (k.ResolvedAt != nil) != (to == "resolved") || k.UpdatedAt.String() != "2026-11-21T12:00:00Z" {
				t.Errorf("%s to %s: %s", from, to, asJSON(t, k))
			}
			if to == "resolved" && k.ResolvedAt.String() != "2026-11-21T12:00:00Z" {
				t.Errorf("resolved at %s", k.ResolvedAt)
			}
			body := h.Texts("SELECT CAST(body AS TEXT) FROM events ORDER BY seq")[events:]
			want := strings.TrimSuffix(asJSON(t, k), "}") + fmt.Sprintf(`,"from":"%s","to":"%s"}`, from, to)
			if len(body) != 1 || !strings.Contains(body[0], want) || !strings.Contains(body[0], `"event":"maintenance.status_changed"`) {
				t.Errorf("events %q, want one with %s", body, want)
			}
		}
	}
}

func TestCreateTicket(t *testing.T) {
	h := open(t, "2026-11-20")
	h.lease("start_date=2026-11-01", "end_date=2026-11-20")
	got, err := h.post(h.createTicket(), ann, "", `{"unit_id":1,"title":" Tap drips ","priority":"Emergency"}`)
	h.Must(err)
	want := `{"id":1,"unit_id":1,"unit":"U1","property":"House","lease_id":1,"title":"Tap drips","description":null,"priority":"urgent","status":"open",` +
		`"source":"api","created_by":"ann","created_at":"2026-11-20T12:00:00Z","updated_at":"2026-11-20T12:00:00Z","resolved_at":null,"assigned_to":null}`
	if s := asJSON(t, got); s != want {
		t.Errorf("%s\nwant\n%s", s, want)
	}
	if body := h.Texts("SELECT CAST(body AS TEXT) FROM events"); len(body) != 1 || !strings.Contains(body[0], `"data":`+want) || !strings.Contains(body[0], "maintenance.created") {
		t.Errorf("events %q", body)
	}
	h.On("2026-11-21") // the lease is over
	agent := ann
	agent.Via = "mcp"
	got, err = h.tool("create_ticket", agent, `{"unit_id":1,"title":"Door","description":"Squeaks.","priority":"normal"}`)
	h.Must(err)
	if k := got.(Ticket); k.LeaseID != nil || k.Priority != "medium" || k.Source != "agent" || *k.Description != "Squeaks." {
		t.Errorf("%s", asJSON(t, k))
	}
	before := h.written()
	for _, c := range []struct{ body, says string }{
		{`{"title":"x"}`, "unit_id is missing"}, {`{"unit_id":1}`, "title is missing"}, {`{"unit_id":1,"title":" \n "}`, "title is empty"},
		{`{"unit_id":9,"title":"x"}`, "no unit 9"}, {`{"unit_id":0,"title":"x"}`, "unit_id"}, {`{"unit_id":"1","title":"x"}`, "unit_id"},
		{`{"unit_id":1,"title":"x","priority":"asap"}`, "low, medium, high, urgent"}, {`{"unit_id":1,"title":"x","priority":3}`, "priority"},
		{`{"unit_id":1,"title":"` + strings.Repeat("x", 201) + `"}`, "at most 200"}, {`{"unit_id":1,"title":"a\u0007"}`, "control character"},
		{`{"unit_id":1,"title":"x","description":"` + strings.Repeat("x", 10_001) + `"}`, "at most 10000"}, {`{"unit_id":1,"title":"x","status":"open"}`, "status"},
	} {
		_, err := h.post(h.createTicket(), ann, "", c.body)
		h.Refused(err, fault.Invalid, c.says)
	}
	for _, who := range []db.Caller{viewer, reader} {
		_, err := h.CreateTicket(ctx, who, NewTicket{UnitID: 1, Title: "x"})
		h.Refused(err, fault.Forbidden)
		_, err = h.MoveTicket(ctx, who, 1, "in_progress")
		h.Refused(err, fault.Forbidden)
	}
	if h.written() != before {
		t.Error("a refused ticket wrote something")
	}
}

func TestMoveTicketRefusals(t *testing.T) {
	h := open(t, "2026-11-20")
	h.lease("start_date=2026-11-01")
	_, err := h.CreateTicket(ctx, ann, NewTicket{UnitID: 1, Title: "Tap"})
	h.Must(err)
	for _, c := range []struct {
		id, body string
		kind     fault.Kind
		says     string
	}{
		{"1", `{}`, fault.Invalid, "status is missing"}, {"1", `{"status":"closed"}`, fault.Invalid, "open, in_progress, resolved"},
		{"1", `{"status":null}`, fault.Invalid, "status"}, {"2", `{"status":"open"}`, fault.NotFound, "ticket 2"},
		{"2", `{"status":"closed"}`, fault.Invalid, "status"}, {"x", `{"status":"open"}`, fault.NotFound, ""},
	} {
		_, err := h.post(h.advanceTicket(), ann, c.id, c.body)
		h.Refused(err, c.kind, c.says)
	}
	got, err := h.post(h.advanceTicket(), ann, "1", `{"status":"in-progress"}`)
	h.Must(err)
	if k := got.(Ticket); k.Status != "in_progress" {
		t.Errorf("%s", asJSON(t, k))
	}
	list, err := h.get(h.listTickets(), viewer, "", "status=in-progress")
	h.Must(err)
	if l := list.(Tickets); len(l.Tickets) != 1 {
		t.Errorf("%s", asJSON(t, l))
	}
	_, err = h.tool("advance_ticket", ann, `{"ticket_id":1,"status":"resolved"}`)
	h.Must(err)
}

func TestRacingMovesOfOneTicket(t *testing.T) {
	h := open(t, "2026-11-20")
	h.lease("start_date=2026-11-01")
	_, err := h.CreateTicket(ctx, ann, NewTicket{UnitID: 1, Title: "Tap"})
	h.Must(err)
	errs := make([]error, 8)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() { _, errs[i] = h.MoveTicket(ctx, ann, 1, "in_progress") })
	}
	wg.Wait()
	won := 0
	for _, err := range errs {
		if err == nil {
			won++
		} else if !fault.Is(err, fault.Invalid) {
			t.Errorf("a loser got %v", err)
		}
	}
	if e := h.events(); won != 1 || len(e) != 2 {
		t.Errorf("%d won, events %q", won, e)
	}
}

func TestTicketsAsCSV(t *testing.T) {
	h := open(t, "2026-11-20")
	h.lease("start_date=2026-11-01")
	h.lease("start_date=2026-11-21")
	h.load("tickets", "id,property,unit,title,description,priority,status\n"+
		",House,U1,Tap,Drips,normal,open\n12,House,U2,Door,,,resolved\n,House,U1,Lamp,,high,in-progress\n")
	if e := h.events(); !slices.Equal(e, []string{"maintenance.created"}) { // the others are history
		t.Errorf("events %q", e)
	}
	want := "id,property,unit,title,description,priority,status\n1,House,U1,Tap,Drips,medium,open\n12,House,U2,Door,,medium,resolved\n13,House,U1,Lamp,,high,in_progress\n"
	if got := h.export("tickets"); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if got := h.Texts("SELECT source || ' ' || (lease_id IS NULL) || ' ' || (resolved_at IS NULL) FROM tickets ORDER BY id"); !slices.Equal(got, []string{"cli 0 1", "cli 1 0", "cli 0 1"}) {
		t.Errorf("%q", got)
	}
	before := h.written()
	h.load("tickets", want)
	if h.written() != before || h.export("tickets") != want {
		t.Error("importing what was exported changed something")
	}
	h.load("tickets", "id,title,status,priority\n1,Tap again,in_progress,\n")
	h.load("tickets", "id,property,unit\n13,House,U2\n")
	refusals := h.try("tickets", "id,title,status\n1,Tap again,in_progress\n12,Door,in_progress\n,No unit,open\n0,x,open\n13,,open\n")
	for i, says := range []string{"cannot move to in_progress", "property and unit are missing", "id", "title is empty"} {
		if len(refusals) != 4 || !strings.Contains(refusals[i], says) {
			t.Fatalf("refusals %q, want %q", refusals, says)
		}
	}
	if got := h.Texts("SELECT title || ' ' || status || ' ' || priority || ' ' || unit_id || ' ' || coalesce(lease_id, '-') FROM tickets ORDER BY id"); !slices.Equal(got,
		[]string{"Tap again in_progress medium 1 1", "Door resolved medium 2 -", "Lamp in_progress high 2 -"}) {
		t.Errorf("%q", got)
	}
	if e := h.events(); !slices.Equal(e, []string{"maintenance.created", "maintenance.status_changed"}) { // one row moved a ticket
		t.Errorf("events %q", e)
	}
	last := h.Texts("SELECT CAST(body AS TEXT) FROM events ORDER BY seq DESC LIMIT 1")[0]
	if !strings.Contains(last, `"title":"Tap again"`) || !strings.Contains(last, `"from":"open","to":"in_progress"`) {
		t.Errorf("it tells %s", last)
	}
	h.sound()
}

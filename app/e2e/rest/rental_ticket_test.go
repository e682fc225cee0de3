package rest

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

// ticketMoves is the interface's table of moves; any other move is refused.
var ticketMoves = map[string][]string{"open": {"in_progress"}, "in_progress": {"open", "resolved"}, "resolved": {"open"}}

type ticketAnswer struct {
	ID         int64
	UnitID     int64  `json:"unit_id"`
	LeaseID    *int64 `json:"lease_id"`
	Title      string
	Priority   string
	Status     string
	Source     string
	CreatedBy  string  `json:"created_by"`
	UpdatedAt  string  `json:"updated_at"`
	ResolvedAt *string `json:"resolved_at"`
}

// TestTicketMoves tries every move from every status over REST, by an agent and at the command line. The same table
// holds, and resolved_at follows it.
func TestTicketMoves(t *testing.T) {
	t.Parallel()
	l := apptest.NewRental(t)
	l.Lease("start_date=2026-11-01")
	// Each function returns the refusal of a move, "" if there is none.
	ways := map[string]func(id int, to string) string{
		"rest": func(id int, to string) string {
			a := l.Post("rental", fmt.Sprintf("/api/maintenance/%d/status", id), `{"status":"`+to+`"}`)
			if a.Status == 200 {
				assert.That(t, a.Body == l.Ticket(id), "the answer %s is not the ticket %s", a.Body, l.Ticket(id))
				return ""
			}
			l.Refused(a, 422)
			return fmt.Sprint(a.Map(t)["detail"])
		},
		"mcp": func(id int, to string) string {
			content, refusal := l.Tool("rental", "advance_ticket", fmt.Sprintf(`{"ticket_id":%d,"status":%q}`, id, to))
			assert.That(t, refusal != "" || content["status"] == to, "the tool gives %v", content)
			return refusal
		},
		"cli": func(id int, to string) string {
			return strings.Join(l.Try("tickets", fmt.Sprintf("id,status\n%d,%s\n", id, to)), "\n")
		},
	}
	id := 0
	for name, move := range ways {
		for from, path := range map[string][]string{"open": nil, "in_progress": {"in_progress"}, "resolved": {"in_progress", "resolved"}} {
			for _, to := range []string{"open", "in_progress", "resolved"} {
				l.Clock.Set(l.Clock.Now().Add(time.Minute))
				a := l.Post("rental", "/api/maintenance", `{"unit_id":1,"title":"Tap drips"}`)
				assert.Must(t, a.Status == 201, "%v", a.Body)
				id++
				for _, step := range path {
					assert.MustEqual(t, move(id, step), "")
				}
				was := l.Ticket(id)
				l.Clock.Set(l.Clock.Now().Add(time.Minute))
				refusal := move(id, to)
				if name == "cli" && from == to { // the row equals the stored one
					assert.That(t, refusal == "" && l.Ticket(id) == was, "cli: %s: %s", from, refusal)
					continue
				}
				var k ticketAnswer
				apptest.Answer{Body: l.Ticket(id)}.JSON(t, &k)
				if !slices.Contains(ticketMoves[from], to) {
					if !strings.Contains(refusal, to) || !strings.Contains(refusal, "allowed from "+from+": "+strings.Join(ticketMoves[from], ", ")) || l.Ticket(id) != was {
						t.Errorf("%s: %s to %s: %q", name, from, to, refusal)
					}
					continue
				}
				now := l.Clock.Now().UTC().Format(time.RFC3339)
				if refusal != "" || k.Status != to || k.UpdatedAt != now || (k.ResolvedAt != nil) != (to == "resolved") || k.ResolvedAt != nil && *k.ResolvedAt != now {
					t.Errorf("%s: %s to %s at %s: %q, %+v", name, from, to, now, refusal, k)
				}
			}
		}
	}
	l.Sound()
}

// TestTicketsAreReadAsPeopleWriteThem: the spellings of a priority and a status.
func TestTicketsAreReadAsPeopleWriteThem(t *testing.T) {
	t.Parallel()
	l := apptest.NewRental(t)
	l.Lease("start_date=2026-11-01")
	l.Lease("start_date=2026-11-21") // vacant today
	for _, c := range []struct{ body, want string }{
		{`{"unit_id":1,"title":"x"}`, "medium"},
		{`{"unit_id":1,"title":"x","priority":"low"}`, "low"},
		{`{"unit_id":1,"title":"x","priority":"HIGH"}`, "high"},
		{`{"unit_id":1,"title":"x","priority":"normal"}`, "medium"},
		{`{"unit_id":1,"title":"x","priority":"emergency"}`, "urgent"},
		{`{"unit_id":1,"title":"x","priority":"urgent","description":" ` + strings.Repeat("é", 9_999) + `\n"}`, "urgent"},
		{`{"unit_id":1,"title":"` + strings.Repeat("é", 200) + `"}`, "medium"},
	} {
		a := l.Post("rental", "/api/maintenance", c.body)
		var k ticketAnswer
		a.JSON(t, &k)
		assert.That(t, a.Status == 201 && k.Priority == c.want && k.Status == "open" && k.LeaseID != nil && *k.LeaseID == 1 &&
			k.ResolvedAt == nil && k.CreatedBy == "owner" && k.Source == "api", "%.60s: %d %.200s", c.body, a.Status, a.Body)
	}
	var k ticketAnswer
	l.Post("rental", "/api/maintenance", `{"unit_id":2,"title":"Paint"}`).JSON(t, &k)
	if k.LeaseID != nil {
		t.Errorf("a vacant unit's ticket belongs to lease %d", *k.LeaseID)
	}
	for _, to := range []string{"in-progress", "open", "IN_PROGRESS"} {
		a := l.Post("rental", "/api/maintenance/1/status", `{"status":"`+to+`"}`)
		assert.That(t, a.Status == 200, "%s: %d %s", to, a.Status, a.Body)
	}
	a := l.Get("rental", "/api/maintenance?status=in-progress")
	assert.That(t, strings.Count(a.Body, `"id":`) == 1, "the list: %s", a.Body)
	l.Sound()
}

// TestRacingMoves: simultaneous moves of one ticket over REST get one 200, the others 422.
func TestRacingMoves(t *testing.T) {
	t.Parallel()
	l := apptest.NewRental(t)
	l.Lease("start_date=2026-11-01")
	l.Post("rental", "/api/maintenance", `{"unit_id":1,"title":"Tap drips"}`)
	var answers [8]apptest.Answer
	var all sync.WaitGroup
	for i := range answers {
		all.Go(func() { answers[i] = l.Post("rental", "/api/maintenance/1/status", `{"status":"in_progress"}`) })
	}
	all.Wait()
	moved := 0
	for _, a := range answers {
		if a.Status == 200 {
			moved++
			continue
		}
		l.Refused(a, 422, "allowed from in_progress: open, resolved")
	}
	assert.That(t, moved == 1, "moved %d times", moved)
	l.Sound()
}

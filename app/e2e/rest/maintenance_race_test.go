package rest

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

// together runs n of do at once.
func together(n int, do func(i int)) {
	var begin, end sync.WaitGroup
	begin.Add(1)
	for i := range n {
		end.Go(func() {
			begin.Wait()
			do(i)
		})
	}
	begin.Done()
	end.Wait()
}

// count counts the stored events of a kind.
func count(w apptest.Maintenance, event string) (n int) {
	w.T.Helper()
	for _, body := range events(w) {
		if strings.Contains(body, `"event":"`+event+`"`) {
			n++
		}
	}
	return n
}

// TestRacingMovesOverHTTP: of simultaneous moves of one order, over REST, as agents and by the command, one succeeds;
// the state machine refuses the others.
func TestRacingMovesOverHTTP(t *testing.T) {
	t.Parallel()
	h := newMaintenanceHook(t, "--event", "workorder.completed")
	const rounds, racers = 8, 12
	for round := range rounds {
		id := h.Open(`{"asset_id":2,"description":"Service","pm_id":3}`)
		h.Move(id, "in-progress", "")
		audited := len(h.Trail(1000))
		won := make([]string, racers)
		together(racers, func(i int) {
			to := []string{"done", "cancelled"}[i%2]
			body := fmt.Sprintf(`{"status":%q,"resolution":"racer %d"}`, to, i)
			if i%3 == 0 {
				_, refusal := h.Tool("maintenance", "advance_status", fmt.Sprintf(`{"id":%d,`, id)+body[1:])
				if refusal == "" {
					won[i] = to
				} else if !strings.Contains(refusal, "cannot move to "+to) {
					t.Errorf("an agent: %s", refusal)
				}
				return
			}
			a := h.Post("maintenance", fmt.Sprintf("/api/work-orders/%d/status", id), body)
			switch a.Status {
			case 200:
				won[i] = to
			case 422, 409:
				h.Says("a loser", a.Body, "cannot move to "+to)
			default:
				t.Errorf("%d %s", a.Status, a.Body)
			}
		})
		winners, to := 0, ""
		for i, w := range won {
			if w != "" {
				winners, to = winners+1, w
				h.Says("the order", h.MustGet(fmt.Sprintf("/api/work-orders/%d", id)), `"status":"`+w+`"`, fmt.Sprintf(`"resolution":"racer %d"`, i))
			}
		}
		assert.Must(t, winners == 1 && len(h.Trail(1000)) == audited+1,
			"round %d: %d won, %d audit entries", round, winners, len(h.Trail(1000))-audited)
		if to == "done" {
			h.Says("told", h.hears("told", "workorder.completed"), fmt.Sprintf(`{"id":%d,`, id))
		}
	}
	id := h.Open(`{"asset_id":3,"description":"The last"}`)
	h.Close(id)
	h.Says("nothing was told twice", h.hears("nothing was told twice", "workorder.completed"), `"description":"The last"`)
}

// TestRacingReadingsOverHTTP: readings of one meter posted at once rise one by one. A lower one is refused with 409,
// and the highest is final.
func TestRacingReadingsOverHTTP(t *testing.T) {
	t.Parallel()
	w := apptest.NewMaintenance(t)
	events := count(w, "reading.recorded")
	const racers = 24
	status := make([]int, racers)
	together(racers, func(i int) {
		reading := 1001 + i*7%racers
		if i%4 == 0 {
			if _, refusal := w.Tool("maintenance", "record_meter", fmt.Sprintf(`{"asset_id":1,"reading":%d}`, reading)); refusal == "" {
				status[i] = 201
			} else if status[i] = 409; !strings.Contains(refusal, "below the present value") {
				t.Errorf("an agent: %s", refusal)
			}
			return
		}
		a := w.Post("maintenance", "/api/assets/1/readings", fmt.Sprintf(`{"reading":%d}`, reading))
		status[i] = a.Status
		assert.That(t, a.Status == 201 || a.Status == 409, "%d: %d %s", reading, a.Status, a.Body)
	})
	taken := 0
	for _, s := range status {
		if s == 201 {
			taken++
		}
	}
	last, rows := 1000, table(w, "readings")
	for _, row := range rows {
		if row["asset_tag"] != "LATHE-1" {
			continue
		}
		if now := atoi(row["reading"]); now < last {
			t.Errorf("%d came after %d", now, last)
		} else {
			last = now
		}
	}
	if told := count(w, "reading.recorded") - events; taken == 0 || told != taken || last != 1000+racers {
		t.Errorf("%d taken, %d told, the last is %d", taken, told, last)
	}
}

// TestEqualReadingsAtOnceMoveTheMeterOnce: all are accepted, and one moves the meter.
func TestEqualReadingsAtOnceMoveTheMeterOnce(t *testing.T) {
	t.Parallel()
	w := apptest.NewMaintenance(t)
	events := count(w, "reading.recorded")
	const racers = 16
	answers := make([]apptest.Answer, racers)
	together(racers, func(i int) { answers[i] = w.Post("maintenance", "/api/assets/1/readings", `{"reading":1234.5}`) })
	moved := 0
	for _, a := range answers {
		assert.That(t, a.Status == 201 && strings.Contains(a.Body, `"accepted":true`), "%d %s", a.Status, a.Body)
		if strings.Contains(a.Body, `"previous_reading":1000,"accepted":true,"moved":true`) {
			moved++
		}
	}
	told := count(w, "reading.recorded") - events
	assert.That(t, moved == 1 && told == 1, "%d moved it, %d events", moved, told)
}

// TestReadingsRaceWithJobsAndCommands: readings, corrections, completed jobs, services done by command and lists of due
// plans at once. None fails, and doctor (at the end of every maintenance test) finds every figure right.
func TestReadingsRaceWithJobsAndCommands(t *testing.T) {
	t.Parallel()
	w := apptest.NewMaintenance(t)
	ids := make([]int64, 8)
	for i := range ids {
		ids[i] = w.Open(`{"asset_id":2,"description":"Service","pm_id":3}`)
		w.Move(ids[i], "in-progress", "")
	}
	together(30, func(i int) {
		switch i % 6 {
		case 0:
			a := w.Post("maintenance", "/api/assets/2/readings", fmt.Sprintf(`{"meter":"odometer","reading":%d}`, 50000+i*100))
			assert.That(t, a.Status == 201 || a.Status == 409, "a reading: %d %s", a.Status, a.Body)
		case 1:
			a := w.Post("maintenance", fmt.Sprintf("/api/work-orders/%d/status", ids[i/6]), `{"status":"done","resolution":"x"}`)
			assert.That(t, a.Status == 200, "a job: %d %s", a.Status, a.Body)
		case 2:
			a := w.Post("maintenance", "/api/assets/2/readings",
				fmt.Sprintf(`{"meter":"odometer","reading":%d,"correction":true}`, 49000+i))
			assert.That(t, a.Status == 201, "a correction: %d %s", a.Status, a.Body)
		case 3:
			code, _, errs := w.CLI("maintenance", "pm-done", "3")
			assert.That(t, code == 0, "pm-done: exit %d: %s", code, errs)
		case 4:
			a := w.Get("maintenance", "/api/pm-due")
			assert.That(t, a.Status == 200 && strings.Contains(a.Body, `"pm_id":3,`), "what is due: %d %s", a.Status, a.Body)
		case 5:
			w.CLI("maintenance", "move", "open", fmt.Sprint(ids[i/6])) // may be refused, depending on the order
		}
	})
}

// TestRacingRetriesOfOneRequest: a sensor's request repeated with its Idempotency-Key is done once and answered alike.
func TestRacingRetriesOfOneRequest(t *testing.T) {
	t.Parallel()
	w := apptest.NewMaintenance(t)
	answers := make([]apptest.Answer, 10)
	together(len(answers), func(i int) {
		answers[i] = w.Do("maintenance", "POST", "/api/work-orders", w.Keys["maintenance"], `{"asset_id":1,"description":"Once"}`, "Idempotency-Key: once")
	})
	replayed := 0
	for _, a := range answers {
		assert.That(t, a.Status == 201 && a.Body == answers[0].Body, "%d %s", a.Status, a.Body)
		if a.Header.Get("Idempotent-Replayed") == "true" {
			replayed++
		}
	}
	n := count(w, "workorder.created")
	assert.That(t, n == 1 && replayed == len(answers)-1, "%d orders, %d replayed", n, replayed)
}

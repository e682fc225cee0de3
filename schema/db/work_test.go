package db

import (
	"errors"
	"strings"
	"testing"

	"quartermaster/schema/fault"
)

// TestWorkIsDoneOnce: a failing step moves nothing, a run continues where the previous one was, an overtaken run
// stops, and the last step stores the answer.
func TestWorkIsDoneOnce(t *testing.T) {
	d, _ := fresh(t)
	job := Job{Service: "reorder", Route: "import/skus", Key: "k", Total: 3}
	step := func(w *Work, name string) error {
		return w.Step(ctx, d, CLI(""), func(tx *Tx) error {
			w.Position, w.Done = name, w.Done+1
			return errors.Join(addUser(tx, name), w.Note(tx, "made "+name))
		})
	}
	first, err := d.Begin(ctx, job)
	must(t, err)
	must(t, step(first, "a"))
	if err := step(first, "a"); err == nil || first.Position != "a" || first.Done != 1 {
		t.Errorf("a step that fails: %v, at %q after %d", err, first.Position, first.Done)
	}
	if !d.UnderWay(job) {
		t.Error("nobody is at the work")
	}
	first.Close()
	second, err := d.Begin(ctx, job)
	if err != nil || second.Position != "a" || strings.Join(second.Notes, " ") != "made a" || d.UnderWay(Job{Key: "other"}) {
		t.Fatalf("the next run is at %q, noted %q: %v", second.Position, second.Notes, err)
	}
	must(t, step(second, "b"))
	if err := step(first, "b2"); !fault.Is(err, fault.Conflict) {
		t.Errorf("the run that was overtaken: %v, want a conflict", err)
	}
	if err := second.Step(ctx, d, CLI(""), func(tx *Tx) error { return errors.Join(addUser(tx, "c"), second.End(tx, "all of it")) }); err != nil {
		t.Fatal(err)
	}
	second.Close()
	done, err := d.Begin(ctx, job)
	if err != nil || done.Answer == nil || *done.Answer != "all of it" {
		t.Fatalf("the work that is done: %+v, %v", done, err)
	}
	if err := step(done, "d"); !fault.Is(err, fault.Conflict) {
		t.Errorf("a step after the last: %v, want a conflict", err)
	}
	done.Close()
	job.Body[0] = 1
	if _, err := d.Begin(ctx, job); !fault.Is(err, fault.Conflict) {
		t.Errorf("another body: %v, want a conflict", err)
	}
	if n := count(t, d, "SELECT count(*) FROM users"); n != 3 {
		t.Errorf("%d users, want 3", n)
	}
}

// TestTheAnswerOfARequestsWork: the last step stores it for the request's key.
func TestTheAnswerOfARequestsWork(t *testing.T) {
	d, _ := fresh(t)
	who := onceBy(7, "ann", "k", "body")
	who.Request.Several = true
	w, err := d.BeginFor(ctx, who)
	must(t, err)
	must(t, w.Step(ctx, d, who, func(tx *Tx) error { return errors.Join(addUser(tx, "a"), w.End(tx, "answer")) }))
	w.Close()
	var again *Replay
	if _, err := d.BeginFor(ctx, onceBy(7, "ann", "k", "body")); !errors.As(err, &again) || string(again.Body) != "answer" {
		t.Errorf("the same request again: %v", err)
	}
	if n := count(t, d, "SELECT count(*) FROM works"); n != 0 {
		t.Errorf("%d works are left", n)
	}
}

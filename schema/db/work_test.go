package db

import (
	"errors"
	"strings"
	"testing"

	"quartermaster/schema/assert"
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
	assert.OK(t, err)
	assert.OK(t, step(first, "a"))
	if err := step(first, "a"); err == nil || first.Position != "a" || first.Done != 1 {
		t.Errorf("a step that fails: %v, at %q after %d", err, first.Position, first.Done)
	}
	assert.That(t, d.UnderWay(job), "nobody is at the work")
	first.Close()
	second, err := d.Begin(ctx, job)
	if err != nil || second.Position != "a" || strings.Join(second.Notes, " ") != "made a" || d.UnderWay(Job{Key: "other"}) {
		t.Fatalf("the next run is at %q, noted %q: %v", second.Position, second.Notes, err)
	}
	assert.OK(t, step(second, "b"))
	err = step(first, "b2")
	assert.That(t, fault.Is(err, fault.Conflict), "the run that was overtaken: %v, want a conflict", err)
	if err := second.Step(ctx, d, CLI(""), func(tx *Tx) error { return errors.Join(addUser(tx, "c"), second.End(tx, "all of it")) }); err != nil {
		t.Fatal(err)
	}
	second.Close()
	done, err := d.Begin(ctx, job)
	assert.Must(t, err == nil && done.Answer != nil && *done.Answer == "all of it",
		"the work that is done: %+v, %v", done, err)
	err = step(done, "d")
	assert.That(t, fault.Is(err, fault.Conflict), "a step after the last: %v, want a conflict", err)
	done.Close()
	job.Body[0] = 1
	_, err = d.Begin(ctx, job)
	assert.That(t, fault.Is(err, fault.Conflict), "another body: %v, want a conflict", err)
	assert.Equal(t, count(t, d, "SELECT count(*) FROM users"), 3, "users")
}

// TestTheAnswerOfARequestsWork: the last step stores it for the request's key.
func TestTheAnswerOfARequestsWork(t *testing.T) {
	d, _ := fresh(t)
	who := onceBy(7, "ann", "k", "body")
	who.Request.Several = true
	w, err := d.BeginFor(ctx, who)
	assert.OK(t, err)
	assert.OK(t, w.Step(ctx, d, who, func(tx *Tx) error { return errors.Join(addUser(tx, "a"), w.End(tx, "answer")) }))
	w.Close()
	var again *Replay
	_, err = d.BeginFor(ctx, onceBy(7, "ann", "k", "body"))
	assert.That(t, errors.As(err, &again) && string(again.Body) == "answer", "the same request again: %v", err)
	assert.Equal(t, count(t, d, "SELECT count(*) FROM works"), 0, "works are left")
}

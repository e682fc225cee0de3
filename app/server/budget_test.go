package server

import (
	"errors"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"quartermaster/schema/fault"
)

// requestOf begins a request of an address, whose client has stalled by then or is at work.
func requestOf(t *testing.T, b *budget, address string, stalled bool) *inFlight {
	t.Helper()
	p := connect(t, newConnLimiter(1))
	p.address, p.shared = address, address == "shared"
	p.reading.Store(stalled)
	p.grow()
	return &inFlight{ResponseWriter: httptest.NewRecorder(), conn: p.limitedConn, budget: b}
}

// claimed takes n bytes beside what the test goes on with; the outcome comes when there is one.
func claimed(t *inFlight, n int64, answer bool) <-chan error {
	got := make(chan error, 1)
	go func() { got <- t.budget.take(t, n, answer) }()
	synctest.Wait()
	return got
}

func expectTake(t *testing.T, r *inFlight, n int64, answer bool) {
	t.Helper()
	select {
	case err := <-claimed(r, n, answer):
		if err != nil {
			t.Fatal(err)
		}
	default:
		t.Fatalf("%d bytes are not granted at once", n)
	}
}

// expectRefusal fails unless the claim is refused, after so much time.
func expectRefusal(t *testing.T, r *inFlight, n int64, after time.Duration) {
	t.Helper()
	began := time.Now()
	err := <-claimed(r, n, false)
	var refused *fault.Error
	if !errors.As(err, &refused) || refused.Kind != fault.Unavailable || refused.Retry != time.Second {
		t.Errorf("%v", err)
	}
	if took := time.Since(began); took != after {
		t.Errorf("refused after %v, want %v", took, after)
	}
	if r.Header().Get("Connection") != "close" {
		t.Error("its connection is kept")
	}
}

// TestSlowestIsCutOff uses a budget up: the largest that has stalled makes room, and none
// beside it.
func TestSlowestIsCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBudget(1000)
		small, large := requestOf(t, b, "shared", true), requestOf(t, b, "shared", true)
		brisk, next := requestOf(t, b, "shared", false), requestOf(t, b, "shared", false)
		expectTake(t, small, 200, false)
		expectTake(t, large, 300, false)
		expectTake(t, brisk, 500, false)
		got := claimed(next, 250, false)
		for range 3 { // its request takes some time to end
			time.Sleep(settleAgain)
		}
		synctest.Wait()
		if !large.cut || brisk.cut || len(got) > 0 {
			t.Fatalf("large %v, brisk %v, granted %d", large.cut, brisk.cut, len(got))
		}
		large.done()
		if err := <-got; err != nil {
			t.Error(err)
		}
		if b.left != 50 || b.garbage != 0 || len(b.held) != 3 {
			t.Errorf("%d left, %d not collected, %d hold something", b.left, b.garbage, len(b.held))
		}
	})
}

// TestABudgetIsShared holds addresses and answers to their shares.
func TestABudgetIsShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBudget(1000)
		one, other := requestOf(t, b, "192.0.2.1", false), requestOf(t, b, "192.0.2.1", false)
		expectTake(t, one, 400, false)
		expectRefusal(t, other, 200, waitBudget)
		expectTake(t, requestOf(t, b, "192.0.2.2", false), 200, false)
		one.done()
		answer := requestOf(t, b, "shared", false)
		expectTake(t, answer, 500, true)
		waits := claimed(requestOf(t, b, "shared", false), 100, true)
		expectTake(t, requestOf(t, b, "shared", false), 100, false)
		answer.done()
		if err := <-waits; err != nil {
			t.Error(err)
		}
	})
}

// TestWhoIsAloneFindsRoom: what is allowed is served, if it is more than the budget.
func TestWhoIsAloneFindsRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBudget(1000)
		upload := requestOf(t, b, "192.0.2.1", false)
		expectTake(t, upload, 900, false)
		expectTake(t, upload, 1600, false)
		b.give(upload, 900)
		upload.done()
		if err := <-claimed(requestOf(t, b, "192.0.2.2", false), 500, true); err != nil { // when the collector has run
			t.Error(err)
		}
	})
}

// TestWaitersAreBounded: one more than may wait is refused at once, an answer that is
// worked out is not.
func TestWaitersAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBudget(1000)
		b.queue.most = 2
		all := requestOf(t, b, "shared", false)
		expectTake(t, all, 1000, false)
		first, second := claimed(requestOf(t, b, "shared", false), 10, false), claimed(requestOf(t, b, "shared", false), 10, false)
		expectRefusal(t, requestOf(t, b, "shared", false), 10, 0)
		answer := claimed(requestOf(t, b, "shared", false), 10, true)
		for range cap(b.workers.free) / 2 {
			if err := requestOf(t, b, "shared", false).Work("a report"); err != nil {
				t.Fatal(err)
			}
		}
		if err := requestOf(t, b, "shared", false).Work("a report"); err == nil {
			t.Error("it waits for a worker beside those that wait for memory")
		}
		all.done()
		for _, got := range []<-chan error{first, second, answer} {
			if err := <-got; err != nil {
				t.Error(err)
			}
		}
		if n := b.queue.n.Load(); n != 0 {
			t.Errorf("%d are still counted as waiting", n)
		}
	})
}

// TestOneQuestionLeavesWorkers: half of the workers are left for other questions; who
// waits has its turn when one is given back, and is refused after waitTurn.
func TestOneQuestionLeavesWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBudget(20 << 20) // two workers
		ask := func(what string) (*inFlight, <-chan error) {
			r, got := requestOf(t, b, "shared", false), make(chan error, 1)
			go func() { got <- r.Work(what) }()
			synctest.Wait()
			return r, got
		}
		first, got := ask("a report")
		if err := <-got; err != nil {
			t.Fatal(err)
		}
		_, second := ask("a report")
		_, late := ask("a report")
		if _, other := ask("a list"); len(second) != 0 || len(other) != 1 {
			t.Fatal("the second worker is not the other question's")
		}
		first.done()
		if err := <-second; err != nil {
			t.Error(err)
		}
		if err := <-late; !fault.Is(err, fault.Unavailable) {
			t.Errorf("after %v: %v", waitTurn, err)
		}
	})
}

// TestEqualAnswersAreCountedOnce: a copy that several send is counted for one of them at a
// time, until the last has ended.
func TestEqualAnswersAreCountedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBudget(1000)
		body, other := make([]byte, 400), make([]byte, 400)
		var senders []*inFlight
		send := func(p []byte) <-chan error {
			r := requestOf(t, b, "192.0.2.1", false)
			senders = append(senders, r)
			got := make(chan error, 1)
			go func() { got <- b.send(r, p) }()
			synctest.Wait()
			return got
		}
		counts := func(what string, left, garbage, held int64) {
			t.Helper()
			sum := int64(0)
			for r := range b.held {
				sum += r.held
			}
			if b.left != left || b.garbage != garbage || sum != held || b.answers != held || b.by["192.0.2.1"] != held {
				t.Errorf("%s: %d left, %d not collected, %d held, %d by answers, %d by the address", what, b.left, b.garbage, sum, b.answers, b.by["192.0.2.1"])
			}
		}
		for range 3 {
			if err := <-send(body); err != nil {
				t.Fatal(err)
			}
		}
		counts("three send one", 600, 0, 400)
		waits := send(other)
		if len(waits) > 0 {
			t.Fatal("another answer has room beside it")
		}
		senders[0].done()
		senders[2].done()
		counts("one sends it", 600, 0, 400)
		if len(waits) > 0 {
			t.Fatal("another answer has room beside the last")
		}
		senders[1].done()
		if err := <-waits; err != nil {
			t.Fatal(err)
		}
		counts("the other is sent", 200, 400, 400)
		senders[3].done()
		counts("none is sent", 200, 800, 0)
		if len(b.copies)+len(b.held)+len(b.by) > 0 {
			t.Errorf("left over: %v, %v, %v", b.copies, b.held, b.by)
		}
	})
}

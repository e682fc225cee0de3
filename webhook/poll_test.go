package webhook

import (
	"context"
	"time"
)

// SetPoll lets a test take the polling away, so that only Wake is left.
func (s *Sender) SetPoll(d time.Duration) { s.poll = d }

// CleanUp runs the housework with a rest of the test's own between its steps.
func (s *Sender) CleanUp(ctx context.Context, rest func(context.Context, time.Duration) bool) {
	s.cleanUp(ctx, rest)
}

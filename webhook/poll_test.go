package webhook

import (
	"context"
	"time"
)

// SetPoll lets a test disable polling, so that only Wake is left.
func (s *Sender) SetPoll(d time.Duration) { s.poll = d }

// CleanUp runs the housekeeping with the test's own pause between its steps.
func (s *Sender) CleanUp(ctx context.Context, rest func(context.Context, time.Duration) bool) {
	s.cleanUp(ctx, rest)
}

package webhook

import "time"

// SetPoll lets a test take the polling away, so that only Wake is left.
func (s *Sender) SetPoll(d time.Duration) { s.poll = d }

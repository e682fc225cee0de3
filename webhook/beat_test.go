package webhook

import "time"

// SetBeat lets a test take the beat away, so that only Wake is left.
func (s *Sender) SetBeat(d time.Duration) { s.beat = d }

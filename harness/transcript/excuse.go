package transcript

import "time"

// A Starvation is a span in which a target, or the harness, could have run, and had to wait for a processor that others used.
type Starvation struct {
	From  time.Duration `json:"from"`
	Until time.Duration `json:"until"`
	For   time.Duration `json:"for"` // how long of it
}

// Excuse returns by how much the machine may have delayed what the target did between two moments, and the harness saw of
// it. What was due at a third moment the harness saw late for as long as it was kept waiting itself after that moment. What
// somebody else's machine does to a target is not known, and so is no excuse.
func (t *Transcript) Excuse(from, due, until time.Duration) time.Duration {
	var waited time.Duration
	first, last := until, from
	for _, s := range t.Starved {
		if s.From <= until && s.Until >= from {
			waited += s.For
			first, last = min(first, s.From), max(last, s.Until)
		}
	}
	// threads that waited at once waited no longer than it lasted
	return max(t.Stalled, t.delay(due, until)) + max(0, min(waited, last-first))
}

// delay returns how long the harness was kept waiting between two moments.
func (t *Transcript) delay(from, until time.Duration) time.Duration {
	var waited time.Duration
	for _, s := range t.Delayed {
		waited += max(0, min(s.For, min(s.Until, until)-max(s.From, from)))
	}
	return max(0, min(waited, until-from))
}

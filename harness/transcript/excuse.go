package transcript

import "time"

// A Starvation is a span in which a target could have run, and had to wait for a processor that others used.
type Starvation struct {
	From  time.Duration `json:"from"`
	Until time.Duration `json:"until"`
	For   time.Duration `json:"for"` // how long of it
}

// Excuse returns by how much the machine may have delayed what the target did between two moments, and the harness saw of
// it. What somebody else's machine does to a target is not known, and so is no excuse.
func (t *Transcript) Excuse(from, until time.Duration) time.Duration {
	var waited time.Duration
	first, last := until, from
	for _, s := range t.Starved {
		if s.From <= until && s.Until >= from {
			waited += s.For
			first, last = min(first, s.From), max(last, s.Until)
		}
	}
	return t.Stalled + max(0, min(waited, last-first)) // threads that waited at once waited no longer than it lasted
}

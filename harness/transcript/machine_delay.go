package transcript

import "time"

// A Starvation is a span in which a target, or the harness, waited for a processor that other processes used.
type Starvation struct {
	From  time.Duration `json:"from"`
	Until time.Duration `json:"until"`
	For   time.Duration `json:"for"` // how long it waited
}

// MachineDelay returns by how much the machine may have delayed what the target did between two moments, and what the
// harness recorded of it. An event that was due at a third moment is also recorded late by as long as the harness was kept
// waiting after that moment. For a target on another machine, only the delay of the harness is known.
func (t *Transcript) MachineDelay(from, due, until time.Duration) time.Duration {
	var waited time.Duration
	first, last := until, from
	for _, s := range t.Starved {
		if s.From <= until && s.Until >= from {
			waited += s.For
			first, last = min(first, s.From), max(last, s.Until)
		}
	}
	// several threads may have waited at the same time
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

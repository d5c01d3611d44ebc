package transcript

import "time"

// A Starvation is a time span in which a target, or lockstep itself, waited for a processor that other processes used.
type Starvation struct {
	From  time.Duration `json:"from"`
	Until time.Duration `json:"until"`
	For   time.Duration `json:"for"` // how long it waited
}

// MachineDelay returns how much the machine may have delayed what the target did between two moments, and the recording
// of it. due is when the recorded event was due: it is also recorded late by as long as lockstep was kept waiting after
// that moment. For a target on another machine, only the delay of lockstep is known.
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

// delay returns how long lockstep was kept waiting between two moments.
func (t *Transcript) delay(from, until time.Duration) time.Duration {
	var waited time.Duration
	for _, s := range t.Delayed {
		waited += max(0, min(s.For, min(s.Until, until)-max(s.From, from)))
	}
	return max(0, min(waited, until-from))
}

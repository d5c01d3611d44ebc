// Package runqueue measures how long processes were ready to run but waited for a processor that others used. A process
// that sleeps, waits for a lock or works does not wait for a processor.
package runqueue

import "time"

// A Use is how much processor time a group of processes has used until a moment.
type Use struct {
	At  time.Time
	Ran time.Duration // by all of them, with threads and children that have ended
	// Waited is how long each thread has waited since it began, by its id.
	Waited map[int]time.Duration
}

// A Gauge measures how long a group waited between two looks. The zero value is ready to use.
type Gauge struct {
	last  Use
	looks []look
}

// A look is how long the group had run by a moment.
type look struct {
	at  time.Time
	ran time.Duration
}

// Look adds the current use of the group. It returns how long other processes have kept the group waiting since the
// previous look: the longest wait of a thread, minus the time that the group itself has run meanwhile.
//
// This is at most the true time. While a thread waits, every processor that it may use is busy. When only the group
// itself uses them, it runs for at least as long as any of its threads waits. The system counts a wait when it is over.
// So a wait that is longer than the time since the previous look began earlier, and the time that the group has run
// since then is subtracted.
func (g *Gauge) Look(u Use) time.Duration {
	before := g.last
	g.last = u
	if !u.follows(before) {
		g.looks = []look{{u.At, u.Ran}}
		return 0
	}
	g.looks = append(g.looks, look{u.At, u.Ran})
	var longest time.Duration
	for id, waited := range u.Waited {
		sofar, known := before.Waited[id]
		wait := waited - sofar
		if !known { // it may have waited before the last look
			wait = min(wait, u.At.Sub(before.At))
		}
		if wait > longest {
			longest = max(longest, wait-g.ranSince(u.At.Add(-wait)))
		}
	}
	return longest
}

// follows reports whether a use continues an earlier one of the same processes.
func (u *Use) follows(before Use) bool {
	for id := range u.Waited {
		if _, known := before.Waited[id]; known {
			return u.Ran >= before.Ran
		}
	}
	return false
}

// ranSince returns how long the group has run since the last look at or before a moment.
func (g *Gauge) ranSince(at time.Time) time.Duration {
	i := len(g.looks) - 2
	for i > 0 && g.looks[i].at.After(at) {
		i--
	}
	return g.last.Ran - g.looks[i].ran
}

// Package runqueue tells for how long processes were kept from running by others: they could have run, and waited for a
// processor. A process that sleeps, that waits for a lock or that works does not wait for a processor, however slow it is.
package runqueue

import "time"

// A Use is what a group of processes has had of the processors until a moment.
type Use struct {
	At  time.Time
	Ran time.Duration // by all of them, with those of their threads and children that have ended
	// Waited is how long each thread was kept waiting since it began, by its id.
	Waited map[int]time.Duration
}

// A Gauge tells what a group waited from look to look. The zero value has not looked yet.
type Gauge struct {
	last  Use
	looks []look
}

// A look is how long the group had run by a moment.
type look struct {
	at  time.Time
	ran time.Duration
}

// Look takes in what the system says of the group at a moment, and returns how long others have kept it waiting since
// the look before: as long as the thread that has waited the most, less all that the group itself has run meanwhile.
//
// That is less than the truth rather than more. While a thread waits, every processor that it may use is busy; when none
// but the group keeps them so, it runs for at least as long as any one of its threads waits, and has waited for nobody
// else. The system counts a wait when it is over. So one that is longer than the time since the look before began earlier,
// and what the group has run since then is taken off.
func (g *Gauge) Look(u Use) time.Duration {
	before := g.last
	g.last = u
	if !u.follows(before) {
		g.looks = []look{{u.At, u.Ran}}
		return 0
	}
	g.looks = append(g.looks, look{u.At, u.Ran})
	var most time.Duration
	for id, waited := range u.Waited {
		sofar, known := before.Waited[id]
		wait := waited - sofar
		if !known { // it may be older than the look before, and have waited then
			wait = min(wait, u.At.Sub(before.At))
		}
		if wait > most {
			most = max(most, wait-g.ranSince(u.At.Add(-wait)))
		}
	}
	return most
}

// follows reports whether a use is of processes that were there before.
func (u *Use) follows(before Use) bool {
	for id := range u.Waited {
		if _, known := before.Waited[id]; known {
			return u.Ran >= before.Ran
		}
	}
	return false
}

// ranSince returns how long the group has run since the last look that was not after a moment.
func (g *Gauge) ranSince(at time.Time) time.Duration {
	i := len(g.looks) - 2
	for i > 0 && g.looks[i].at.After(at) {
		i--
	}
	return g.last.Ran - g.looks[i].ran
}

package compare

import (
	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// How a stream ended can leave many events without a counterpart. That is one thing that happened, and is told once: as
// the StreamEnd difference, or as the StreamBroken unmet demands of the target. What follows from it is counted as not
// compared.

// flooded reports whether a side has sent more than is kept.
func (s *streams) flooded(side int) bool {
	f := s.sides[side].Failure
	return f != nil && f.Kind == transcript.FailLimit
}

// endedFirst reports whether a side's stream ended when its client would still have listened, and the other's did not.
func (s *streams) endedFirst(side int) bool {
	switch this, other := s.sides[side], s.sides[1-side]; this.Ended {
	case transcript.EndedBroken:
		return other.Ended != transcript.EndedBroken || !s.runs.killed(0, s.sides[0].Until) || !s.runs.killed(1, s.sides[1].Until)
	case transcript.EndedByServer:
		return other.Ended != transcript.EndedByServer
	default:
		return false
	}
}

// capFlood keeps a flood from being aligned event by event.
func (s *streams) capFlood(items *[2][]item) {
	const sample = 20
	for side := range items {
		most := len(items[1-side]) + sample
		if s.flooded(side) && len(items[side]) > most {
			s.notCompared("what came too much", len(items[side])-most)
			items[side] = items[side][:most]
		}
	}
}

// withoutConsequences drops the gaps that are explained already: the events that a stream which had ended could not have
// had any more, and of a flood all but the first.
func (s *streams) withoutConsequences(pairs []pair) []pair {
	last := -1
	for i, p := range pairs {
		if p.ref != nil && p.cand != nil {
			last = i
		}
	}
	var out []pair
	var flood [2]int // events of a side without a counterpart
	for i, p := range pairs {
		switch {
		case p.alone == "" || p.alone == diff.EventMoved:
			out = append(out, p)
			continue
		case p.alone == diff.EventMissing:
			flood[0]++
		default:
			flood[1]++
		}
		has, lacks := 1, 0
		if p.alone == diff.EventMissing {
			has, lacks = 0, 1
		}
		switch {
		case i > last && s.endedFirst(lacks):
			s.notCompared("behind the end of the other's stream", 1)
		case s.flooded(has) && flood[has] > 1:
			s.notCompared("what came too much", 1)
		default:
			out = append(out, p)
		}
	}
	return out
}

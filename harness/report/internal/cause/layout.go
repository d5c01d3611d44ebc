package cause

import (
	"slices"

	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// A Block is what a report shows of one scenario.
type Block struct {
	*verdict.Scenario
	Causes        []*Cause
	SharedReasons []*SharedReason
	ShownAbove    []Reference // the rest, which is shown under earlier scenarios
	Hidden        int         // findings and reasons that are not shown anywhere
}

// A Reference names a cause or a reason that an earlier scenario shows.
type Reference struct {
	Scenario string
	Cause    *Cause // or
	Reason   *SharedReason
}

// A SharedReason is a reason why something could not be judged, with the other scenarios that have it.
type SharedReason struct {
	verdict.Reason
	scenario string
	Also     []string
}

type reasonKey struct{ target, step, text string }

// A Layout decides what is shown where. Only causes and reasons that are shown in full are referred to, so "also in"
// and "above" are always true.
type Layout struct {
	everything bool
	weights    weights
	causes     causeIndex
	reasons    map[reasonKey]*SharedReason
	Blocks     []*Block
	OneLiners  []*verdict.Scenario // scenarios without a block
}

// NewLayout lays out the scenarios that are neither match nor not-applicable: first those that differ, then those that
// are unknown, and of each those with the worst causes first. With everything, scenarios whose findings are all accepted
// have a block, too.
func NewLayout(scenarios []verdict.Scenario, everything bool) *Layout {
	p := &Layout{everything: everything, causes: causeIndex{}, reasons: map[reasonKey]*SharedReason{}}
	shown := []verdict.Verdict{verdict.Differ, verdict.Unknown}
	if everything {
		shown = append(shown, verdict.Waived)
	}
	var some []*verdict.Scenario
	for _, v := range shown {
		for i := range scenarios {
			if scenarios[i].Verdict == v {
				some = append(some, &scenarios[i])
			}
		}
	}
	some, p.weights = worstFirst(some, everything)
	for _, v := range shown {
		for _, s := range some {
			if s.Verdict == v {
				p.add(s)
			}
		}
	}
	return p
}

func (p *Layout) add(s *verdict.Scenario) {
	b := &Block{Scenario: s}
	full := len(p.Blocks) < MaxBlocks || p.everything
	var fresh []*Cause
	for _, c := range causesOf(s, p.everything) {
		if first := p.causes.repeatOf(s, c); first != nil {
			b.refersTo(Reference{Scenario: first.Scenario, Cause: first})
		} else {
			fresh = append(fresh, c)
		}
	}
	worst := p.weights.worst(fresh, MaxCauses)
	for _, c := range fresh {
		if full && (p.everything || worst[c]) {
			p.causes.add(s, c)
			b.Causes = append(b.Causes, c)
		} else {
			b.Hidden += c.Total()
		}
	}
	for _, r := range s.Reasons {
		p.addReason(b, r, full)
	}
	switch {
	case len(b.Causes)+len(b.SharedReasons) > 0:
		p.Blocks = append(p.Blocks, b)
	case b.Hidden > 0 || len(b.ShownAbove) == 0:
		p.OneLiners = append(p.OneLiners, s)
	}
}

func (p *Layout) addReason(b *Block, r verdict.Reason, full bool) {
	key := reasonKey{r.Target, r.Step, r.Text}
	if first := p.reasons[key]; first != nil {
		first.Also = append(first.Also, b.ID)
		b.refersTo(Reference{Scenario: first.scenario, Reason: first})
		return
	}
	if !full || len(b.SharedReasons) >= MaxCauses && !p.everything {
		b.Hidden++
		return
	}
	d := &SharedReason{Reason: r, scenario: b.ID}
	p.reasons[key] = d
	b.SharedReasons = append(b.SharedReasons, d)
}

func (b *Block) refersTo(r Reference) {
	if !slices.Contains(b.ShownAbove, r) {
		b.ShownAbove = append(b.ShownAbove, r)
	}
}

// Limits of what is shown without everything.
const (
	MaxCauses = 5  // causes of one scenario
	MaxBlocks = 25 // scenarios with a full block
)

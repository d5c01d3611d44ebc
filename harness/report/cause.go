package report

import (
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// A cause is what one or more findings say. A server that forgets a header forgets it everywhere: that is told once,
// with the list of where else.
type cause struct {
	verdict.Finding          // the first that says it
	index           int      // of that one, in its scenario
	targets         []string // that it is about
	findings        int      // that say it at this step
	elements        []string // the places of those that say it of other elements of a list
	also            []spot   // where else it is said
}

// A spot is where a finding says again what has been said.
type spot struct {
	scenario *verdict.Scenario
	*cause
}

// said is what findings have in common that say the same, whichever step, target or scenario they are about. Their
// fingerprint stands for kind, place and values: a header field that holds an id has another value in each scenario.
type said struct {
	class                                              verdict.Class
	blame                                              verdict.Blame
	kind, place, text, reference, candidate, want, got string
	fingerprint                                        string
	waiver, note                                       string
	known                                              bool
}

func whatIsSaid(f *verdict.Finding) said {
	if f.Fingerprint != "" && f.Kind != "identity" { // between ids, the values are what it is about
		return said{
			class: f.Class, blame: f.Blame, kind: f.Kind, fingerprint: f.Fingerprint,
			waiver: f.Waiver, note: f.Note, known: f.Known,
		}
	}
	return said{f.Class, f.Blame, f.Kind, f.Place, f.Text, f.Reference, f.Candidate, f.Want, f.Got, "", f.Waiver, f.Note, f.Known}
}

// blamelessly takes the side out of what is said of a target alone: a violation that both servers share is said once.
func blamelessly(s said) said {
	if s.class != verdict.Difference {
		s.blame = ""
	}
	return s
}

// A remark is what the contract has against one side of an exchange or an event.
type remark struct {
	step, stream string
	verdict.Word
}

// evidence returns the remarks that stand beside the differences of a scenario that are shown.
func evidence(s *verdict.Scenario, everything bool) map[remark]bool {
	out := map[remark]bool{}
	for i := range s.Findings {
		if f := &s.Findings[i]; f.Class == verdict.Difference && (everything || !f.Accepted()) {
			for _, w := range f.Contract {
				out[remark{f.Step, f.Stream, w}] = true
			}
		}
	}
	return out
}

// causes returns what a scenario shows, in the order of its findings:
//
//   - a violation that a difference has as its evidence is told there and is no cause of its own;
//   - findings of one step that say the same are one cause, about all their targets;
//   - findings of one step that say the same of several elements of a list are one;
//   - what is accepted is none, unless everything is asked for;
//   - causes of several steps that say the same are one, with the other steps as spots.
func causes(s *verdict.Scenario, everything bool) []*cause {
	type atStep struct {
		step string
		said
	}
	told := evidence(s, everything)
	steps := map[atStep]*cause{}
	var all []*cause
	for i, f := range s.Findings {
		if f.Accepted() && !everything {
			continue
		}
		if f.Class == verdict.Violation && len(f.Contract) == 1 && told[remark{f.Step, f.Stream, f.Contract[0]}] {
			continue
		}
		key := atStep{f.Step, blamelessly(whatIsSaid(&f))}
		c := steps[key]
		if c == nil {
			c = &cause{Finding: f, index: i}
			steps[key] = c
			all = append(all, c)
		}
		c.add(&f)
	}
	return apart(s, byElements(all))
}

// apart puts those causes together that say the same at different steps.
func apart(s *verdict.Scenario, all []*cause) []*cause {
	x := index{}
	return slices.DeleteFunc(all, func(c *cause) bool {
		if x.again(s, c) != nil {
			return true
		}
		x.put(c)
		return false
	})
}

// add takes a finding into a cause that says the same.
func (c *cause) add(f *verdict.Finding) {
	c.findings++
	if !slices.Contains(c.targets, f.Target) {
		c.targets = append(c.targets, f.Target)
	}
	for _, w := range f.Contract {
		if !slices.Contains(c.Contract, w) {
			c.Contract = append(slices.Clip(c.Contract), w)
		}
	}
}

// total counts the findings of a cause, those at its spots too.
func (c *cause) total() int {
	n := c.findings
	for _, spot := range c.also {
		n += spot.findings
	}
	return n
}

// An index finds the cause that said something first.
type index map[indexKey]*cause

type indexKey struct {
	said
	targets string
}

func keyOf(c *cause) indexKey {
	return indexKey{blamelessly(whatIsSaid(&c.Finding)), strings.Join(c.targets, "\n")}
}

func (x index) put(c *cause) { x[keyOf(c)] = c }

// again returns the cause that said the same before, and notes there that it is said in this scenario too. It returns
// nil when it is said for the first time.
func (x index) again(s *verdict.Scenario, c *cause) *cause {
	first := x[keyOf(c)]
	if first != nil {
		first.also = append(first.also, spot{s, c})
	}
	return first
}

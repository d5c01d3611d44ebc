package scenario

import (
	"fmt"
	"maps"

	"github.com/lockstep-dev/lockstep/internal/yamldoc"
)

// A doing is something a list of steps does with a name that another list must not do at the same time: with which of them
// the name stays would be chance.
type doing struct {
	what doingKind
	name string
}

type doingKind int

const (
	defines  doingKind = iota // a stream or a started request
	captures                  // a value
	uses                      // a value
	ends                      // a stream or a started request
)

// doings are what a list of steps does, each with the first node that does it.
type doings map[doing]*yamldoc.Node

func (d doings) note(what doingKind, n *yamldoc.Node, name string) {
	if key := (doing{what, name}); d[key] == nil {
		d[key] = n
	}
}

// apart reports what a branch does with a name that an earlier branch of the same parallel step does as well.
func (d *decoder) apart(earlier, own doings) {
	for at, n := range own { // in any order: problems are sorted by their place
		report := func(what doingKind, text, fix string) {
			if first := earlier[doing{what, at.name}]; first != nil {
				d.problem(n, fmt.Sprintf(text, at.name)+fmt.Sprintf(" at the same time, in line %d", first.Line), fix)
			}
		}
		const another, itself = "give it a name of its own", "do it in one of the branches, or behind the parallel step"
		switch at.what {
		case defines:
			report(defines, "%s: another branch opens or starts one of that name", another)
		case captures:
			report(captures, "capture %s: another branch captures it", another)
			report(uses, "capture %s: another branch uses it", another)
		case uses:
			report(captures, "${{ %s }}: another branch captures it", "give what is captured a name of its own")
		case ends:
			report(ends, "%s: another branch ends it", itself)
		}
	}
	for at, n := range own {
		earlier.note(at.what, n, at.name)
	}
}

// parallelNames is stepNames of the branches of a parallel step.
func (d *decoder) parallelNames(p *yamldoc.Node, s scope, fresh bool) {
	before, all := s.clone(), doings{}
	for _, branch := range p.Items {
		own := before.clone()
		own.doings = doings{}
		d.stepNames(branch, own, fresh)
		d.apart(all, own.doings)
		s.add(own)
	}
	maps.Copy(s.doings, all)
}

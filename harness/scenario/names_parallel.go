package scenario

import (
	"fmt"
	"maps"

	"github.com/lockstep-dev/lockstep/internal/yamldoc"
)

// A nameUse is something that a list of steps does with a name, and that another list must not do at the same time.
// Otherwise chance would decide which of them wins.
type nameUse struct {
	kind useKind
	name string
}

type useKind int

const (
	defines  useKind = iota // defines a stream or a started request
	captures                // captures a value
	uses                    // uses a value
	ends                    // ends a stream or a started request
)

// nameUses are the uses in a list of steps, each with its first node.
type nameUses map[nameUse]*yamldoc.Node

func (d nameUses) note(what useKind, n *yamldoc.Node, name string) {
	if key := (nameUse{what, name}); d[key] == nil {
		d[key] = n
	}
}

// checkBranches reports uses of names in a branch that conflict with an earlier branch of the same parallel step.
func (d *nameChecker) checkBranches(earlier, own nameUses) {
	for at, n := range own { // the order does not matter, because problems are sorted by their place
		report := func(what useKind, text, fix string) {
			if first := earlier[nameUse{what, at.name}]; first != nil {
				d.values.problem(n, fmt.Sprintf(text, at.name)+fmt.Sprintf(" at the same time, in line %d", first.Line), fix)
			}
		}
		const another, itself = "give it another name", "do it in one branch only, or after the parallel step"
		switch at.kind {
		case defines:
			report(defines, "%s: another branch opens or starts one with the same name", another)
		case captures:
			report(captures, "capture %s: another branch captures it", another)
			report(uses, "capture %s: another branch uses it", another)
		case uses:
			report(captures, "${{ %s }}: another branch captures it", "give the captured value another name")
		case ends:
			report(ends, "%s: another branch ends it", itself)
		}
	}
	for at, n := range own {
		earlier.note(at.kind, n, at.name)
	}
}

// checkParallel is checkSteps for the branches of a parallel step.
func (d *nameChecker) checkParallel(p *yamldoc.Node, s scope, fresh bool) {
	before, all := s.clone(), nameUses{}
	for _, branch := range p.Items {
		own := before.clone()
		own.uses = nameUses{}
		d.checkSteps(branch, own, fresh)
		d.checkBranches(all, own.uses)
		s.add(own)
	}
	maps.Copy(s.uses, all)
}

package harness

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/contract"
	"github.com/lockstep-dev/lockstep/harness/verdict"
	"github.com/lockstep-dev/lockstep/internal/problem"
	"github.com/lockstep-dev/lockstep/internal/yamldoc"
)

// demand reads how much of the contract a run is to reach. n is nil when lockstep.yaml does not say, and key is where it
// does.
func (l *loader) demand(key, n *yamldoc.Node) {
	if n == nil || !l.shaped || l.p.Contract == nil {
		return
	}
	d := &contract.Demand{File: l.p.File, Line: key.Line}
	for _, m := range contract.Measures() {
		if share := n.Get(string(m)); share != nil {
			d.Least = append(d.Least, contract.Least{Measure: m, Hundredths: hundredths(share.Text)})
		}
	}
	if len(d.Least) == 0 {
		l.problem(n, "coverage demands nothing", "give it a share: statuses: 90%")
	}
	declared := map[contract.Measure][]string{}
	for _, it := range l.p.Contract.NewCoverage().Items() {
		declared[it.Measure] = append(declared[it.Measure], it.Name)
	}
	seen := map[contract.Key]int{}
	for _, one := range n.Get("except").Elements() {
		x := contract.Exception{Because: one.Get("because").Text, File: l.p.File, Line: one.Line}
		for _, m := range contract.Measures() {
			if what := one.Get(m.One()); what != nil {
				if x.Measure != "" {
					l.problem(what, "the exception names more than one thing", "write one for each")
					continue
				}
				x.Key = contract.Key{Measure: m, Name: what.Text}
				l.excepted(what, x.Key, declared[m], seen)
			}
		}
		if x.Measure == "" {
			l.problem(one, "the exception names nothing", "name what is not reached: {status: POST /items 413, because: …}")
		}
		d.Except = append(d.Except, x)
	}
	l.p.Demand = d
}

// excepted checks that the contract declares what an exception speaks of, and that no other one does.
func (l *loader) excepted(n *yamldoc.Node, key contract.Key, declared []string, seen map[contract.Key]int) {
	known := false
	for _, name := range declared {
		known = known || name == key.Name
	}
	switch {
	case !known:
		fix := problem.DidYouMean(key.Name, declared)
		if fix == "" {
			fix = "lockstep coverage lists what the contract declares and a run has not reached"
		}
		l.problem(n, fmt.Sprintf("the contract declares no %s %q", key.Measure.One(), key.Name), fix)
	case seen[key] > 0:
		l.problem(n, fmt.Sprintf("%s %q is excepted in line %d already", key.Measure.One(), key.Name, seen[key]), "keep one of them")
	default:
		seen[key] = n.Line
	}
}

// hundredths reads a share, which the schema has found to be one: "95.5%" is 9550.
func hundredths(share string) int {
	whole, rest, _ := strings.Cut(strings.TrimSuffix(share, "%"), ".")
	n, _ := strconv.Atoi(whole + (rest + "00")[:2])
	return n
}

// gate says whether the run has reached what the project demands; nil when it demands nothing.
func (e *execution) gate() *contract.Gate {
	d := e.project.Demand
	if d == nil {
		return nil
	}
	if why := e.untold(); why != "" {
		return d.NotJudged(why)
	}
	return d.Judge(e.coverage)
}

// untold says why a run cannot tell what all scenarios would reach; "" when it can.
func (e *execution) untold() string {
	if e.result.Incomplete != "" {
		return "the run is not complete"
	}
	if n, all := len(e.scenarios), len(e.project.Scenarios); n < all {
		return fmt.Sprintf("%d of %d scenarios were selected", n, all)
	}
	var doubtful []string
	for i := range e.result.Scenarios {
		if s := &e.result.Scenarios[i]; s.Verdict == verdict.NotApplicable || len(s.Reasons) > 0 {
			doubtful = append(doubtful, s.ID)
		}
	}
	switch len(doubtful) {
	case 0:
		return ""
	case 1:
		return doubtful[0] + " was not judged"
	default:
		return fmt.Sprintf("%s and %d more scenarios were not judged", doubtful[0], len(doubtful)-1)
	}
}

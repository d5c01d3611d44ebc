package project

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/contract/coverage"
	"github.com/lockstep-dev/lockstep/internal/problem"
	"github.com/lockstep-dev/lockstep/internal/yamldoc"
)

// coverageGate reads how much of the contract a run must reach. key and n are the key and its value in lockstep.yaml; n
// is nil when the key is missing.
func (l *loader) coverageGate(key, n *yamldoc.Node) {
	if n == nil || !l.schemaOK || l.p.Contract == nil {
		return
	}
	if l.p.Contract.IsAbsent() {
		l.reader.problem(key, "coverage is that of a contract, and this project has none", "name the OpenAPI document: contract: openapi.yaml")
		return
	}
	d := &coverage.Demand{File: l.p.File, Line: key.Line}
	for _, m := range coverage.Measures() {
		if share := n.Get(string(m)); share != nil {
			d.Least = append(d.Least, coverage.Minimum{Measure: m, Hundredths: parseShare(share.Text)})
		}
	}
	if len(d.Least) == 0 {
		l.reader.problem(n, "coverage sets no minimum", "add one: statuses: 90%")
	}
	declared := map[coverage.Measure][]string{}
	for _, it := range coverage.New(l.p.Contract.Document).Items() {
		declared[it.Measure] = append(declared[it.Measure], it.Name)
	}
	seen := map[coverage.Key]int{}
	for _, one := range n.Get("except").Elements() {
		x := coverage.Exception{Because: one.Get("because").Text, File: l.p.File, Line: one.Line}
		for _, m := range coverage.Measures() {
			if what := one.Get(m.Singular()); what != nil {
				if x.Measure != "" {
					l.reader.problem(what, "the exception names more than one item", "write one exception for each")
					continue
				}
				x.Key = coverage.Key{Measure: m, Name: what.Text}
				l.checkException(what, x.Key, declared[m], seen)
			}
		}
		if x.Measure == "" {
			l.reader.problem(one, "the exception does not say what it is for", "name what is not reached: {status: POST /items 413, because: …}")
		}
		d.Except = append(d.Except, x)
	}
	l.p.Demand = d
}

// checkException checks that the contract declares what an exception names, and that no other exception names it.
func (l *loader) checkException(n *yamldoc.Node, key coverage.Key, declared []string, seen map[coverage.Key]int) {
	switch {
	case !slices.Contains(declared, key.Name):
		fix := cmp.Or(problem.DidYouMean(key.Name, declared), "lockstep coverage lists what the contract declares but a run did not reach")
		l.reader.problem(n, fmt.Sprintf("the contract does not declare the %s %q", key.Measure.Singular(), key.Name), fix)
	case seen[key] > 0:
		l.reader.problem(n, fmt.Sprintf("%s %q already has an exception in line %d", key.Measure.Singular(), key.Name, seen[key]), "keep one of them")
	default:
		seen[key] = n.Line
	}
}

// parseShare parses a share that the schema has checked: "95.5%" is 9550.
func parseShare(share string) int {
	whole, rest, _ := strings.Cut(strings.TrimSuffix(share, "%"), ".")
	n, _ := strconv.Atoi(whole + (rest + "00")[:2])
	return n
}

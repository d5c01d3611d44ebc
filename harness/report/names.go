package report

import (
	"slices"
	"strconv"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// named returns a value of a side with the names of its ids in their place. The ids themselves stand below the scenario.
func (p *page) named(s *verdict.Scenario, c *cause, side int, value string) string {
	const shortest = 6 // others would be found by chance
	if !p.paint.Names {
		return value
	}
	id := func(n verdict.Name) string { return [2]string{n.Reference, n.Candidate}[side] }
	names := slices.DeleteFunc(slices.Clone(s.Names), func(n verdict.Name) bool { return n.Target != c.Target || len(id(n)) < shortest })
	slices.SortStableFunc(names, func(a, b verdict.Name) int { return len(id(b)) - len(id(a)) }) // an id can begin with another one
	var pairs []string
	for _, n := range names {
		pairs = append(pairs, id(n), n.Name)
	}
	return strings.NewReplacer(pairs...).Replace(value)
}

// names writes which ids the names of a scenario stand for.
func (p *page) names(s *verdict.Scenario) {
	const most = 20
	if !p.paint.Names {
		return
	}
	for i, n := range s.Names {
		if i == most && !p.paint.Verbose {
			p.line(2, "and ", strconv.Itoa(len(s.Names)-most), " more names in report.json")
			return
		}
		p.line(2, clip(n.Name, 60), "  ", referenceOf(s), " ", clip(n.Reference, 80), p.dim(" · "), clip(n.Target, 60), " ", clip(n.Candidate, 80))
	}
}

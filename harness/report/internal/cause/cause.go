// Package cause groups findings that say the same, and decides which of them a report shows.
package cause

import (
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// A Cause is one or more findings that say the same. A server that forgets a header forgets it everywhere. That is
// reported once, with a list of the other places.
type Cause struct {
	verdict.Finding // the first of these findings
	In              *verdict.Scenario
	Index           int                // index of the first finding in its scenario
	Targets         []string           // all targets that the findings are about
	Findings        []*verdict.Finding // all of these findings at this step
	Elements        []string           // places of the findings about other elements of a list
	Also            []repeat           // where else it occurs
}

// A repeat is another place where a cause occurs.
type repeat struct {
	Scenario *verdict.Scenario
	*Cause
}

// A statement is what findings that say the same have in common, whatever their step, target or scenario. A fingerprint
// covers kind, place and values: a header field that holds an id has another value in each scenario.
type statement struct {
	class                                              verdict.Class
	blame                                              verdict.Blame
	kind, place, text, reference, candidate, want, got string
	fingerprint                                        string
	waiver, note                                       string
	known                                              bool
}

func statementOf(f *verdict.Finding) statement {
	if f.Fingerprint != "" && f.Kind != "identity" { // findings about ids are distinguished by their values
		return statement{
			class: f.Class, blame: f.Blame, kind: f.Kind, fingerprint: f.Fingerprint,
			waiver: f.Waiver, note: f.Note, known: f.Known,
		}
	}
	return statement{f.Class, f.Blame, f.Kind, f.Place, f.Text, f.Reference, f.Candidate, f.Want, f.Got, "", f.Waiver, f.Note, f.Known}
}

// withoutBlame removes the side from a statement about a single target. So a violation of both servers is reported
// once.
func withoutBlame(s statement) statement {
	if s.class != verdict.Difference {
		s.blame = ""
	}
	return s
}

// causesOf returns the causes of a scenario, in the order of its findings:
//
//   - A violation that is evidence of a difference is shown there and is not a cause of its own.
//   - Findings of one step that say the same are one cause, about all their targets.
//   - Findings of one step that say the same about several elements of a list are one cause.
//   - Accepted findings are left out, unless everything is set.
//   - Causes of several steps that say the same are one cause, with the other steps as repeats.
func causesOf(s *verdict.Scenario, everything bool) []*Cause {
	type atStep struct {
		step string
		statement
	}
	folded := verdict.Folded(s, everything)
	steps := map[atStep]*Cause{}
	var all []*Cause
	for i := range s.Findings {
		f := &s.Findings[i]
		if f.Accepted() && !everything || folded(f) {
			continue
		}
		key := atStep{f.Step, withoutBlame(statementOf(f))}
		c := steps[key]
		if c == nil {
			c = &Cause{Finding: *f, In: s, Index: i}
			steps[key] = c
			all = append(all, c)
		}
		c.add(f)
	}
	return mergeSteps(s, mergeElements(all))
}

// mergeSteps merges causes that say the same at different steps.
func mergeSteps(s *verdict.Scenario, all []*Cause) []*Cause {
	x := causeIndex{}
	return slices.DeleteFunc(all, func(c *Cause) bool {
		if x.repeatOf(s, c) != nil {
			return true
		}
		x.add(s, c)
		return false
	})
}

// add adds a finding that says the same to a cause.
func (c *Cause) add(f *verdict.Finding) {
	c.Findings = append(c.Findings, f)
	if !slices.Contains(c.Targets, f.Target) {
		c.Targets = append(c.Targets, f.Target)
	}
	for _, w := range f.Contract {
		if !slices.Contains(c.Contract, w) {
			c.Contract = append(slices.Clip(c.Contract), w)
		}
	}
}

// Total counts the findings of a cause, including its repeats.
func (c *Cause) Total() int {
	return c.count(func(*verdict.Finding) bool { return true })
}

// count counts some of the findings of a cause, including its repeats.
func (c *Cause) count(is func(*verdict.Finding) bool) int {
	n := 0
	for _, one := range append([]repeat{{c.In, c}}, c.Also...) {
		for _, f := range one.Findings {
			if is(f) {
				n++
			}
		}
	}
	return n
}

// A causeIndex finds the first cause that says something.
type causeIndex map[causeKey]repeat

type causeKey struct {
	statement
	targets string
}

func causeKeyOf(c *Cause) causeKey {
	return causeKey{withoutBlame(statementOf(&c.Finding)), strings.Join(c.Targets, "\n")}
}

// identityKeyOf returns what findings about ids have in common in different scenarios. Within one scenario they are
// distinguished by their values, because an id may be confused with two others at the same place. But every scenario
// has its own ids, and the same mistake has the same fingerprint in each.
func identityKeyOf(c *Cause) (key causeKey, ok bool) {
	key = causeKeyOf(c)
	key.statement = statement{blame: c.Blame, fingerprint: c.Fingerprint, waiver: c.Waiver, note: c.Note, known: c.Known}
	return key, c.Kind == "identity" && c.Fingerprint != ""
}

// add records a cause that is shown for a scenario. The first cause with a fingerprint stays.
func (x causeIndex) add(s *verdict.Scenario, c *Cause) {
	x[causeKeyOf(c)] = repeat{s, c}
	if key, ok := identityKeyOf(c); ok && x[key].Cause == nil {
		x[key] = repeat{s, c}
	}
}

// repeatOf returns the earlier cause that says the same, and adds this place to it. It returns nil when there is none.
func (x causeIndex) repeatOf(s *verdict.Scenario, c *Cause) *Cause {
	first := x[causeKeyOf(c)].Cause
	if key, ok := identityKeyOf(c); ok && first == nil && x[key].Scenario != s {
		first = x[key].Cause
	}
	if first != nil {
		first.Also = append(first.Also, repeat{s, c})
	}
	return first
}

// Values returns both values of a cause: the reference's and the candidate's, or what was wanted and what came instead.
func (c *Cause) Values() (left, right string) {
	if c.Class == verdict.Difference {
		return c.Reference, c.Candidate
	}
	return c.Want, c.Got
}

// Side returns the side that is to blame. A violation or a shortfall that the reference shares with a candidate is the
// mistake of both.
func (c *Cause) Side() verdict.Blame {
	if c.Shared() {
		return verdict.BlameBoth
	}
	return c.InSummary()
}

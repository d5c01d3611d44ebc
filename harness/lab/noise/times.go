package noise

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/harness/compare/jsondiff"
	"github.com/lockstep-dev/lockstep/harness/engine/runfile"
	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// Times are recognised by their form and may differ. Only a rule can demand more, such as that a time never changes.
// The runs show which of these rules could be added: those that held in all runs, although some value could have broken
// them.

// A TimeRule is a rule about times that holds in all runs, with its evidence.
type TimeRule struct {
	scenario.Volatile
	Values int // number of values
	Again  int // of these, values of objects that had occurred before
}

// minSamples is how many values are needed before anything is concluded about all of them.
const minSamples = 5

// A timeMember collects the times of one name.
type timeMember struct {
	name   string
	values int
	again  int
	rising int // values after an earlier one
	digits map[int]bool
	texts  map[string]bool
	cases  []*runfile.Case
}

// times finds the rules about times that hold in all runs.
func (s *measurement) times() {
	seen := map[string]*timeMember{}
	for _, c := range s.cases {
		for _, t := range c.Transcripts {
			collectTimes(seen, c, t)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(seen)) {
		it := seen[name]
		if it.values < minSamples || jsontree.PathStep(name) != "."+name || s.hasRule(name) {
			continue
		}
		if rule, any := s.strictestTimeRule(it); any {
			s.out.Times = append(s.out.Times, TimeRule{Volatile: rule, Values: it.values, Again: it.again})
		}
	}
}

// hasRule reports whether a rule of the project, or one that was found, is about a name already.
func (s *measurement) hasRule(name string) bool {
	return slices.ContainsFunc(slices.Concat(s.project.Rules.Volatile, s.rules), func(r scenario.Volatile) bool {
		return strings.HasSuffix(r.At, "."+name)
	})
}

// strictestTimeRule returns the rule with every demand that the times of a name meet. any is false when there is no
// such demand.
func (s *measurement) strictestTimeRule(it *timeMember) (rule scenario.Volatile, any bool) {
	rule = scenario.Volatile{At: "$.." + it.name, Kind: scenario.VolatileTime, Because: "it held in all runs"}
	attempt := func(supported bool, change func(*scenario.Volatile)) {
		with := rule
		if change(&with); supported && s.holdsEverywhere(it, with) {
			rule, any = with, true
		}
	}
	attempt(it.again >= minSamples, func(r *scenario.Volatile) { r.Stable = true })
	attempt(it.rising >= minSamples, func(r *scenario.Volatile) { r.Monotone = true })
	if len(it.digits) == 1 && len(it.texts) >= minSamples {
		for n := range it.digits {
			attempt(n >= 0 && n <= 9, func(r *scenario.Volatile) { r.Digits = strconv.Itoa(n) })
		}
	}
	return rule, any
}

// holdsEverywhere reports whether no time of a name breaks a rule in any run.
func (s *measurement) holdsEverywhere(it *timeMember, rule scenario.Volatile) bool {
	for _, c := range it.cases {
		v := s.judge(c, []scenario.Volatile{rule})
		for i := range v.Findings {
			if key, _, ok := placeOf(&v.Findings[i]); ok && key == "."+it.name {
				return false
			}
		}
	}
	return true
}

// collectTimes adds the times that a target sent in a scenario, in their order.
func collectTimes(all map[string]*timeMember, c *runfile.Case, t *transcript.Transcript) {
	documents := documentsOf(t)
	slices.SortStableFunc(documents, func(a, b document) int { return a.at.Compare(b.at) })
	seen, last := map[string]bool{}, map[string]time.Time{}
	for _, d := range documents {
		root, _, err := jsontree.Parse(d.data)
		if err != nil {
			continue
		}
		eachMember(root, func(parent, n *jsontree.Node, name string) {
			moment, digits, ok := jsondiff.ReadTime(n.Text)
			if !ok || moment.Sub(d.at).Abs() > time.Hour {
				return
			}
			it := all[name]
			if it == nil {
				it = &timeMember{name: name, digits: map[int]bool{}, texts: map[string]bool{}}
				all[name] = it
			}
			thing := name + " " + d.of
			if id := parent.Member("id"); id != nil {
				thing = name + " id " + id.Text
			}
			it.values++
			if seen[thing] {
				it.again++
			}
			if before, ok := last[name]; ok && moment.After(before) {
				it.rising++
			}
			seen[thing], last[name], it.digits[digits], it.texts[n.Text] = true, moment, true, true
			if len(it.cases) == 0 || it.cases[len(it.cases)-1] != c {
				it.cases = append(it.cases, c)
			}
		})
	}
}

// eachMember calls f with every text and number that is a member of an object.
func eachMember(n *jsontree.Node, f func(parent, member *jsontree.Node, name string)) {
	for i, item := range n.Items {
		if n.Kind == jsontree.Object && (item.Kind == jsontree.String || item.Kind == jsontree.Number) {
			f(n, item, n.Names[i])
		}
		eachMember(item, f)
	}
}

// A Heartbeat is an operation whose streams all send a heartbeat when they open, while its rule sets only the interval.
type Heartbeat struct {
	Operation string
	Streams   int // number of streams with heartbeats
}

// firstBeats finds the operations whose rule could demand the first heartbeat at the opening. A stream without
// heartbeats proves nothing, because it may have been too short.
func (s *measurement) firstBeats() {
	all, atOpening := map[string]int{}, map[string]int{} // streams with heartbeats by operation, and those that begin with one
	for _, c := range s.cases {
		rules := s.project.CompareRules(c.Scenario)
		for _, t := range c.Transcripts {
			for _, st := range t.Streams {
				rule, named := rules.Streams[st.Name]
				if !named {
					rule = rules.Streams[st.Operation]
				}
				if h := rule.Heartbeat; h == nil || h.Every == 0 || h.First != h.Every {
					continue
				}
				first := slices.IndexFunc(st.Events, func(ev transcript.Event) bool { return rules.Beats(st.Name, st.Operation, &ev) })
				if first < 0 {
					continue
				}
				all[st.Operation]++
				// Within a quarter of the interval, the heartbeat counts as sent at the opening.
				if at := st.Events[first].At; at-st.At <= rule.Heartbeat.Every/4+t.MachineDelay(st.At, st.At, at) {
					atOpening[st.Operation]++
				}
			}
		}
	}
	for _, operation := range slices.Sorted(maps.Keys(all)) {
		if n := all[operation]; n >= minSamples && atOpening[operation] == n {
			s.out.Beats = append(s.out.Beats, Heartbeat{operation, n})
		}
	}
}

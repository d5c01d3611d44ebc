package harness

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/harness/compare"
	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// Times differ from server to server, and are known by their shape. What they keep to beyond that, such as that one never
// changes, is not demanded unless a rule says so. The runs of a survey tell which rules could: those that hold in all of
// them, and that something could have broken.

// A NoiseTime is a rule about times that holds in all runs, and what speaks for it.
type NoiseTime struct {
	scenario.Volatile
	Values int // that were seen
	Again  int // of things that were told of before
}

// enough is how many values there must be before anything is said of all of them.
const enough = 5

// A sighting is what was seen of the times of one name.
type sighting struct {
	name   string
	values int
	again  int
	rising int // after an earlier one
	digits map[int]bool
	texts  map[string]bool
	cases  []*Case
}

// times finds the rules about times that hold in all runs.
func (s *survey) times() {
	seen := map[string]*sighting{}
	for _, c := range s.cases {
		for _, t := range c.Transcripts {
			sightings(seen, c, t)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(seen)) {
		it := seen[name]
		if it.values < enough || !plain.MatchString(name) || s.ruled(name) {
			continue
		}
		if rule, any := s.keeps(it); any {
			s.out.Times = append(s.out.Times, NoiseTime{Volatile: rule, Values: it.values, Again: it.again})
		}
	}
}

// ruled reports whether a rule of the project, or one that was found, speaks of a name already.
func (s *survey) ruled(name string) bool {
	return slices.ContainsFunc(slices.Concat(s.project.Rules.Volatile, s.rules), func(r scenario.Volatile) bool {
		return strings.HasSuffix(r.At, "."+name)
	})
}

// keeps returns the rule that says all that the times of a name keep to; any is false when that is nothing.
func (s *survey) keeps(it *sighting) (rule scenario.Volatile, any bool) {
	rule = scenario.Volatile{At: "$.." + it.name, Kind: scenario.VolatileTime, Because: "it was so in all runs"}
	attempt := func(supported bool, change func(*scenario.Volatile)) {
		with := rule
		if change(&with); supported && s.holds(it, with) {
			rule, any = with, true
		}
	}
	attempt(it.again >= enough, func(r *scenario.Volatile) { r.Stable = true })
	attempt(it.rising >= enough, func(r *scenario.Volatile) { r.Monotone = true })
	if len(it.digits) == 1 && len(it.texts) >= enough {
		for n := range it.digits {
			attempt(n >= 0 && n <= 9, func(r *scenario.Volatile) { r.Digits = strconv.Itoa(n) })
		}
	}
	return rule, any
}

// holds reports whether a rule leaves nothing to say of the times of a name, in all runs.
func (s *survey) holds(it *sighting, rule scenario.Volatile) bool {
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

// sightings adds what a target told of times in a scenario, in the order in which it did.
func sightings(all map[string]*sighting, c *Case, t *transcript.Transcript) {
	type document struct {
		data []byte
		of   string
		at   time.Duration
	}
	var documents []document
	for i := range t.Steps {
		for _, x := range t.Steps[i].Exchanges {
			if x.Response != nil {
				target, _, _ := strings.Cut(x.Request.Target, "?")
				documents = append(documents, document{x.Response.Body.Bytes, x.Request.Method + " " + target, x.Done})
			}
		}
	}
	for _, st := range t.Streams {
		for i := range st.Events {
			documents = append(documents, document{[]byte(st.Events[i].Data), "stream " + st.Name, st.Events[i].At})
		}
	}
	slices.SortStableFunc(documents, func(a, b document) int { return cmp.Compare(a.at, b.at) })
	told, last := map[string]bool{}, map[string]time.Time{}
	for _, d := range documents {
		root, _, err := jsontree.Parse(d.data)
		if err != nil {
			continue
		}
		eachMember(root, func(parent, n *jsontree.Node, name string) {
			moment, digits, ok := compare.ReadTime(n.Text)
			if !ok || moment.Sub(t.Started.Add(d.at)).Abs() > time.Hour {
				return
			}
			it := all[name]
			if it == nil {
				it = &sighting{name: name, digits: map[int]bool{}, texts: map[string]bool{}}
				all[name] = it
			}
			thing := name + " " + d.of
			if id := parent.Member("id"); id != nil {
				thing = name + " id " + id.Text
			}
			it.values++
			if told[thing] {
				it.again++
			}
			if before, ok := last[name]; ok && moment.After(before) {
				it.rising++
			}
			told[thing], last[name], it.digits[digits], it.texts[n.Text] = true, moment, true, true
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

package verdict

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/harness/compare"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// A fixed UUID looks like one that was drawn, and within one scenario nobody can tell. A whole run can: what is drawn
// differs on each process, and a constant does not. Constants compares such values exactly, as if they had no shape.

// beside is what a scenario shows of values that count as made up.
type beside struct {
	pairs []pair
	steps map[string]*Finding // what findings at a step have in common
}

// A pair is two values that stood for each other in a scenario.
type pair struct {
	compare.Beside
	target    string       // the candidate
	processes [2]time.Time // when each side's was started
	probe     bool         // when the scenario was run again
}

// open reports whether the two values may yet turn out to differ.
func (p *pair) open() bool { return p.Reference != p.Candidate && !p.Sent && !p.probe }

// MayHaveConstants reports whether Constants may have something to add to the scenario.
func (s *Scenario) MayHaveConstants() bool { return len(s.beside.steps) > 0 }

// Constant reports whether the whole run has shown the finding.
func (f *Finding) Constant() bool { return f.Kind == string(compare.Constant) }

// keepBeside keeps what a comparison has let stand.
func (j *judge) keepBeside(i int, all []compare.Beside) {
	ref, cand := j.Transcripts[0], j.Transcripts[i]
	out := &j.out.beside
	for _, b := range all {
		p := pair{Beside: b, target: cand.Target, processes: [2]time.Time{ref.Process, cand.Process}}
		if text := b.Place + " " + b.Reference + " " + b.Candidate; j.veil.Over(text) != text {
			continue // a rule calls it a secret
		}
		if p.open() && out.steps[b.Step] == nil {
			f := &Finding{Class: Difference, Kind: string(compare.Constant), Step: b.Step, Blame: BlameNobody, exchange: -1, event: -1, events: [2]int{-1, -1}}
			j.locate(f)
			f.At = j.stepAt(b.Step)
			if out.steps == nil {
				out.steps = map[string]*Finding{}
			}
			out.steps[b.Step] = f
		}
		out.pairs = append(out.pairs, p)
	}
}

// Constants looks at all scenarios of a run, of which those that were not judged are nil, and adds findings to those in
// which values were taken for made up that are constants:
//
//   - The reference says the same on two of its processes, or says what a client has sent in any scenario.
//   - The candidate says the same on two of its processes, and the reference something else each time.
//   - One side says the same in three scenarios at one place, and the other something else each time.
//
// A value that lasts as long as one process, such as the id of an instance, is none of these. A time is a constant only when
// a process that was started later than another one told it tells it again, so that no clock can have made it.
//
// What it returns judges other versions of the scenarios.
func Constants(scenarios []*Scenario, accept *Acceptance) *Constancy {
	c := learned(scenarios)
	for _, s := range scenarios {
		if s != nil {
			c.Judge(s, accept)
			s.beside = beside{}
		}
	}
	return c
}

// Constancy is what a run shows of values that count as made up.
type Constancy struct {
	values map[valueKey]*value
	places map[placeKey]*group
	doubts map[string]bool // places
}

func learned(scenarios []*Scenario) *Constancy {
	c := &Constancy{values: map[valueKey]*value{}, places: map[placeKey]*group{}, doubts: map[string]bool{}}
	for _, s := range scenarios {
		if s != nil {
			c.learn(s)
			c.learnProbe(s)
		}
	}
	return c
}

// A valueKey names what one target says: the reference, whose name is "" here, or a candidate.
type valueKey struct {
	target string
	class  compare.MadeUp
	text   string
}

// A value is what is known of one.
type value struct {
	scenarios int
	last      *Scenario
	processes []time.Time // that have said it, the first few
	at        []string    // scenarios that say it: one for each of processes, then others
	first     time.Time   // when it was seen first
	latest    time.Time   // when the youngest of the processes was started
	sent      string      // the scenario in which the client says it first; "" for none
	partner   string      // what the other side had in its place first
	partners  bool        // it has had several
	varies    bool        // another process had another in its place, see learnProbe
}

// mostProcesses is how many processes of a value are counted.
const mostProcesses = 9

// A placeKey is a place in what two processes say.
type placeKey struct {
	target, operation, place string
	processes                [2]time.Time
}

// A group is what has been said at a place, by both sides.
type group struct {
	scenarios int
	last      *Scenario
	several   bool // in one scenario
	values    [2]map[string]bool
}

func (c *Constancy) learn(s *Scenario) {
	for i := range s.beside.pairs {
		p := &s.beside.pairs[i]
		if p.Sent && p.Reference != p.Candidate {
			continue // it was captured
		}
		texts := [2]string{p.Reference, p.Candidate}
		for side, target := range [2]string{"", p.target} {
			v := c.value(valueKey{target, p.Class, texts[side]})
			if p.Sent {
				v.sent = cmp.Or(v.sent, s.ID)
			} else {
				v.add(s, p, side, texts[1-side])
			}
		}
		if p.open() && p.Class == compare.AnID {
			c.place(s, p).add(s, texts)
		}
	}
}

func (c *Constancy) value(key valueKey) *value {
	v := c.values[key]
	if v == nil {
		v = &value{}
		c.values[key] = v
	}
	return v
}

func (v *value) add(s *Scenario, p *pair, side int, partner string) {
	if v.last != s {
		v.last = s
		v.scenarios++
		if len(v.at) < mostTogether {
			v.at = append(v.at, s.ID)
		}
	}
	process := p.processes[side]
	if !process.IsZero() && len(v.processes) < mostProcesses && !slices.Contains(v.processes, process) {
		v.at = slices.Insert(v.at, min(len(v.processes), len(v.at)), s.ID)
		v.processes = append(v.processes, process)
	}
	if process.After(v.latest) {
		v.latest = process
	}
	if v.first.IsZero() || p.Seen.Before(v.first) {
		v.first = p.Seen
	}
	v.partners = v.partners || v.partner != "" && v.partner != partner
	v.partner = partner
}

func (c *Constancy) place(s *Scenario, p *pair) *group {
	at := s.beside.steps[p.Step]
	key := placeKey{p.target, at.Operation, unindexed(p.Place), p.processes}
	if at.Operation == "" {
		key.operation = at.StepText
	}
	g := c.places[key]
	if g == nil {
		g = &group{values: [2]map[string]bool{{}, {}}}
		c.places[key] = g
	}
	return g
}

func (g *group) add(s *Scenario, texts [2]string) {
	if g.last == s {
		g.several = true
	}
	g.last = s
	g.scenarios++
	for side, text := range texts {
		g.values[side][text] = true
	}
}

// leastAlike is in how many scenarios one side repeats what the other varies before that can hardly be chance.
const leastAlike = 3

// repeats reports whether a side says the same in all scenarios, and the other something else each time.
func (g *group) repeats(side int) bool {
	return !g.several && g.scenarios >= leastAlike && len(g.values[side]) == 1 && len(g.values[1-side]) == g.scenarios
}

// Judge adds findings to a scenario. It must not be called twice at a time.
func (c *Constancy) Judge(s *Scenario, accept *Acceptance) {
	before := len(s.Findings)
	for i := range s.beside.pairs {
		p := &s.beside.pairs[i]
		if !p.open() || len(s.Findings) >= mostFindings {
			continue
		}
		switch why, named := c.why(s, p); {
		case why != "":
			f := c.finding(s, p, why, named)
			accept.accept(&f)
			s.Findings = append(s.Findings, f)
		case c.undecided(p):
			c.doubt(s, p)
		}
	}
	if len(s.Findings) == before {
		return
	}
	slices.SortStableFunc(s.Findings, func(a, b Finding) int { return a.order(b) })
	switch {
	case slices.ContainsFunc(s.Findings, func(f Finding) bool { return !f.Accepted() }):
		s.Verdict = Differ
	case s.Verdict == Match:
		s.Verdict = Waived
	}
}

// why says why two values differ although they look made up; "" when they may be. named are the values that are the same
// in each run: the reference's, the candidate's.
func (c *Constancy) why(s *Scenario, p *pair) (why string, named [2]bool) {
	ref, cand := c.value(valueKey{"", p.Class, p.Reference}), c.value(valueKey{p.target, p.Class, p.Candidate})
	fixed := cand.sent != "" || len(cand.processes) > 1
	switch {
	case ref.sent != "" && p.Class != compare.APort:
		return "the client has sent the value that the reference answers with, and the candidate says another", [2]bool{true, fixed}
	case ref.constant(p):
		return fmt.Sprintf("the reference repeats the value in %d scenarios, on %s: it is a constant, and the candidate says another", ref.scenarios, ref.onProcesses()), [2]bool{true, fixed}
	case p.Class != compare.AnID:
		return "", named
	case len(cand.processes) > 1 && cand.partners:
		return fmt.Sprintf("the candidate repeats the value in %d scenarios, on %s, and the reference makes up another each time", cand.scenarios, cand.onProcesses()), [2]bool{false, true}
	}
	switch g := c.place(s, p); {
	case g.repeats(0):
		return fmt.Sprintf("the reference says the same in all %d scenarios, and the candidate makes up another each time", g.scenarios), named
	case g.repeats(1):
		return fmt.Sprintf("the candidate says the same in all %d scenarios, and the reference makes up another each time", g.scenarios), named
	}
	return "", named
}

// undecided reports whether nobody can tell a constant from a value that lasts as long as one process, since the reference
// says it in several scenarios, and all of them found the same process.
func (c *Constancy) undecided(p *pair) bool {
	ref := c.value(valueKey{"", p.Class, p.Reference})
	if p.Class == compare.ATime || ref.scenarios < 2 || len(ref.processes) > 1 || ref.varies {
		return false
	}
	return p.Class == compare.AnID || len(ref.processes) == 1 && configured(p.Reference)
}

// mostDoubts bounds how many places a run lists.
const mostDoubts = 10

// doubt counts a value that was not compared exactly, by its place.
func (c *Constancy) doubt(s *Scenario, p *pair) {
	place := fmt.Sprintf("at %s of %s", unindexed(compare.Bare(nil, &transcript.Transcript{}, p.Place)), cmp.Or(s.beside.steps[p.Step].Operation, s.beside.steps[p.Step].StepText))
	if !c.doubts[place] && len(c.doubts) == mostDoubts {
		place = "elsewhere"
	} else {
		c.doubts[place] = true
	}
	if s.Compared.NotCompared == nil {
		s.Compared.NotCompared = map[string]int{}
	}
	s.Compared.NotCompared["made up or constant, as one process of the reference repeats it, "+place]++
}

// firstEphemeral is the lowest port that Linux gives out by itself; other systems begin at 49152 (RFC 6335 §6).
const firstEphemeral = 32768

// configured reports whether a port is outside the range from which systems assign ports.
func configured(port string) bool {
	n, err := strconv.Atoi(port)
	return err == nil && n < firstEphemeral
}

// constant reports whether a value of the reference does not depend on its process, nor on the clock.
func (v *value) constant(p *pair) bool {
	switch p.Class {
	case compare.ATime:
		return len(v.processes) > 1 && v.latest.Sub(v.first) > 2*p.Unit
	case compare.APort:
		return configured(p.Reference) && len(v.processes) > 1
	default:
		return len(v.processes) > 1
	}
}

func (v *value) onProcesses() string {
	if n := len(v.processes); n < mostProcesses {
		return strconv.Itoa(n) + " processes"
	}
	return strconv.Itoa(mostProcesses) + " processes or more"
}

// finding says that two values differ. It is the same finding in each scenario, and in each run.
func (c *Constancy) finding(s *Scenario, p *pair, why string, named [2]bool) Finding {
	f := *s.beside.steps[p.Step]
	place := p.Place
	if p.Stream != "" {
		place = compare.Unnumbered(place)
	}
	place = compare.Bare(nil, &transcript.Transcript{}, place)
	f.Target, f.Stream, f.Place, f.Text, f.At = p.target, p.Stream, p.Place, why, f.At+place
	f.Reference, f.Candidate = strconv.Quote(p.Reference), strconv.Quote(p.Candidate)
	values := [2]string{p.Reference, p.Candidate}
	for side := range values {
		if !named[side] {
			values[side] = ""
		}
	}
	f.With = c.together(s, p)
	f.Fingerprint = compare.FingerprintOf("constant", place, values[0], values[1])
	return f
}

// mostTogether is how many scenarios a constant names: as many as show any.
const mostTogether = leastAlike

// together returns the scenarios that show a constant when they run without the others: this one, the one in which the
// client has sent it, and those that say the same, which found other processes where that is possible.
func (c *Constancy) together(s *Scenario, p *pair) []string {
	ref, cand := c.value(valueKey{"", p.Class, p.Reference}), c.value(valueKey{p.target, p.Class, p.Candidate})
	out := []string{s.ID}
	for _, id := range slices.Concat([]string{ref.sent}, ref.at, cand.at) {
		if id != "" && len(out) < mostTogether && !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out
}

// unindexed returns a place without the numbers of elements and events.
func unindexed(place string) string {
	segments := strings.Split(compare.Unnumbered(place), "/")
	for i, s := range segments {
		if i > 0 && s != "" && strings.Trim(s, "0123456789") == "" {
			segments[i] = "*"
		}
	}
	return strings.Join(segments, "/")
}

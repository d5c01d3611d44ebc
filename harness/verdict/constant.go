package verdict

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/harness/compare"
	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/compare/ident"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// A fixed UUID looks like a generated one. One scenario cannot show which it is, but a whole run can: a generated value
// differs on each process, and a constant does not. Constants compares constants exactly, as if they did not look
// generated.

// Constants adds findings to the scenarios of a run in which constants were assumed to be generated. Scenarios that
// were not judged are nil. A value is a constant in these cases:
//
//   - The reference sends the same value on two of its processes, or sends what a client has sent in any scenario.
//   - The candidate sends the same value on two of its processes, and the reference sends another one each time.
//   - One side sends the same value in three scenarios at one place, and the other side another one each time.
//
// A value that lasts as long as one process, such as the id of an instance, is not a constant. A time is a constant
// only when a process repeats it that was started after another process had sent it, because then it cannot come from a
// clock.
//
// The returned check can judge other versions of the scenarios.
func Constants(scenarios []*Scenario, accept *Acceptance) *ConstantCheck {
	c := newConstantCheck(scenarios)
	for _, s := range scenarios {
		if s != nil {
			c.Judge(s, accept)
			s.assumed = assumed{}
		}
	}
	return c
}

// A ConstantCheck has learned from a whole run which of the values that look generated are constants.
type ConstantCheck struct {
	values          map[valueKey]*valueUses
	places          map[placeKey]*placeUses
	undecidedPlaces map[string]bool // places
}

func newConstantCheck(scenarios []*Scenario) *ConstantCheck {
	c := &ConstantCheck{values: map[valueKey]*valueUses{}, places: map[placeKey]*placeUses{}, undecidedPlaces: map[string]bool{}}
	for _, s := range scenarios {
		if s != nil {
			c.learn(s)
			c.learnProbe(s)
		}
	}
	return c
}

// A valueKey identifies a value of one target: a candidate, or the reference, whose name is "" here.
type valueKey struct {
	target string
	class  ident.ValueClass
	text   string
}

// A valueUses is what is known about a value.
type valueUses struct {
	scenarios       int
	lastScenario    *Scenario
	processes       []time.Time // the first few processes that have sent it
	scenarioIDs     []string    // scenarios with the value: one for each of processes, then others
	firstSeen       time.Time   // when it was first seen
	latestProcess   time.Time   // when the latest of the processes was started
	sentIn          string      // the first scenario in which the client sends it; "" for none
	otherSide       string      // the latest value that the other side had in its place
	otherSideVaries bool        // the other side has had several values in its place
	varies          bool        // another process had another value in its place, see learnProbe
}

// maxProcesses limits how many processes of a value are counted.
const maxProcesses = 9

// A placeKey is a place in what two processes send.
type placeKey struct {
	target, operation, place string
	processes                [2]time.Time
}

// A placeUses is what both sides have sent in a place.
type placeUses struct {
	scenarios     int
	lastScenario  *Scenario
	repeatedInOne bool // the place occurs several times in one scenario
	values        [2]map[string]bool
}

func (c *ConstantCheck) learn(s *Scenario) {
	for i := range s.assumed.pairs {
		p := &s.assumed.pairs[i]
		if p.Sent && p.Reference != p.Candidate {
			continue // it was captured
		}
		texts := [2]string{p.Reference, p.Candidate}
		for side, target := range [2]string{"", p.target} {
			v := c.value(valueKey{target, p.Class, texts[side]})
			if p.Sent {
				v.sentIn = cmp.Or(v.sentIn, s.ID)
			} else {
				v.add(s, p, side, texts[1-side])
			}
		}
		if p.unresolved() && p.Class == ident.IDClass {
			c.place(s, p).add(s, texts)
		}
	}
}

func (c *ConstantCheck) value(key valueKey) *valueUses {
	v := c.values[key]
	if v == nil {
		v = &valueUses{}
		c.values[key] = v
	}
	return v
}

func (v *valueUses) add(s *Scenario, p *assumedPair, side int, partner string) {
	if v.lastScenario != s {
		v.lastScenario = s
		v.scenarios++
		if len(v.scenarioIDs) < maxShowing {
			v.scenarioIDs = append(v.scenarioIDs, s.ID)
		}
	}
	process := p.processes[side]
	if !process.IsZero() && len(v.processes) < maxProcesses && !slices.Contains(v.processes, process) {
		v.scenarioIDs = slices.Insert(v.scenarioIDs, min(len(v.processes), len(v.scenarioIDs)), s.ID)
		v.processes = append(v.processes, process)
	}
	if process.After(v.latestProcess) {
		v.latestProcess = process
	}
	if v.firstSeen.IsZero() || p.Seen.Before(v.firstSeen) {
		v.firstSeen = p.Seen
	}
	v.otherSideVaries = v.otherSideVaries || v.otherSide != "" && v.otherSide != partner
	v.otherSide = partner
}

func (c *ConstantCheck) place(s *Scenario, p *assumedPair) *placeUses {
	at := s.assumed.steps[p.Step]
	key := placeKey{p.target, at.Operation, withoutIndexes(p.Place), p.processes}
	if at.Operation == "" {
		key.operation = at.StepText
	}
	g := c.places[key]
	if g == nil {
		g = &placeUses{values: [2]map[string]bool{{}, {}}}
		c.places[key] = g
	}
	return g
}

func (g *placeUses) add(s *Scenario, texts [2]string) {
	if g.lastScenario == s {
		g.repeatedInOne = true
	}
	g.lastScenario = s
	g.scenarios++
	for side, text := range texts {
		g.values[side][text] = true
	}
}

// minRepeats is how many scenarios are needed to show that one side repeats a value and the other varies it. With
// fewer, it may be chance.
const minRepeats = 3

// repeats reports whether a side sends the same value in all scenarios, and the other side another one each time.
func (g *placeUses) repeats(side int) bool {
	return !g.repeatedInOne && g.scenarios >= minRepeats && len(g.values[side]) == 1 && len(g.values[1-side]) == g.scenarios
}

// Judge adds findings to a scenario. It must not be called concurrently.
func (c *ConstantCheck) Judge(s *Scenario, accept *Acceptance) {
	before := len(s.Findings)
	for i := range s.assumed.pairs {
		p := &s.assumed.pairs[i]
		if !p.unresolved() || len(s.Findings) >= maxFindings {
			continue
		}
		switch why, named := c.why(s, p); {
		case why != "":
			f := c.finding(s, p, why, named)
			accept.accept(&f)
			s.Findings = append(s.Findings, f)
		case c.undecided(p):
			c.countUndecided(s, p)
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

// why says why two values differ although they look generated; "" when they may be generated. named says for the
// reference and the candidate whether its value is the same in each run.
func (c *ConstantCheck) why(s *Scenario, p *assumedPair) (why string, named [2]bool) {
	ref, cand := c.value(valueKey{"", p.Class, p.Reference}), c.value(valueKey{p.target, p.Class, p.Candidate})
	fixed := cand.sentIn != "" || len(cand.processes) > 1
	switch {
	case ref.sentIn != "" && p.Class != ident.PortClass:
		return "the client sent the value that the reference returns, but the candidate returns a different one", [2]bool{true, fixed}
	case ref.constant(p):
		return fmt.Sprintf("the reference returns the same value in %d scenarios, on %s: it is a constant, but the candidate returns a different one", ref.scenarios, ref.onProcesses()), [2]bool{true, fixed}
	case p.Class != ident.IDClass:
		return "", named
	case len(cand.processes) > 1 && cand.otherSideVaries:
		return fmt.Sprintf("the candidate returns the same value in %d scenarios, on %s, but the reference generates a new one each time", cand.scenarios, cand.onProcesses()), [2]bool{false, true}
	}
	switch g := c.place(s, p); {
	case g.repeats(0):
		return fmt.Sprintf("the reference returns the same value in all %d scenarios, but the candidate generates a new one each time", g.scenarios), named
	case g.repeats(1):
		return fmt.Sprintf("the candidate returns the same value in all %d scenarios, but the reference generates a new one each time", g.scenarios), named
	}
	return "", named
}

// undecided reports whether it is unknown if the value is a constant or lasts as long as one process. That is so when
// the reference sends it in several scenarios, and all of them used the same process.
func (c *ConstantCheck) undecided(p *assumedPair) bool {
	ref := c.value(valueKey{"", p.Class, p.Reference})
	if p.Class == ident.TimeClass || ref.scenarios < 2 || len(ref.processes) > 1 || ref.varies {
		return false
	}
	return p.Class == ident.IDClass || len(ref.processes) == 1 && isConfiguredPort(p.Reference)
}

// maxUndecidedPlaces limits how many places a run lists.
const maxUndecidedPlaces = 10

// countUndecided counts a value that was not compared exactly, by its place.
func (c *ConstantCheck) countUndecided(s *Scenario, p *assumedPair) {
	place := fmt.Sprintf("at %s of %s", withoutIndexes(compare.Bare(nil, &transcript.Transcript{}, p.Place)), cmp.Or(s.assumed.steps[p.Step].Operation, s.assumed.steps[p.Step].StepText))
	if !c.undecidedPlaces[place] && len(c.undecidedPlaces) == maxUndecidedPlaces {
		place = "elsewhere"
	} else {
		c.undecidedPlaces[place] = true
	}
	s.Compared.leaveOut("made up or constant, as one process of the reference repeats it, "+place, 1)
}

// firstEphemeral is the lowest port that Linux assigns by itself; other systems begin at 49152 (RFC 6335 §6).
const firstEphemeral = 32768

// isConfiguredPort reports whether a port is outside the range from which systems assign ports.
func isConfiguredPort(port string) bool {
	n, err := strconv.Atoi(port)
	return err == nil && n < firstEphemeral
}

// constant reports whether a value of the reference depends neither on its process nor on the clock.
func (v *valueUses) constant(p *assumedPair) bool {
	switch p.Class {
	case ident.TimeClass:
		return len(v.processes) > 1 && v.latestProcess.Sub(v.firstSeen) > 2*p.Unit
	case ident.PortClass:
		return isConfiguredPort(p.Reference) && len(v.processes) > 1
	default:
		return len(v.processes) > 1
	}
}

func (v *valueUses) onProcesses() string {
	if n := len(v.processes); n < maxProcesses {
		return strconv.Itoa(n) + " processes"
	}
	return strconv.Itoa(maxProcesses) + " processes or more"
}

// finding says that two values differ. The finding is the same in each scenario and in each run.
func (c *ConstantCheck) finding(s *Scenario, p *assumedPair, why string, named [2]bool) Finding {
	f := *s.assumed.steps[p.Step]
	place := p.Place
	if p.Stream != "" {
		place = diff.Unnumbered(place)
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
	f.With = c.scenariosShowing(s, p)
	f.Fingerprint = diff.Fingerprint("constant", place, values[0], values[1])
	return f
}

// maxShowing limits how many scenarios a constant names: as many as are needed to show any constant.
const maxShowing = minRepeats

// scenariosShowing returns scenarios that show a constant when they run without all others: this one, the one in which
// the client has sent it, and those with the same value, if possible on other processes.
func (c *ConstantCheck) scenariosShowing(s *Scenario, p *assumedPair) []string {
	ref, cand := c.value(valueKey{"", p.Class, p.Reference}), c.value(valueKey{p.target, p.Class, p.Candidate})
	out := []string{s.ID}
	for _, id := range slices.Concat([]string{ref.sentIn}, ref.scenarioIDs, cand.scenarioIDs) {
		if id != "" && len(out) < maxShowing && !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out
}

// withoutIndexes returns a place without the numbers of elements and events.
func withoutIndexes(place string) string {
	segments := strings.Split(diff.Unnumbered(place), "/")
	for i, s := range segments {
		if i > 0 && s != "" && strings.Trim(s, "0123456789") == "" {
			segments[i] = "*"
		}
	}
	return strings.Join(segments, "/")
}

// assumed has the values of a scenario that were not compared because they were assumed to be generated.
type assumed struct {
	pairs []assumedPair
	steps map[string]*Finding // what findings at a step have in common
}

// An assumedPair is two values that were bound to each other in a scenario.
type assumedPair struct {
	ident.Assumed
	target    string       // the candidate
	processes [2]time.Time // when the process of each side was started
	probe     bool         // from a run of the scenario as a probe
}

// unresolved reports whether the two values may still turn out to differ.
func (p *assumedPair) unresolved() bool { return p.Reference != p.Candidate && !p.Sent && !p.probe }

// MayHaveConstants reports whether Constants may add findings to the scenario.
func (s *Scenario) MayHaveConstants() bool { return len(s.assumed.steps) > 0 }

// recordAssumed keeps the pairs of values that a comparison has assumed to be generated.
func (j *judge) recordAssumed(i int, all []ident.Assumed) {
	ref, cand := j.Transcripts[0], j.Transcripts[i]
	out := &j.out.assumed
	for _, b := range all {
		p := assumedPair{Assumed: b, target: cand.Target, processes: [2]time.Time{ref.Process, cand.Process}}
		if text := b.Place + " " + b.Reference + " " + b.Candidate; j.masker.Mask(text) != text {
			continue // a rule calls it a secret
		}
		blame := BlameNobody
		if j.Contract.IsAbsent() {
			blame = BlameOutside
		}
		if p.unresolved() && out.steps[b.Step] == nil {
			f := &Finding{Class: Difference, Kind: string(diff.Constant), Step: b.Step, Blame: blame, exchange: -1, event: -1, events: [2]int{-1, -1}}
			j.script.locate(f)
			f.At = j.script.stepAt(b.Step)
			if out.steps == nil {
				out.steps = map[string]*Finding{}
			}
			out.steps[b.Step] = f
		}
		out.pairs = append(out.pairs, p)
	}
}

package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/harness/contract"
	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// view is a run as the page's program reads it. All texts can be seen and are cut to what a page can hold; names are
// short because there may be ten thousand scenarios.
type view struct {
	Verdict    string            `json:"verdict"`
	Conclusion string            `json:"conclusion"`
	Facts      [][2]string       `json:"facts"`
	Tiles      []tile            `json:"tiles"`
	Targets    []string          `json:"targets"`
	Alone      bool              `json:"alone"`
	Changes    *Changes          `json:"changes,omitempty"`
	Groups     []group           `json:"groups"`
	Doubts     []doubtView       `json:"doubts,omitempty"`
	Scenarios  []scenarioView    `json:"scenarios"`
	Tags       []string          `json:"tags"`
	Evidence   map[int]*Evidence `json:"evidence"` // by scenario
	Contract   string            `json:"contract"`
	Coverage   []operationView   `json:"coverage"`
	Never      []neverView       `json:"never,omitempty"` // what is declared inside of messages, and was not seen
	Gate       string            `json:"gate,omitempty"`  // what is missing of what is demanded
	Waivers    []waiverView      `json:"waivers,omitempty"`
	Unnamed    []string          `json:"unnamed,omitempty"`
	Latency    []Latency         `json:"latency,omitempty"`
	Left       int               `json:"left,omitempty"` // groups without evidence, because the page would be too large
}

// A tile is a number that is seen from afar.
type tile struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	Note  string `json:"note,omitempty"`
	Tone  string `json:"tone,omitempty"` // bad, doubt, good
}

// group is one cause with all its places.
type group struct {
	Scenario  int      `json:"s"`
	Finding   int      `json:"f"` // its index in the scenario
	Count     int      `json:"n"`
	Class     string   `json:"class"`
	Kind      string   `json:"kind"`
	Blame     string   `json:"blame"`
	Step      string   `json:"step"`
	Line      int      `json:"line"`
	StepText  string   `json:"text"`
	Operation string   `json:"op,omitempty"`
	Stream    string   `json:"stream,omitempty"`
	Upstream  string   `json:"up,omitempty"`
	Place     string   `json:"place"`
	Says      string   `json:"says"`
	Targets   []string `json:"targets"`
	Left      string   `json:"left"`  // the reference's value, or what was wanted
	Right     string   `json:"right"` // the candidate's, or what came
	Words     []word4  `json:"words,omitempty"`
	Silent    *silent  `json:"silent,omitempty"`
	Accepted  string   `json:"accepted,omitempty"` // by which waiver, or "baseline"
	Note      string   `json:"note,omitempty"`
	Names     []name3  `json:"names,omitempty"` // of the ids that it speaks of
	Print     string   `json:"print,omitempty"` // the fingerprint
	New       bool     `json:"new,omitempty"`
	Also      []place2 `json:"also,omitempty"`
	With      []int    `json:"with,omitempty"` // the scenarios that show it together
}

type name3 struct {
	Name  string `json:"name"`
	Left  string `json:"left"`
	Right string `json:"right"`
}

type place2 struct {
	Scenario int    `json:"s"`
	Line     int    `json:"line"`
	Step     string `json:"step"`
}

type word4 struct {
	Target string `json:"target"`
	Place  string `json:"place"`
	Text   string `json:"text"`
	Line   int    `json:"line,omitempty"`
}

// silent is the place of the contract that admits both sides.
type silent struct {
	Schema string `json:"schema"`
	Line   int    `json:"line,omitempty"`
	Admits string `json:"admits"`
	Pin    string `json:"pin,omitempty"`
}

type doubtView struct {
	Scenario int      `json:"s"`
	Target   string   `json:"target,omitempty"`
	Step     string   `json:"step,omitempty"`
	Text     string   `json:"text"`
	Log      []string `json:"log,omitempty"`
	Also     int      `json:"also,omitempty"`
}

type scenarioView struct {
	ID      string `json:"id"`
	File    string `json:"file,omitempty"` // when it is not what the id says
	Line    int    `json:"line"`
	Why     string `json:"why,omitempty"` // of those that do not match
	Verdict string `json:"v"`
	Millis  int64  `json:"ms"`
	Tags    []int  `json:"t,omitempty"`
	Found   int    `json:"n,omitempty"`
}

type operationView struct {
	Name     string     `json:"name"`
	Reached  int        `json:"n"`
	Statuses []cellView `json:"statuses"`
	Events   []cellView `json:"events,omitempty"`
}

type cellView struct {
	Name    string `json:"name"`
	Reached int    `json:"n"`
}

// neverView is what was not reached of one measure.
type neverView struct {
	Measure string   `json:"measure"`
	Reached string   `json:"reached"` // "14/20"
	Names   []string `json:"names"`
}

type waiverView struct {
	ID     string `json:"id"`
	State  string `json:"state"`
	Reason string `json:"reason"`
	Found  int    `json:"n"`
}

// How much the page holds.
const (
	mostGroups   = 2000
	mostEvidence = 3 << 20 // bytes, of all texts of all evidence
	mostLeft     = 4000    // columns of a value
)

func newView(d *Document) *view {
	v := &view{
		Verdict: clip(string(d.Verdict), 20), Conclusion: conclusion(d), Alone: d.Alone, Contract: clip(d.Contract, 200),
		Evidence: map[int]*Evidence{}, Tiles: tiles(d), Facts: facts(d), Targets: targetNames(d),
		Groups: []group{}, Scenarios: []scenarioView{}, Tags: []string{},
	}
	if d.Changes != nil {
		v.Changes = d.Changes.seen()
	}
	at := v.scenarios(d)
	v.groups(d, at)
	v.coverage(&d.Coverage)
	gate := &page{doc: d}
	gate.gate()
	v.Gate = strings.TrimSpace(gate.String())
	for _, w := range d.Waivers {
		v.Waivers = append(v.Waivers, waiverView{clip(w.ID, 60), clip(string(w.State), 20), clip(w.Reason, 300), w.Findings})
	}
	for name, n := range d.Totals.Compared.Unnamed {
		v.Unnamed = append(v.Unnamed, clip(name, 60)+" ("+strconv.Itoa(n)+")")
	}
	slices.Sort(v.Unnamed)
	for _, l := range d.Latency {
		l.Operation, l.Target = clip(l.Operation, 200), clip(l.Target, 60)
		v.Latency = append(v.Latency, l)
	}
	return v
}

func facts(d *Document) [][2]string {
	out := [][2]string{
		{"started", d.Started.UTC().Format(time.RFC3339)}, {"took", seconds(d.Millis)}, {"jobs", strconv.Itoa(d.Jobs)},
		{"seed", strconv.FormatUint(d.Seed, 10)}, {"contract", clip(d.Contract, 200)}, {"project", clip(d.Project, 200)},
		{"lockstep", clip(d.Version, 40)},
	}
	for i, t := range d.Totals.Targets {
		out = append(out, [2]string{d.role(i), clip(t.Name, 60) + ": " + did(t)})
	}
	if text := repeated(d.Scenarios); text != "" {
		out = append(out, [2]string{"repeated", text})
	}
	if text := notCompared(&d.Totals.Compared, d.Coverage.Uncompared); text != "" {
		out = append(out, [2]string{"not compared", text})
	}
	if text := d.Blame.String(); text != "" {
		out = append(out, [2]string{"blame", text})
	}
	for _, text := range ownersUnchecked(d) {
		out = append(out, [2]string{"port owner", text})
	}
	if text := busy(d); text != "" {
		out = append(out, [2]string{"machine", text})
	}
	if s := d.Shard; s != nil {
		out = append(out, [2]string{"part", fmt.Sprintf("%d of %d, of %s", s.Index, s.Of, count(s.Selected, "scenario"))})
	}
	if d.Incomplete != "" {
		out = append(out, [2]string{"incomplete", clip(d.Incomplete, 600)})
	}
	return out
}

func tiles(d *Document) []tile {
	t := &d.Totals
	left := 0
	for _, n := range t.Compared.NotCompared {
		left += n
	}
	out := []tile{
		{Name: "match", Value: strconv.Itoa(t.Match), Tone: "good"},
		{Name: "differ", Value: strconv.Itoa(t.Differ), Tone: tone(t.Differ, "bad")},
		{Name: "unknown", Value: strconv.Itoa(t.Unknown), Tone: tone(t.Unknown, "doubt")},
		{Name: "waived", Value: strconv.Itoa(t.Waived)},
		{Name: "compared", Value: strconv.Itoa(t.Compared.Exchanges), Note: "exchanges, and " + count(t.Compared.Events, "event")},
		{Name: "not compared", Value: strconv.Itoa(left), Note: "exchanges and events"},
	}
	if n := t.NotApplicable; n > 0 {
		out = append(out, tile{Name: "not applicable", Value: strconv.Itoa(n)})
	}
	total := d.Coverage.Totals()
	for _, c := range []struct {
		name string
		contract.Tally
	}{{"operations", total.Operations}, {"statuses", total.Statuses}, {"events", total.Events}} {
		if c.Declared > 0 {
			out = append(out, tile{Name: c.name, Value: c.String(), Note: "of the contract"})
		}
	}
	return out
}

func tone(n int, name string) string {
	if n == 0 {
		return ""
	}
	return name
}

// scenarios takes in all scenarios, and returns where each is.
func (v *view) scenarios(d *Document) map[string]int {
	at, tags := map[string]int{}, map[string]int{}
	for i := range d.Scenarios {
		s := &d.Scenarios[i]
		at[s.ID] = i
		out := scenarioView{ID: clip(s.ID, 300), File: clip(s.File, 300), Line: s.Line, Verdict: string(s.Verdict), Millis: s.Millis, Found: len(s.Findings)}
		if s.Verdict != verdict.Match {
			out.Why = clip(s.Why, 300)
		}
		for _, tag := range s.Tags {
			n, ok := tags[tag]
			if !ok {
				n = len(tags)
				tags[tag] = n
				v.Tags = append(v.Tags, clip(tag, 60))
			}
			out.Tags = append(out.Tags, n)
		}
		v.Scenarios = append(v.Scenarios, out)
	}
	return at
}

// groups takes in what is not as it should be: what differs first, then what is unknown, then what is accepted.
func (v *view) groups(d *Document, at map[string]int) {
	fresh := map[findingKey]bool{}
	if d.Changes != nil {
		for _, c := range slices.Concat(d.Changes.New, d.Changes.Changed) {
			fresh[findingKey{spotKey{c.Scenario, c.Target, c.Kind, c.At, verdict.Class(c.Class)}, c.After}] = true
		}
	}
	size := 0
	for _, b := range newPlan(d.Scenarios, true).blocks {
		for _, c := range b.causes {
			if len(v.Groups) == mostGroups {
				v.Left++
				continue
			}
			g := newGroup(at[b.ID], c, at)
			g.Names = namesIn(b.Scenario, c)
			_, key := keysOf(&c.Finding)
			g.New = fresh[key]
			size += v.evidence(d, g.Scenario, c, size)
			v.Groups = append(v.Groups, g)
		}
		for _, r := range b.doubts {
			v.Doubts = append(v.Doubts, doubtView{at[b.ID], clip(r.Target, 60), clip(r.Step, 60), clip(r.Text, 2000), visibly(r.Log), len(r.also)})
		}
	}
	slices.SortStableFunc(v.Groups, func(a, b group) int { return rank(a) - rank(b) })
}

// mostNames is how many ids a cause explains.
const mostNames = 8

// namesIn returns the names that a cause's values or its sentence speak of.
func namesIn(s *verdict.Scenario, c *cause) []name3 {
	var out []name3
	text := c.Text + c.Reference + c.Candidate
	for _, n := range s.Names {
		if n.Target == c.Target && len(out) < mostNames && (strings.Contains(text, n.Name) || strings.Contains(text, n.Reference) || strings.Contains(text, n.Candidate)) {
			out = append(out, name3{clip(n.Name, 60), clip(n.Reference, 120), clip(n.Candidate, 120)})
		}
	}
	return out
}

// rank orders groups: what is new, then what counts, then what is accepted.
func rank(g group) int {
	switch {
	case g.Accepted != "":
		return 2
	case g.New:
		return 0
	default:
		return 1
	}
}

func newGroup(s int, c *cause, at map[string]int) group {
	g := group{
		Scenario: s, Finding: c.index, Count: c.total(), Class: string(c.Class), Kind: clip(c.Kind, 60), Blame: string(c.Blame),
		Step: clip(c.Step, 60), Line: c.Line, StepText: clip(c.StepText, 300), Operation: clip(c.Operation, 200), Stream: clip(c.Stream, 80), Upstream: clip(c.Upstream, 80),
		Place: clip(c.Place, 300), Says: clip(c.Text, 600), Targets: visibly(c.targets), Print: clip(c.Fingerprint, 20),
		Left: clip(c.Want, mostLeft), Right: clip(c.Got, mostLeft), Note: clip(c.Note, 300),
	}
	if c.Class == verdict.Difference {
		g.Left, g.Right = clip(c.Reference, mostLeft), clip(c.Candidate, mostLeft)
	}
	switch {
	case c.Waiver != "":
		g.Accepted = "waiver " + clip(c.Waiver, 60)
	case c.Known:
		g.Accepted = "baseline"
	}
	for _, w := range c.Contract {
		g.Words = append(g.Words, word4{clip(w.Target, 60), clip(w.Place, 200), clip(w.Text, 600), w.Line})
	}
	if c.Silence != nil {
		g.Silent = &silent{clip(c.Silence.Schema, 200), c.Silence.Line, clip(c.Silence.Admits, 300), clip(c.Silence.Pin, 200)}
	}
	for _, spot := range c.also {
		g.Also = append(g.Also, place2{at[spot.scenario.ID], spot.Line, clip(spot.Step, 60)})
	}
	for _, id := range c.With {
		if i, ok := at[id]; ok {
			g.With = append(g.With, i)
		}
	}
	return g
}

// evidence takes in what stands behind a cause, as long as there is room, and returns how much room that took.
func (v *view) evidence(d *Document, s int, c *cause, taken int) int {
	all := d.Evidence[d.Scenarios[s].ID]
	if all == nil || c.index >= len(all.Behind) {
		return 0
	}
	if taken > mostEvidence {
		v.Left++
		return 0
	}
	out, size := v.Evidence[s], 0
	if out == nil {
		out = &Evidence{Behind: make([]Behind, len(all.Behind)), Excerpts: map[int][]string{}, Rules: visibly(all.Rules)}
		for _, t := range all.Tracks {
			out.Tracks = append(out.Tracks, t.seen())
			size += 100 * (len(t.Spans) + len(t.Marks))
		}
		v.Evidence[s] = out
	}
	for _, side := range all.Behind[c.index].Sides {
		side = side.seen()
		out.Behind[c.index].Sides = append(out.Behind[c.index].Sides, side)
		size += len(side.Request) + len(side.Answer) + len(side.Curl)
		if side.Around != nil {
			size += len(side.Around.Lines) * otherValue
		}
	}
	if lines := all.Excerpts[c.Line]; lines != nil {
		out.Excerpts[c.Line] = clipped(lines, 200)
	}
	return size
}

func (v *view) coverage(c *contract.Coverage) {
	v.Coverage = []operationView{}
	for i := range c.Operations {
		op := &c.Operations[i]
		row := operationView{Name: operation(op), Reached: op.Reached, Statuses: []cellView{}}
		for _, s := range op.Statuses {
			row.Statuses = append(row.Statuses, cellView{clip(s.Status, 20), s.Reached})
			for _, m := range s.Media {
				if m.Stream == nil {
					continue
				}
				for _, e := range m.Stream.Events {
					row.Events = append(row.Events, cellView{clip(e.Name, 80), e.Reached})
				}
			}
		}
		v.Coverage = append(v.Coverage, row)
	}
	v.never(c)
}

// mostNever is how many the page names of each measure.
const mostNever = 100

func (v *view) never(c *contract.Coverage) {
	at, tallies := map[contract.Measure]int{}, map[contract.Measure]contract.Tally{}
	for _, it := range c.Items() {
		tally := tallies[it.Measure]
		tally.Declared++
		if it.Reached {
			tally.Reached++
		}
		tallies[it.Measure] = tally
		i, ok := at[it.Measure]
		if !ok {
			i = len(v.Never)
			at[it.Measure] = i
			v.Never = append(v.Never, neverView{Measure: string(it.Measure)})
		}
		if n := &v.Never[i]; !it.Reached && len(n.Names) < mostNever {
			n.Names = append(n.Names, clip(it.Name, 160)+" ("+inLine(it.Line)+")")
		}
	}
	for i := range v.Never {
		v.Never[i].Reached = tallies[contract.Measure(v.Never[i].Measure)].String()
	}
}

// seen returns a copy in which everything can be seen.
func (s Side) seen() Side {
	s.Target, s.Request, s.Answer = clip(s.Target, 60), seen(clip2(s.Request, mostMessage)), seen(clip2(s.Answer, mostMessage))
	if curl := seen(clip2(s.Curl, 2*mostCurl)); curl != s.Curl {
		s.Curl = "" // cut, or with what cannot be seen, it would be another request
	}
	if s.Around != nil {
		s.Around = &Around{clipped(s.Around.Lines, 2*mostValue), s.Around.Focus}
	}
	return s
}

func clipped(lines []string, columns int) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = clip(line, columns)
	}
	return out
}

func (t Track) seen() Track {
	t.Target, t.Spans, t.Marks = clip(t.Target, 60), slices.Clone(t.Spans), slices.Clone(t.Marks)
	for i := range t.Spans {
		s := &t.Spans[i]
		s.Step, s.Text, s.Stream, s.Failed = clip(s.Step, 60), clip(s.Text, 120), clip(s.Stream, 80), clip(s.Failed, 200)
	}
	for i := range t.Marks {
		m := &t.Marks[i]
		m.Stream, m.Name = clip(m.Stream, 80), clip(m.Name, 80)
	}
	return t
}

// mostChanges is how many of each sort the page lists.
const mostChanges = 500

func (c *Changes) seen() *Changes {
	list := func(all []Change) []Change {
		out := slices.Clone(all[:min(len(all), mostChanges)])
		for i := range out {
			e := &out[i]
			e.Scenario, e.Target, e.Kind, e.At, e.Text = clip(e.Scenario, 300), clip(e.Target, 60), clip(e.Kind, 60), clip(e.At, 300), clip(e.Text, 300)
		}
		return out
	}
	return &Changes{clip(c.Against, 120), list(c.New), list(c.Fixed), list(c.Changed), c.Unchanged, c.Apart}
}

// Package groups lists the causes of a run for the page and the Markdown summary, which show them one after the other.
package groups

import (
	"cmp"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/report"
	"github.com/lockstep-dev/lockstep/harness/report/internal/cause"
	"github.com/lockstep-dev/lockstep/harness/report/internal/textfit"
	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// Groups are the causes of a run with all their places, cut to what a page can hold. Invisible characters are escaped.
// Names are short because there may be ten thousand scenarios.
type Groups struct {
	List      []Group                  `json:"groups"` // new ones first, accepted ones last, and of each the worst first
	Reasons   []reasonView             `json:"doubts,omitempty"`
	Scenarios []scenarioView           `json:"scenarios"`
	Tags      []string                 `json:"tags"`
	Evidence  map[int]*report.Evidence `json:"evidence"` // by scenario
	Omitted   int                      `json:"-"`        // groups left out, or without evidence, to limit the page
}

// Limits of what is kept.
const (
	maxGroups       = 2000
	maxEvidence     = 3 << 20 // bytes of all evidence together
	maxValueColumns = 4000    // columns of a value
)

func Of(d *report.Document) *Groups {
	g := &Groups{List: []Group{}, Scenarios: []scenarioView{}, Tags: []string{}, Evidence: map[int]*report.Evidence{}}
	g.addCauses(d, g.addScenarios(d))
	return g
}

// A Group is one cause with all its places.
type Group struct {
	Scenario  int              `json:"s"`
	Finding   int              `json:"f"` // index in the scenario
	Count     int              `json:"n"`
	Class     string           `json:"class"`
	Kind      string           `json:"kind"`
	Blame     string           `json:"blame"`
	Step      string           `json:"step"`
	Line      int              `json:"line"`
	StepText  string           `json:"text"`
	Operation string           `json:"op,omitempty"`
	Stream    string           `json:"stream,omitempty"`
	Upstream  string           `json:"up,omitempty"`
	Place     string           `json:"place"`
	Says      string           `json:"says"`
	Targets   []string         `json:"targets"`
	Left      string           `json:"left"`  // the reference's value, or what was wanted
	Right     string           `json:"right"` // the candidate's value, or what came instead
	Remarks   []verdict.Remark `json:"words,omitempty"`
	SpecGap   *specGapView     `json:"silent,omitempty"`
	Accepted  string           `json:"accepted,omitempty"` // the id of a waiver, or "baseline"
	Note      string           `json:"note,omitempty"`
	Names     []nameView       `json:"names,omitempty"` // names of the ids that it mentions
	Print     string           `json:"print,omitempty"` // the fingerprint
	New       bool             `json:"new,omitempty"`
	Rerun     string           `json:"rerun,omitempty"` // the command that repeats it
	Also      []placeView      `json:"also,omitempty"`
	With      []int            `json:"with,omitempty"` // the scenarios that show it together
}

type nameView struct {
	Name  string `json:"name"`
	Left  string `json:"left"`
	Right string `json:"right"`
}

type placeView struct {
	Scenario int    `json:"s"`
	Line     int    `json:"line"`
	Step     string `json:"step"`
}

// A specGapView is the place of the contract that allows both sides.
type specGapView struct {
	Schema string `json:"schema"`
	Line   int    `json:"line,omitempty"`
	Admits string `json:"admits"`
	Pin    string `json:"pin,omitempty"`
}

type reasonView struct {
	Scenario int      `json:"s"`
	Target   string   `json:"target,omitempty"`
	Step     string   `json:"step,omitempty"`
	Text     string   `json:"text"`
	Log      []string `json:"log,omitempty"`
	Also     int      `json:"also,omitempty"`
}

type scenarioView struct {
	ID      string `json:"id"`
	File    string `json:"file,omitempty"` // set when the id does not give the path of the file
	Line    int    `json:"line"`
	Why     string `json:"why,omitempty"` // set for scenarios that do not match
	Verdict string `json:"v"`
	Millis  int64  `json:"ms"`
	Tags    []int  `json:"t,omitempty"`
	Found   int    `json:"n,omitempty"`
}

// maxNames limits how many ids a cause explains.
const maxNames = 8

// namesIn returns the names of the ids that a cause's values or sentence mention.
func namesIn(s *verdict.Scenario, c *cause.Cause) []nameView {
	var out []nameView
	text := c.Text + c.Reference + c.Candidate
	for _, n := range s.Names {
		if n.Target == c.Target && len(out) < maxNames && (strings.Contains(text, n.Name) || strings.Contains(text, n.Reference) || strings.Contains(text, n.Candidate)) {
			out = append(out, nameView{textfit.Clip(n.Name, 60), textfit.Clip(n.Reference, 120), textfit.Clip(n.Candidate, 120)})
		}
	}
	return out
}

// rank orders causes: new ones, then other unaccepted ones, then accepted ones.
func rank(c *cause.Cause, isNew bool) int {
	switch {
	case c.Accepted():
		return 2
	case isNew:
		return 0
	default:
		return 1
	}
}

// blameOf says which side is to blame. A violation or a shortfall that the reference shares with a candidate is the
// mistake of both.
func blameOf(s *verdict.Scenario, c *cause.Cause) verdict.Blame {
	if c.Class != verdict.Difference && len(c.Targets) > 1 && len(s.Targets) > 0 && slices.Contains(c.Targets, s.Targets[0].Name) {
		return verdict.BlameBoth
	}
	return c.InSummary()
}

func newGroup(s *verdict.Scenario, c *cause.Cause, at map[string]int) Group {
	g := Group{
		Scenario: at[s.ID], Finding: c.Index, Count: c.Total(), Class: string(c.Class), Kind: textfit.Clip(c.Kind, 60), Blame: string(blameOf(s, c)),
		Step: textfit.Clip(c.Step, 60), Line: c.Line, StepText: textfit.Clip(c.StepText, 300), Operation: textfit.Clip(c.Operation, 200), Stream: textfit.Clip(c.Stream, 80), Upstream: textfit.Clip(c.Upstream, 80),
		Place: textfit.Clip(c.Place, 300), Says: textfit.Clip(c.Text, 600), Targets: textfit.ClipAll(c.Targets, 120), Print: textfit.Clip(c.Fingerprint, 20),
		Left: textfit.Clip(c.Want, maxValueColumns), Right: textfit.Clip(c.Got, maxValueColumns), Note: textfit.Clip(c.Note, 300),
	}
	if c.Class == verdict.Difference {
		g.Left, g.Right = textfit.Clip(c.Reference, maxValueColumns), textfit.Clip(c.Candidate, maxValueColumns)
	}
	switch {
	case c.Waiver != "":
		g.Accepted = "waiver " + textfit.Clip(c.Waiver, 60)
	case c.Known:
		g.Accepted = "baseline"
	}
	for _, w := range c.Contract {
		g.Remarks = append(g.Remarks, verdict.Remark{Target: textfit.Clip(w.Target, 60), Place: textfit.Clip(w.Place, 200), Text: textfit.Clip(w.Text, 600), Line: w.Line})
	}
	if c.SpecGap != nil {
		g.SpecGap = &specGapView{textfit.Clip(c.SpecGap.Schema, 200), c.SpecGap.Line, textfit.Clip(c.SpecGap.Admits, 300), textfit.Clip(c.SpecGap.Pin, 200)}
	}
	for _, spot := range c.Also {
		g.Also = append(g.Also, placeView{at[spot.Scenario.ID], spot.Line, textfit.Clip(spot.Step, 60)})
	}
	for _, id := range c.With {
		if i, ok := at[id]; ok {
			g.With = append(g.With, i)
		}
	}
	return g
}

// addScenarios adds all scenarios, and returns their indexes.
func (v *Groups) addScenarios(d *report.Document) map[string]int {
	at, tags := map[string]int{}, map[string]int{}
	for i := range d.Scenarios {
		s := &d.Scenarios[i]
		at[s.ID] = i
		out := scenarioView{ID: textfit.Clip(s.ID, 300), File: textfit.Clip(s.File, 300), Line: s.Line, Verdict: string(s.Verdict), Millis: s.Millis, Found: len(s.Findings)}
		if s.Verdict != verdict.Match {
			out.Why = textfit.Clip(s.Why, 300)
		}
		for _, tag := range s.Tags {
			n, ok := tags[tag]
			if !ok {
				n = len(tags)
				tags[tag] = n
				v.Tags = append(v.Tags, textfit.Clip(tag, 60))
			}
			out.Tags = append(out.Tags, n)
		}
		v.Scenarios = append(v.Scenarios, out)
	}
	return at
}

// addCauses adds a group for each cause.
func (v *Groups) addCauses(d *report.Document, at map[string]int) {
	isNew := d.Changes.NewFindings()
	size := 0
	type shown struct {
		scenario *verdict.Scenario
		cause    *cause.Cause
		new      bool
	}
	var all []shown
	for _, b := range cause.NewLayout(d.Scenarios, true).Blocks {
		for _, c := range b.Causes {
			all = append(all, shown{b.Scenario, c, isNew(&c.Finding)})
		}
		for _, r := range b.SharedReasons {
			v.Reasons = append(v.Reasons, reasonView{at[b.ID], textfit.Clip(r.Target, 60), textfit.Clip(r.Step, 60), textfit.Clip(r.Text, 2000), textfit.ClipAll(r.Log, 120), len(r.Also)})
		}
	}
	slices.SortFunc(all, func(a, b shown) int {
		return cmp.Or(cmp.Compare(rank(a.cause, a.new), rank(b.cause, b.new)), a.cause.Weight().Compare(b.cause.Weight()),
			cmp.Compare(at[a.scenario.ID], at[b.scenario.ID]), cmp.Compare(a.cause.Index, b.cause.Index))
	})
	v.Omitted = max(0, len(all)-maxGroups)
	for _, c := range all[:len(all)-v.Omitted] {
		g := newGroup(c.scenario, c.cause, at)
		g.Names = namesIn(c.scenario, c.cause)
		g.New = c.new
		g.Rerun = d.Rerun(together(d, &g))
		size += v.addEvidence(d, g.Scenario, c.cause, size)
		v.List = append(v.List, g)
	}
}

// together returns the ids of the scenarios that show a group: one, or several that must run together.
func together(d *report.Document, g *Group) (ids []string) {
	for _, s := range g.With {
		ids = append(ids, d.Scenarios[s].ID)
	}
	if ids == nil {
		ids = []string{d.Scenarios[g.Scenario].ID}
	}
	return ids
}

// addEvidence adds the evidence of a cause if there is room, and returns the room that it takes.
func (v *Groups) addEvidence(d *report.Document, s int, c *cause.Cause, taken int) int {
	all := d.Evidence[d.Scenarios[s].ID]
	if all == nil || c.Index >= len(all.Findings) {
		return 0
	}
	if taken > maxEvidence {
		v.Omitted++
		return 0
	}
	out, size := v.Evidence[s], 0
	if out == nil {
		out = &report.Evidence{Findings: make([]report.FindingEvidence, len(all.Findings)), Excerpts: map[int][]string{}, Rules: textfit.ClipAll(all.Rules, 120)}
		for _, t := range all.Timelines {
			out.Timelines = append(out.Timelines, t.Visible())
			size += 100 * (len(t.Spans) + len(t.Marks))
		}
		v.Evidence[s] = out
	}
	for _, side := range all.Findings[c.Index].Sides {
		side, bytes := side.Visible()
		out.Findings[c.Index].Sides = append(out.Findings[c.Index].Sides, side)
		size += bytes
	}
	if lines := all.Excerpts[c.Line]; lines != nil {
		out.Excerpts[c.Line] = textfit.ClipAll(lines, 200)
	}
	return size
}

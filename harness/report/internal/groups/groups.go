// Package groups lists the causes of a run for the page and the Markdown summary, which show them one after the other.
package groups

import (
	"strconv"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/report"
	"github.com/lockstep-dev/lockstep/harness/report/internal/cause"
	"github.com/lockstep-dev/lockstep/harness/report/internal/textfit"
	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// Groups are the causes of a run with all their places, cut to what a page can hold. Invisible characters are escaped.
// Names are short because there may be ten thousand scenarios.
type Groups struct {
	List      []Group               `json:"groups"` // those of one row are neighbours
	Rows      []Row                 `json:"rows"`   // the one in most scenarios first, accepted ones last
	Reasons   []reasonView          `json:"doubts,omitempty"`
	Scenarios []scenarioView        `json:"scenarios"`
	Tags      []string              `json:"tags"`
	Texts     []string              `json:"texts"`    // of steps
	Messages  []string              `json:"messages"` // of evidence
	Evidence  map[int]*evidenceView `json:"evidence"` // by scenario
	Omitted   int                   `json:"-"`        // groups left out to limit the page
	Bare      int                   `json:"-"`        // groups without evidence, for the same reason

	size     int            // of the evidence, in bytes
	messages map[string]int // by text
}

// A Row has the causes at one place of the answers of one operation: differences, and what the contract and the scenario
// say about the same value.
type Row struct {
	First     int `json:"i"`             // index of its first cause; the others follow
	Causes    int `json:"n"`             // number of causes
	Findings  int `json:"found"`         // number of findings
	Fresh     int `json:"new,omitempty"` // number of findings that are new or have changed
	Scenarios int `json:"in"`            // number of scenarios
}

// Extent says how often the findings of a row occur, and in how many scenarios; "" when there is only one finding.
func (r Row) Extent() string {
	out := ""
	if r.Findings > 1 {
		out += ", " + strconv.Itoa(r.Findings) + " times"
	}
	if r.Scenarios > 1 {
		out += ", in " + strconv.Itoa(r.Scenarios) + " scenarios"
	}
	return out
}

// Others counts the causes of a row after its first one; "" when there are none.
func (r Row) Others() string {
	if r.Causes < 2 {
		return ""
	}
	return "and " + textfit.Count(r.Causes-1, "other cause") + " at this place"
}

// Limits of what is kept.
const (
	maxGroups       = 2000
	maxEvidence     = 3 << 20 // bytes of all evidence together
	maxSteps        = 3 << 19 // bytes of all steps together
	maxValueColumns = 4000    // columns of a value
)

func Of(d *report.Document) *Groups {
	g := &Groups{List: []Group{}, Rows: []Row{}, Scenarios: []scenarioView{}, Tags: []string{}, Texts: []string{}, Messages: []string{}, Evidence: map[int]*evidenceView{}}
	g.addCauses(d, g.addScenarios(d))
	g.addSteps(d)
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
	Names     []nameView       `json:"names,omitempty"`  // names of the ids that it mentions
	Print     string           `json:"print,omitempty"`  // the fingerprint
	Waiver    string           `json:"waiver,omitempty"` // one that would accept it, to be filled in
	Rule      string           `json:"rule,omitempty"`   // one for generated values, to be filled in
	Waive     string           `json:"waive,omitempty"`  // the command that writes it
	Rerun     string           `json:"rerun,omitempty"`  // the command that repeats it
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
	Why     string `json:"why,omitempty"`     // set for scenarios that do not match
	NotRun  string `json:"not_run,omitempty"` // why it is not applicable
	Verdict string `json:"v"`
	Millis  int64  `json:"ms"`
	Tags    []int  `json:"t,omitempty"`
	Found   int    `json:"n,omitempty"`
	Again   string `json:"again,omitempty"` // whether a red scenario that ran several times is steady or flaky
	// Steps has for each step its line, the index of its text, how long it took in microseconds, and for each target the
	// status of its response. It is nil if the steps are not known.
	Steps [][]int64 `json:"steps,omitempty"`
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

func newGroup(c *cause.Cause, at map[string]int) Group {
	s := c.In
	g := Group{
		Scenario: at[s.ID], Finding: c.Index, Count: c.Total(), Class: string(c.Class), Kind: textfit.Clip(c.Kind, 60), Blame: string(c.Side()),
		Step: textfit.Clip(c.Step, 60), Line: c.Line, StepText: textfit.Clip(c.StepText, 300), Operation: textfit.Clip(c.Operation, 200), Stream: textfit.Clip(c.Stream, 80), Upstream: textfit.Clip(c.Upstream, 80),
		Place: textfit.Clip(c.Place, 300), Says: textfit.Clip(c.Says(), 600), Targets: textfit.ClipAll(c.Targets, 120), Print: textfit.Clip(c.Fingerprint, 20),
		Note: textfit.Clip(c.Note, 300),
	}
	left, right := c.Values()
	g.Left, g.Right = textfit.Clip(left, maxValueColumns), textfit.Clip(right, maxValueColumns)
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
		out := scenarioView{ID: textfit.Clip(s.ID, 300), File: textfit.Clip(s.File, 300), Line: s.Line, Verdict: string(s.Verdict), Millis: s.Millis, Found: verdict.Unfolded(s), Again: report.Steadiness(s)}
		if s.Verdict != verdict.Match {
			out.Why = textfit.Clip(s.Why, 300)
		}
		if s.Verdict == verdict.NotApplicable {
			out.NotRun = report.WhyNotMatch(s)
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

// addCauses adds a group for each cause, and a row for those at one place.
func (v *Groups) addCauses(d *report.Document, at map[string]int) {
	layout := cause.NewLayout(d.Scenarios, true)
	for _, b := range layout.Blocks {
		for _, r := range b.SharedReasons {
			v.Reasons = append(v.Reasons, reasonView{at[b.ID], textfit.Clip(r.Target, 60), textfit.Clip(r.Step, 60), textfit.Clip(r.Text, 2000), textfit.ClipAll(r.Log, 120), len(r.Also)})
		}
	}
	for _, r := range cause.Rows(layout, d.Changes.NewFindings()) {
		room := min(len(r.Causes), maxGroups-len(v.List))
		v.Omitted += len(r.Causes) - room
		if room == 0 {
			continue
		}
		v.Rows = append(v.Rows, Row{len(v.List), room, r.Findings, r.Fresh, len(r.In)})
		for _, c := range r.Causes[:room] {
			g := newGroup(c, at)
			g.Names = namesIn(c.In, c)
			g.Rerun = d.Rerun(together(d, &g))
			v.addEvidence(d, &g, c)
			v.List = append(v.List, g)
		}
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

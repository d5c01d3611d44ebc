package coverage

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/contract/schema"
	"github.com/lockstep-dev/lockstep/harness/contract/spec"
)

// A Demand says how much of its document a run of all scenarios must reach.
type Demand struct {
	File   string // the project file with the demand
	Line   int
	Least  []Minimum // in the order of the measures
	Except []Exception
}

// A Minimum is the share of one measure that must be reached.
type Minimum struct {
	Measure    Measure
	Hundredths int // hundredths of a per cent: 9550 is 95.5 %
}

// An Exception excludes one thing from the counts. It also excludes what belongs to that thing, and what can only be
// reached from there: if a status is never sent, the schemas that only it uses do not count either.
type Exception struct {
	Key
	Because string
	File    string
	Line    int
}

// A Gate says whether a demand is met.
type Gate struct {
	State    GateState     `json:"state"`
	Why      string        `json:"why,omitempty"` // why it was not judged
	File     string        `json:"file"`          // the file with the demand
	Line     int           `json:"line"`
	Measures []MeasureGate `json:"measures,omitempty"`
	Except   []Excepted    `json:"except,omitempty"`
	// NotApplicable are scenarios that did not run because a target lacks a capability. What only they would reach is
	// missing.
	NotApplicable []string `json:"not_applicable,omitempty"`
}

// GateState is the result of judging a demand.
type GateState string

const (
	GateMet       GateState = "met"
	GateMissed    GateState = "missed"     // a share is too small, or an exception is stale
	GateNotJudged GateState = "not-judged" // the run did not include all scenarios
)

// A MeasureGate says how much of one measure was reached. None of the counts include exceptions.
type MeasureGate struct {
	Measure  Measure   `json:"measure"`
	Met      bool      `json:"met"`
	Least    string    `json:"least"`   // "95.5%"
	Percent  string    `json:"percent"` // what was reached, rounded down
	Reached  int       `json:"reached"`
	Declared int       `json:"declared"`
	Missing  []Missing `json:"missing,omitempty"` // set when the demand is not met
}

type Missing struct {
	Name string `json:"name"`
	Line int    `json:"line,omitempty"` // in the document
}

// An Excepted is an exception, and whether it is still needed.
type Excepted struct {
	What    string `json:"what"` // "status POST /items 413"
	Because string `json:"because"`
	File    string `json:"file"`
	Line    int    `json:"line"`
	Stale   bool   `json:"stale,omitempty"` // it was reached
}

// String says which demands are not met: "statuses 93.5% (at least 95%); the exception for status GET /x 404 is stale".
func (g *Gate) String() string {
	var parts []string
	for _, m := range g.Measures {
		if !m.Met {
			parts = append(parts, fmt.Sprintf("%s %s (at least %s)", m.Measure, m.Percent, m.Least))
		}
	}
	for _, x := range g.Except {
		if x.Stale {
			parts = append(parts, fmt.Sprintf("the exception for %s is stale", x.What))
		}
	}
	if text := g.WithoutThem(); text != "" && g.State == GateMissed {
		parts = append(parts, text)
	}
	if g.State == GateNotJudged {
		parts = append(parts, "not judged: "+g.Why)
	}
	return strings.Join(parts, "; ")
}

// WithoutThem says which scenarios did not run because a target lacks a capability; "" when all ran.
func (g *Gate) WithoutThem() string {
	switch n := len(g.NotApplicable); n {
	case 0:
		return ""
	case 1:
		return g.NotApplicable[0] + " is not applicable, so what only it reaches is missing"
	default:
		return fmt.Sprintf("%s and %d more are not applicable, so what only they reach is missing", g.NotApplicable[0], n-1)
	}
}

// NotJudged is the gate of a run that cannot be judged.
func (d *Demand) NotJudged(why string) *Gate {
	return &Gate{State: GateNotJudged, Why: why, File: d.File, Line: d.Line}
}

// Judge says whether a coverage is enough. The coverage must come from New.
func (d *Demand) Judge(c *Coverage) *Gate {
	g := &Gate{State: GateMet, File: d.File, Line: d.Line}
	all := c.Items()
	for _, x := range d.Except {
		stale := slices.ContainsFunc(all, func(it Item) bool { return it.Key == x.Key && it.Reached })
		g.Except = append(g.Except, Excepted{x.Measure.Singular() + " " + x.Name, x.Because, x.File, x.Line, stale})
		if stale {
			g.State = GateMissed
		}
	}
	counted := d.counted(c, all)
	for _, least := range d.Least {
		m := measure(least, counted)
		if !m.Met {
			g.State = GateMissed
		}
		g.Measures = append(g.Measures, m)
	}
	return g
}

// counted returns the items that no exception excludes.
func (d *Demand) counted(c *Coverage, all []Item) (out []Item) {
	if len(d.Except) == 0 {
		return all
	}
	excepted := map[Key]bool{}
	for _, x := range d.Except {
		excepted[x.Key] = true
	}
	is := func(k Key) bool { return excepted[k] }
	led := ledTo(c.doc, is)
	for _, it := range all {
		if !is(it.Key) && !slices.ContainsFunc(it.within, is) && (it.schema == "" || led[it.schema]) {
			out = append(out, it)
		}
	}
	return out
}

// ledTo returns the references of the schemas that some message without an exception can use.
func ledTo(d *spec.Document, excepted func(Key) bool) map[string]bool {
	led := map[string]bool{}
	for _, in := range []Messages{Responses, Requests} {
		found := map[*schema.Schema]Messages{}
		for _, op := range operations(d) {
			for _, root := range rootsOf(op, in) {
				if slices.ContainsFunc(root.of, excepted) {
					continue
				}
				for _, s := range reach(root.schema, in, found, nil) {
					led[s.Ref] = true
				}
			}
		}
	}
	return led
}

func measure(least Minimum, items []Item) MeasureGate {
	t := TallyItems(items, least.Measure)
	m := MeasureGate{
		Measure: least.Measure, Least: percent(least.Hundredths), Percent: percent(10_000), Reached: t.Reached, Declared: t.Declared,
		Met: t.Reached*10_000 >= least.Hundredths*t.Declared,
	}
	if t.Declared > 0 {
		m.Percent = percent(t.Reached * 10_000 / t.Declared)
	}
	for _, it := range items {
		if !m.Met && it.Measure == least.Measure && !it.Reached {
			m.Missing = append(m.Missing, Missing{it.Name, it.Line})
		}
	}
	return m
}

// percent writes hundredths of a per cent without trailing zeros: "95.5%".
func percent(hundredths int) string {
	switch whole, rest := hundredths/100, hundredths%100; {
	case rest == 0:
		return fmt.Sprintf("%d%%", whole)
	case rest%10 == 0:
		return fmt.Sprintf("%d.%d%%", whole, rest/10)
	default:
		return fmt.Sprintf("%d.%02d%%", whole, rest)
	}
}

package html

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/harness/contract/coverage"
	"github.com/lockstep-dev/lockstep/harness/report"
	"github.com/lockstep-dev/lockstep/harness/report/internal/groups"
	"github.com/lockstep-dev/lockstep/harness/report/internal/textfit"
	"github.com/lockstep-dev/lockstep/harness/report/text"
	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// pageData is a run as the page's program reads it. Invisible characters are escaped, and texts are cut to what a page
// can hold. Names are short because there may be ten thousand scenarios.
type pageData struct {
	Verdict      string          `json:"verdict"`
	Conclusion   string          `json:"conclusion"`
	Facts        [][2]string     `json:"facts"`
	Heading      []string        `json:"heading"`
	Verdicts     []share         `json:"verdicts"`
	Targets      []string        `json:"targets"`
	Flags        []string        `json:"flags"` // for each target, what makes a command run it alone
	Alone        bool            `json:"alone"`
	Changes      *report.Changes `json:"changes,omitempty"`
	ChangeCounts map[string]int  `json:"change_counts,omitempty"` // all of them, also those that are not listed
	groups.Groups
	Contract string           `json:"contract"`
	Coverage []operationView  `json:"coverage"`
	Never    []neverView      `json:"never,omitempty"` // what is declared inside of messages, and was not seen
	Gate     string           `json:"gate,omitempty"`  // what is missing from the demanded coverage
	Waivers  []waiverView     `json:"waivers,omitempty"`
	Unnamed  []string         `json:"unnamed,omitempty"`
	Latency  []report.Latency `json:"latency,omitempty"`
	Omitted  int              `json:"left,omitempty"` // groups left out or without evidence, because the page would be too large
}

// A share is how many scenarios have a verdict.
type share struct {
	Name  string `json:"name"`
	Count int    `json:"n"`
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

// A neverView is what was not reached of one measure.
type neverView struct {
	Measure string   `json:"measure"`
	Reached string   `json:"reached"` // "14/20"
	Names   []string `json:"names"`
	Omitted int      `json:"left,omitempty"` // names that are not listed
}

type waiverView struct {
	ID     string `json:"id"`
	State  string `json:"state"`
	Reason string `json:"reason"`
	Found  int    `json:"n"`
}

func newPageData(d *report.Document) *pageData {
	v := &pageData{
		Verdict: textfit.Clip(string(d.Verdict), 20), Conclusion: report.Conclusion(d), Alone: d.Alone, Contract: textfit.Clip(d.Contract, 200),
		Heading: heading(d), Verdicts: verdicts(&d.Totals), Facts: facts(d), Targets: report.TargetNames(d), Groups: *groups.Of(d),
	}
	for _, t := range d.Totals.Targets {
		v.Flags = append(v.Flags, report.TargetFlag(t.Name))
	}
	v.Omitted = v.Groups.Omitted + v.Groups.Bare
	if d.Changes != nil {
		v.Changes = d.Changes.Visible()
		v.ChangeCounts = map[string]int{"new": len(d.Changes.New), "changed": len(d.Changes.Changed), "fixed": len(d.Changes.Fixed)}
	}
	v.coverage(&d.Coverage)
	v.Gate = strings.TrimSpace(text.Gate(d))
	for _, w := range d.Waivers {
		v.Waivers = append(v.Waivers, waiverView{textfit.Clip(w.ID, 60), textfit.Clip(string(w.State), 20), textfit.Clip(w.Reason, 300), w.Findings})
	}
	for name, n := range d.Totals.Compared.Unnamed {
		v.Unnamed = append(v.Unnamed, textfit.Clip(name, 60)+" ("+strconv.Itoa(n)+")")
	}
	slices.Sort(v.Unnamed)
	for _, l := range d.Latency {
		l.Operation, l.Target = textfit.Clip(l.Operation, 200), textfit.Clip(l.Target, 60)
		v.Latency = append(v.Latency, l)
	}
	return v
}

func facts(d *report.Document) [][2]string {
	out := [][2]string{
		{"started", d.Started.UTC().Format(time.RFC3339)}, {"took", textfit.Seconds(d.Millis)}, {"jobs", strconv.Itoa(d.Jobs)},
		{"seed", strconv.FormatUint(d.Seed, 10)}, {"contract", cmp.Or(textfit.Clip(d.Contract, 200), report.NoContract)}, {"project", textfit.Clip(d.Project, 200)},
		{"lockstep", textfit.Clip(d.Version, 40)},
	}
	for i, t := range d.Totals.Targets {
		out = append(out, [2]string{report.Role(d, i), textfit.Clip(t.Name, 60) + ": " + report.TargetSummary(t)})
	}
	if text := report.Repeated(d.Scenarios); text != "" {
		out = append(out, [2]string{"repeated", text})
	}
	if text := report.NotRun(d.Scenarios); text != "" {
		out = append(out, [2]string{"not run", text})
	}
	if text := report.NotCompared(&d.Totals.Compared, d.Coverage.Uncompared); text != "" {
		out = append(out, [2]string{"not compared", text})
	}
	if text := d.Blame.String(); text != "" {
		out = append(out, [2]string{"blame", text})
	}
	for _, text := range report.OwnersUnchecked(d) {
		out = append(out, [2]string{"port owner", text})
	}
	if text := report.MachineLoad(d); text != "" {
		out = append(out, [2]string{"machine", text})
	}
	if s := d.Shard; s != nil {
		out = append(out, [2]string{"shard", fmt.Sprintf("%d of %d, of %s", s.Index, s.Of, textfit.Count(s.Selected, "scenario"))})
	}
	if d.Incomplete != "" {
		out = append(out, [2]string{"incomplete", textfit.Clip(d.Incomplete, 600)})
	}
	return out
}

// verdicts counts the scenarios of each verdict, the worst first.
func verdicts(t *verdict.Totals) (out []share) {
	for _, one := range []share{{"differ", t.Differ}, {"unknown", t.Unknown}, {"waived", t.Waived}, {"match", t.Match}, {"not applicable", t.NotApplicable}} {
		if one.Count > 0 {
			out = append(out, one)
		}
	}
	return out
}

// heading says what ran, and how much of it was compared.
func heading(d *report.Document) (out []string) {
	names := report.TargetNames(d)
	for i, t := range d.Totals.Targets {
		if version := d.Versions[t.Name]; version != "" {
			names[i] += " " + textfit.Clip(version, 40)
		}
	}
	if len(names) > 0 && !d.Alone {
		names[0] += " (reference)"
	}
	out = append(out, textfit.Clip(d.Project, 200), strings.Join(names, " → "), d.Started.UTC().Format("2006-01-02 15:04 UTC"), textfit.Seconds(d.Millis))
	if !d.Alone {
		out = append(out, report.Compared(&d.Totals.Compared)+" compared")
	}
	if d.Contract == "" {
		return append(out, "no contract")
	}
	return append(out, d.Coverage.Totals().String())
}

func (v *pageData) coverage(c *coverage.Coverage) {
	v.Coverage = []operationView{}
	for i := range c.Operations {
		op := &c.Operations[i]
		row := operationView{Name: report.Operation(op), Reached: op.Reached, Statuses: []cellView{}}
		for _, s := range op.Statuses {
			row.Statuses = append(row.Statuses, cellView{textfit.Clip(s.Status, 20), s.Reached})
			for _, m := range s.Media {
				row.stream(m.Stream)
			}
		}
		row.stream(op.Messages)
		v.Coverage = append(v.Coverage, row)
	}
	v.never(c)
}

// stream adds the events of a stream, which may be nil.
func (v *operationView) stream(s *coverage.Stream) {
	if s == nil {
		return
	}
	for _, e := range s.Events {
		v.Events = append(v.Events, cellView{textfit.Clip(e.Name, 80), e.Reached})
	}
}

// maxNever limits how many names the page lists for each measure.
const maxNever = 100

func (v *pageData) never(c *coverage.Coverage) {
	items := c.Items()
	for _, m := range coverage.Measures() {
		tally := coverage.TallyItems(items, m)
		if tally.Declared == 0 {
			continue
		}
		n := neverView{Measure: string(m), Reached: tally.String()}
		for _, it := range items {
			switch {
			case it.Measure != m || it.Reached:
			case len(n.Names) < maxNever:
				n.Names = append(n.Names, textfit.Clip(it.Name, 160)+" ("+report.LineText(it.Line)+")")
			default:
				n.Omitted++
			}
		}
		v.Never = append(v.Never, n)
	}
}

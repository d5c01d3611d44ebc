package groups

import (
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/harness/report"
	"github.com/lockstep-dev/lockstep/harness/report/internal/cause"
	"github.com/lockstep-dev/lockstep/harness/report/internal/textfit"
	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// An evidenceView is the evidence for the causes that are shown with one scenario.
type evidenceView struct {
	Sides     map[int][]sideView  `json:"sides"` // by the index of the finding
	Timelines []report.Timeline   `json:"tracks"`
	Streams   []report.StreamPair `json:"streams,omitempty"`
	Excerpts  map[int][]string    `json:"excerpts,omitempty"`
	Rules     []string            `json:"rules,omitempty"`
}

// A sideView is a report.Side. Its messages are indexes, because many findings can be about the same message; -1 is none.
type sideView struct {
	Target  string              `json:"target"`
	Request int                 `json:"request"`
	Answer  int                 `json:"answer"`
	Around  *report.JSONContext `json:"around,omitempty"`
	Curl    int                 `json:"curl"`
}

// addEvidence adds the evidence for a cause if there is room.
func (v *Groups) addEvidence(d *report.Document, g *Group, c *cause.Cause) {
	all := d.Evidence[d.Scenarios[g.Scenario].ID]
	if v.size > maxEvidence {
		v.Bare++
		return
	}
	if c.Fingerprint != "" && g.Accepted == "" {
		g.Waiver, g.Waive = waiverFor(&c.Finding, d.Started), d.Waive(d.Scenarios[g.Scenario].ID)
		g.Rule = textfit.Visible(verdict.RuleSkeleton(&c.Finding))
		v.size += len(g.Waiver) + len(g.Rule)
	}
	if all == nil || c.Index >= len(all.Findings) {
		return
	}
	out := v.Evidence[g.Scenario]
	if out == nil {
		out = v.newEvidence(all)
		v.Evidence[g.Scenario] = out
	}
	for _, side := range all.Findings[c.Index].Sides {
		side, _ := side.Visible()
		out.Sides[c.Index] = append(out.Sides[c.Index], sideView{side.Target, v.message(side.Request), v.message(side.Answer), side.Around, v.message(side.Curl)})
		if side.Around != nil {
			v.size += 40 * len(side.Around.Lines)
		}
	}
	if lines := all.Excerpts[c.Line]; lines != nil {
		out.Excerpts[c.Line] = textfit.ClipAll(lines, 200)
	}
}

// waiverFor returns a waiver for a finding, to be filled in.
func waiverFor(f *verdict.Finding, started time.Time) string {
	_, members, _ := strings.Cut(verdict.WaiverSkeleton([]verdict.Finding{*f}, nil, "", started.Add(verdict.WaiverLifetime)), "\n")
	return "- id: W-0001 # or the next one that is free\n" + textfit.VisibleLines(members)
}

// newEvidence returns what the causes of a scenario have in common.
func (v *Groups) newEvidence(all *report.Evidence) *evidenceView {
	out := &evidenceView{Sides: map[int][]sideView{}, Excerpts: map[int][]string{}, Rules: textfit.ClipAll(all.Rules, 120)}
	for _, t := range all.Timelines {
		out.Timelines = append(out.Timelines, t.Visible())
		v.size += 100 * (len(t.Spans) + len(t.Marks))
	}
	for _, s := range all.Streams {
		pair, size := s.Visible()
		out.Streams = append(out.Streams, pair)
		v.size += size
	}
	return out
}

// message returns the index of a message.
func (v *Groups) message(text string) int {
	if text == "" {
		return -1
	}
	if i, ok := v.messages[text]; ok {
		return i
	}
	if v.messages == nil {
		v.messages = map[string]int{}
	}
	v.messages[text] = len(v.Messages)
	v.Messages = append(v.Messages, text)
	v.size += len(text)
	return len(v.Messages) - 1
}

// addSteps adds the steps of each scenario while there is room. Those that do not match come first.
func (v *Groups) addSteps(d *report.Document) {
	texts := map[string]int64{}
	size := 0
	for _, match := range []bool{false, true} {
		for i := range v.Scenarios {
			s := &v.Scenarios[i]
			if (s.Verdict == string(verdict.Match)) != match {
				continue
			}
			for _, step := range d.Steps[d.Scenarios[i].ID] {
				text := textfit.Clip(step.Text, 160)
				n, ok := texts[text]
				if !ok {
					n = int64(len(v.Texts))
					texts[text], v.Texts = n, append(v.Texts, text)
					size += len(text)
				}
				one := []int64{int64(step.Line), n, step.Took}
				for _, status := range step.Statuses {
					one = append(one, int64(status))
				}
				s.Steps = append(s.Steps, one)
				size += 24
			}
			if size > maxSteps {
				return
			}
		}
	}
}

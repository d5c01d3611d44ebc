package report

import (
	"slices"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/report/internal/textfit"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// A StreamPair is a stream of the reference beside that of a candidate, event by event.
type StreamPair struct {
	Name string      `json:"name"`
	Rows []StreamRow `json:"rows"`
	More int         `json:"more,omitempty"` // rows that were left out
}

// A StreamRow has corresponding events of two streams. One of them can be nil. Found means that a finding is about it, and
// Same that the data are equal.
type StreamRow struct {
	Left  *EventHead `json:"l,omitempty"`
	Right *EventHead `json:"r,omitempty"`
	Found bool       `json:"f,omitempty"`
	Same  bool       `json:"s,omitempty"`
}

// An EventHead is the beginning of an event.
type EventHead struct {
	Name string `json:"n"`
	Head string `json:"h,omitempty"` // of its data
	At   int64  `json:"at"`          // in microseconds since the beginning of the scenario
}

// Limits of the streams of a scenario.
const (
	maxStreamPairs = 4
	maxStreamRows  = 120
	maxStreamTable = 250_000 // entries of the table that pairs events
	maxEventHead   = 160     // columns
)

// streamPairs returns the streams of the reference and the first candidate that findings are about.
func (g *EvidenceSource) streamPairs() []StreamPair {
	if len(g.Transcripts) < 2 {
		return nil
	}
	var out []StreamPair
	var names []string
	for i := range g.Scenario.Findings {
		f := &g.Scenario.Findings[i]
		if f.Stream == "" || f.Target != g.Transcripts[1].Target || slices.Contains(names, f.Stream) || len(out) == maxStreamPairs {
			continue
		}
		names = append(names, f.Stream)
		left, right := streamNamed(g.Transcripts[0], f.Stream), streamNamed(g.Transcripts[1], f.Stream)
		if left != nil && right != nil {
			out = append(out, g.streamPair(left, right))
		}
	}
	return out
}

func streamNamed(t *transcript.Transcript, name string) *transcript.Stream {
	for _, s := range t.Streams {
		if s.Name == name {
			return s
		}
	}
	return nil
}

// streamPair aligns two streams. Events that a finding compares belong together; others are paired by name and data.
func (g *EvidenceSource) streamPair(left, right *transcript.Stream) StreamPair {
	const gap, same, otherData, otherName = 4, 0, 1, 9
	found := [2]map[int]bool{{}, {}}
	partner := map[int]int{}
	for i := range g.Scenario.Findings {
		f := &g.Scenario.Findings[i]
		if f.Stream != left.Name || f.Target != g.Transcripts[1].Target {
			continue
		}
		a, b := f.Event(0), f.Event(1)
		if f.Class != verdict.Difference {
			a = -1
		}
		found[0][a], found[1][b] = true, true
		if a >= 0 && b >= 0 {
			partner[a] = b
		}
	}
	pairs := diff.Align(len(left.Events), len(right.Events), maxStreamTable, gap, func(i, j int) int {
		a, b := &left.Events[i], &right.Events[j]
		paired, ok := partner[i]
		switch {
		case ok && paired == j:
			return same
		case ok, a.Label() != b.Label():
			return otherName
		case a.Data != b.Data:
			return otherData
		default:
			return same
		}
	})
	out := StreamPair{Name: left.Name}
	for _, p := range pairs {
		row := StreamRow{Found: p.Ref < 0 || p.Cand < 0 || found[0][p.Ref] || found[1][p.Cand]}
		if p.Ref >= 0 {
			row.Left = g.eventHead(&left.Events[p.Ref])
		}
		if p.Cand >= 0 {
			row.Right = g.eventHead(&right.Events[p.Cand])
		}
		row.Same = p.Ref >= 0 && p.Cand >= 0 && left.Events[p.Ref].Data == right.Events[p.Cand].Data
		out.Rows = append(out.Rows, row)
	}
	out.limit()
	return out
}

// limit keeps the rows around the first one that a finding is about.
func (p *StreamPair) limit() {
	if p.More = len(p.Rows) - maxStreamRows; p.More <= 0 {
		p.More = 0
		return
	}
	first := max(0, slices.IndexFunc(p.Rows, func(r StreamRow) bool { return r.Found }))
	from := min(max(0, first-maxStreamRows/4), p.More)
	p.Rows = p.Rows[from : from+maxStreamRows]
}

func (g *EvidenceSource) eventHead(ev *transcript.Event) *EventHead {
	// Masked before it is cut, because a part of a secret would not be recognised.
	return &EventHead{textfit.Clip(g.Mask(ev.Label()), 80), textfit.Clip(g.Mask(ev.Data), maxEventHead), micros(ev.At)}
}

// Visible returns a copy with invisible characters escaped, and roughly how many bytes it takes on a page.
func (p StreamPair) Visible() (out StreamPair, size int) {
	visible := func(h *EventHead) *EventHead {
		if h == nil {
			return nil
		}
		size += 40 + len(h.Head)
		return &EventHead{textfit.Clip(h.Name, 80), textfit.Clip(h.Head, maxEventHead), h.At}
	}
	out = StreamPair{Name: textfit.Clip(p.Name, 80), More: p.More}
	for _, r := range p.Rows {
		out.Rows = append(out.Rows, StreamRow{visible(r.Left), visible(r.Right), r.Found, r.Same})
	}
	return out, size
}

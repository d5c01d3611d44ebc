package report

import (
	"fmt"
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
	Ends []string    `json:"ends"`           // how each side ended
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
	// The rest is set on sockets and for programs.
	Label string `json:"l,omitempty"` // as in findings: "message 3", "sent 1"
	Way   string `json:"w,omitempty"` // waySent or wayReceived
	Note  string `json:"k,omitempty"` // how it was written, when that is unusual
	Dim   bool   `json:"d,omitempty"` // it is standard error
}

// The directions of messages and lines.
const (
	waySent     = "sent"
	wayReceived = "received"
)

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
	from, count := windows([2]int{len(left.Events), len(right.Events)}, found)
	pairs := diff.Align(count[0], count[1], maxStreamTable, gap, func(i, j int) int {
		a, b := &left.Events[from[0]+i], &right.Events[from[1]+j]
		paired, ok := partner[from[0]+i]
		switch {
		case ok && paired == from[1]+j:
			return same
		case ok, a.Label() != b.Label(), a.Sent != b.Sent, a.Item != b.Item:
			return otherName
		case a.Data != b.Data:
			return otherData
		default:
			return same
		}
	})
	out := StreamPair{Name: left.Name, Ends: []string{g.ending(left), g.ending(right)}}
	var rows []eventRow
	for _, p := range pairs {
		row := eventRow{ref: p.Ref, cand: p.Cand}
		alone := &transcript.Event{}
		if p.Ref >= 0 {
			row.ref += from[0]
			alone = &left.Events[row.ref]
		}
		if p.Cand >= 0 {
			row.cand += from[1]
			alone = &right.Events[row.cand]
		}
		row.found = found[0][row.ref] || found[1][row.cand]
		if p.Ref < 0 || p.Cand < 0 { // what was sent is not compared, and neither is standard error without a rule
			row.found = row.found || !alone.Sent && alone.Item != transcript.ItemStderr
		}
		rows = append(rows, row)
	}
	rows, out.More = around(rows)
	out.More += max(len(left.Events)-count[0], len(right.Events)-count[1])
	for _, r := range rows {
		out.Rows = append(out.Rows, g.streamRow(left, right, r))
	}
	return out
}

// An eventRow has the indexes of two corresponding events; -1 for none.
type eventRow struct {
	ref, cand int
	found     bool
}

// windows returns which events of both sides are aligned: all, or those around the first one that a finding is about.
func windows(size [2]int, found [2]map[int]bool) (from, count [2]int) {
	const most, before = 500, 100 // most*most is maxStreamTable
	if size[0]*size[1] <= maxStreamTable {
		return from, size
	}
	var first [2]int
	for side := range found {
		first[side] = -1
		for i := range found[side] {
			if i >= 0 && (first[side] < 0 || i < first[side]) {
				first[side] = i
			}
		}
	}
	for side := range size {
		at := first[side]
		if at < 0 {
			at = first[1-side]
		}
		from[side] = min(max(0, at-before), max(0, size[side]-most))
		count[side] = min(most, size[side]-from[side])
	}
	return from, count
}

// around keeps the rows around the first one that a finding is about, and says how many it leaves out.
func around(rows []eventRow) ([]eventRow, int) {
	more := len(rows) - maxStreamRows
	if more <= 0 {
		return rows, 0
	}
	first := max(0, slices.IndexFunc(rows, func(r eventRow) bool { return r.found }))
	from := min(max(0, first-maxStreamRows/4), more)
	return rows[from : from+maxStreamRows], more
}

func (g *EvidenceSource) streamRow(left, right *transcript.Stream, r eventRow) StreamRow {
	out := StreamRow{Found: r.found}
	if r.ref >= 0 {
		out.Left = g.eventHead(itemPlace{left, r.ref})
	}
	if r.cand >= 0 {
		out.Right = g.eventHead(itemPlace{right, r.cand})
	}
	out.Same = r.ref >= 0 && r.cand >= 0 && left.Events[r.ref].Data == right.Events[r.cand].Data
	return out
}

func (g *EvidenceSource) eventHead(p itemPlace) *EventHead {
	ev := p.event()
	// Masked before it is cut, because a part of a secret would not be recognised.
	data, cut := g.beginning(ev.Data)
	out := &EventHead{Name: textfit.Clip(g.Mask(ev.Label()), 80), Head: textfit.Clip(data, maxEventHead), At: micros(ev.At)}
	if ev.Item == "" {
		return out
	}
	out.Name, out.Label, out.Dim = textfit.Clip(g.Mask(itemTitle(ev)), 80), g.labelsOf(p.stream)[p.index], ev.Item == transcript.ItemStderr
	if diff.Unnumbered(out.Label) == out.Name {
		out.Name, out.Label = out.Label, ""
	}
	out.Note, out.Way = textfit.Clip(framingNote(ev), 80), wayReceived
	if ev.Sent {
		out.Way = waySent
	}
	switch {
	case itemSaysAll(ev.Item):
		out.Head = ""
	case ev.Binary():
		out.Head = fmt.Sprintf("% x%s", data[:min(len(data), hexHead)], textfit.CutNote(max(0, len(data)-hexHead)+cut))
	}
	return out
}

// ending says how a stream ended.
func (g *EvidenceSource) ending(s *transcript.Stream) string {
	switch {
	case s.Failure != nil:
		return "broke: " + g.failed(s.Failure)
	case s.Ended == transcript.EndedByClient:
		return "ended by lockstep"
	default:
		return "ended by the target"
	}
}

// Visible returns a copy with invisible characters escaped, and roughly how many bytes it takes on a page.
func (p StreamPair) Visible() (out StreamPair, size int) {
	visible := func(h *EventHead) *EventHead {
		if h == nil {
			return nil
		}
		out := *h
		out.Name, out.Head = textfit.Clip(h.Name, 80), textfit.Clip(h.Head, maxEventHead)
		out.Label, out.Note = textfit.Clip(h.Label, 40), textfit.Clip(h.Note, 80)
		if h.Way != "" && h.Way != waySent {
			out.Way = wayReceived
		}
		size += 80 + len(out.Head) + len(out.Note)
		return &out
	}
	out = StreamPair{Name: textfit.Clip(p.Name, 80), Ends: textfit.ClipAll(p.Ends, 200), More: p.More}
	for _, r := range p.Rows {
		out.Rows = append(out.Rows, StreamRow{visible(r.Left), visible(r.Right), r.Found, r.Same})
	}
	return out, size
}

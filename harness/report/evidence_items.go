package report

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/report/internal/textfit"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// Limits of what is shown of binary data.
const (
	hexRow  = 8   // bytes in a row
	maxHex  = 512 // bytes
	hexHead = 24  // bytes in a row of a stream
)

// arrow shows the direction of an item: → was sent to the target, ← came from it.
func arrow(ev *transcript.Event) string {
	if ev.Sent {
		return "→"
	}
	return "←"
}

// itemTitle says what an item is: its name in the contract, or its kind with what belongs to that.
func itemTitle(ev *transcript.Event) string {
	switch ev.Item {
	case transcript.ItemClose:
		var end struct {
			Code   *int
			Reason string
		}
		_ = json.Unmarshal([]byte(ev.Data), &end) // lockstep has written it
		switch {
		case end.Code == nil:
			return "close without a code"
		case end.Reason == "":
			return "close " + strconv.Itoa(*end.Code)
		}
		return "close " + strconv.Itoa(*end.Code) + " " + strconv.Quote(end.Reason)
	case transcript.ItemExit:
		var end struct {
			Status int
			Signal string
		}
		_ = json.Unmarshal([]byte(ev.Data), &end)
		if end.Signal != "" {
			return "ended by " + end.Signal
		}
		return "exit " + strconv.Itoa(end.Status)
	case transcript.ItemSignal:
		return ev.Data
	case transcript.ItemEOF:
		return "end of input"
	case transcript.ItemBytes:
		return "bytes"
	}
	if ev.Name == "" {
		return string(ev.Item)
	}
	return ev.Name
}

// itemSaysAll reports whether the title of an item shows all of its data.
func itemSaysAll(item transcript.Item) bool {
	switch item {
	case transcript.ItemClose, transcript.ItemExit, transcript.ItemSignal, transcript.ItemEOF:
		return true
	}
	return false
}

// framingNote describes how an item was written, unless it was written in the usual way: in one frame, or as a line
// that ends with LF.
func framingNote(ev *transcript.Event) string {
	framing := ev.Framing
	switch ev.Item {
	case "", transcript.ItemExit, transcript.ItemSignal, transcript.ItemEOF:
		return ""
	case transcript.ItemLine, transcript.ItemStderr:
		switch framing {
		case "", "•\n":
			return ""
		case "•\r\n":
			return "ends with CR LF"
		case "•":
			return "no line end"
		}
		return strconv.Quote(framing)
	}
	if frames := strings.Count(framing, ", ") + 1; ev.Item != transcript.ItemBytes {
		if frames == 1 {
			return ""
		}
		return textfit.Count(frames, "frame") + ": " + framing
	}
	return framing
}

// itemText shows an item whole: what it is in the first line, and its data below.
func (g *EvidenceSource) itemText(label string, ev *transcript.Event, remark string) string {
	head := arrow(ev) + " "
	title := itemTitle(ev)
	if label != "" {
		head += label
		if title != string(transcript.ItemLine) {
			head += ": "
		}
	}
	if label == "" || title != string(transcript.ItemLine) {
		head += title
	}
	for _, note := range []string{framingNote(ev), remark} {
		if note != "" {
			head += ", " + note
		}
	}
	if itemSaysAll(ev.Item) || ev.Data == "" {
		return g.masked(head)
	}
	data, cut := g.beginning(ev.Data)
	if ev.Binary() {
		return textfit.ClipLines(g.Mask(head), maxMessage) + "\n\n" + hexDump(data, cut)
	}
	return textfit.ClipLines(g.Mask(head)+"\n\n"+data, maxMessage-40) + textfit.CutNote(cut)
}

// beginning returns the beginning of data without secrets, and how many bytes it leaves out. A part of a secret at the
// cut would not be recognised, so what is before the cut is left out too.
func (g *EvidenceSource) beginning(data string) (kept string, cut int) {
	const most, margin = 4 * maxMessage, 4096 // a character has at most 4 bytes
	if len(data) <= most+margin {
		return g.Mask(data), 0
	}
	kept = g.Mask(data[:most+margin])
	return kept[:max(0, len(kept)-margin)], len(data) - most
}

// hexDump shows bytes in rows: the offset, the bytes, and the characters that are ASCII.
func hexDump(data string, cut int) string {
	var b strings.Builder
	shown := data[:min(len(data), maxHex)]
	for at := 0; at < len(shown); at += hexRow {
		row := shown[at:min(len(shown), at+hexRow)]
		fmt.Fprintf(&b, "%04x  %-*s│ ", at, 3*hexRow, fmt.Sprintf("% x", row))
		for _, c := range []byte(row) {
			if c < ' ' || c > '~' {
				c = '.'
			}
			b.WriteByte(c)
		}
		b.WriteString("\n")
	}
	return b.String() + strings.TrimPrefix(textfit.CutNote(len(data)-len(shown)+cut), "…")
}

// An itemPlace is an event in its stream.
type itemPlace struct {
	stream *transcript.Stream
	index  int
}

func (p itemPlace) event() *transcript.Event { return &p.stream.Events[p.index] }

// sideItem shows the item that a finding is about, and what was sent before it. Without an item, it shows the last one.
func (g *EvidenceSource) sideItem(s *transcript.Stream, n int) (request, answer string) {
	remark := ""
	if n < 0 {
		for n = len(s.Events) - 1; n >= 0 && s.Events[n].Sent; n-- {
		}
		if n < 0 {
			return "", "nothing came"
		}
		remark = "the last that came"
	}
	labels := g.labelsOf(s)
	answer = g.itemText(labels[n], &s.Events[n], remark)
	if before, answers := g.sentBefore(itemPlace{s, n}); before >= 0 {
		remark = "the last that was sent before"
		if answers {
			remark = "which it answers"
		}
		request = g.itemText(labels[before], &s.Events[before], remark)
	}
	return request, answer
}

func (g *EvidenceSource) labelsOf(s *transcript.Stream) []string {
	if g.Labels == nil {
		return make([]string, len(s.Events))
	}
	if g.labels[s] == nil {
		if g.labels == nil {
			g.labels = map[*transcript.Stream][]string{}
		}
		g.labels[s] = g.Labels(s)
	}
	return g.labels[s]
}

// sentBefore returns the index of what was sent before an item: for a response of JSON-RPC 2.0 its request, otherwise
// the last one; -1 for none.
func (g *EvidenceSource) sentBefore(p itemPlace) (index int, answers bool) {
	if id, method := rpcID(p.event().Data); id != "" && !method {
		for _, i := range g.requestsOf(p.stream)[id] {
			if i < p.index {
				index, answers = i, true
			}
		}
		if answers {
			return index, true
		}
	}
	for i := p.index - 1; i >= 0; i-- {
		if p.stream.Events[i].Sent {
			return i, false
		}
	}
	return -1, false
}

// requestsOf returns the indexes of the requests of JSON-RPC that were sent on a stream, by their ids.
func (g *EvidenceSource) requestsOf(s *transcript.Stream) map[string][]int {
	if out, ok := g.requests[s]; ok {
		return out
	}
	out := map[string][]int{}
	for i := range s.Events {
		if ev := &s.Events[i]; ev.Sent {
			if id, method := rpcID(ev.Data); id != "" && method {
				out[id] = append(out[id], i)
			}
		}
	}
	if g.requests == nil {
		g.requests = map[*transcript.Stream]map[string][]int{}
	}
	g.requests[s] = out
	return out
}

// rpcID returns the id of a message of JSON-RPC 2.0 as it was written, and whether the message has a method; "" when
// it is no such message.
func rpcID(data string) (id string, method bool) {
	if len(data) > maxContextBody || !strings.Contains(data, `"jsonrpc"`) {
		return "", false
	}
	root, _, err := jsontree.Parse([]byte(data))
	if err != nil || root.Kind != jsontree.Object || root.Member("id") == nil {
		return "", false
	}
	return root.Member("id").String(), root.Member("method") != nil
}

package scenario

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/yamldoc"
)

// A scriptDecoder decodes the scripts of stubs.
type scriptDecoder struct {
	values   *valueDecoder
	messages *messageDecoder
}

// script decodes the script of a socket; nil without one.
func (d scriptDecoder) script(n *yamldoc.Node) *StubScript {
	if n == nil {
		return nil
	}
	s := &StubScript{Wire: transcript.WireSocket}
	for i, item := range n.Items {
		t := d.turn(item)
		if h, ok := t.Do.(*Hangup); ok && i < len(n.Items)-1 {
			d.values.problem(n.Items[i+1], fmt.Sprintf("nothing can follow %s, which ends the connection", h.How), "remove what follows, or move it before that line")
		}
		s.Turns = append(s.Turns, t)
	}
	return s
}

// turn decodes a line of a script. The schema makes sure that it has one of these keys.
func (d scriptDecoder) turn(n *yamldoc.Node) Turn {
	onlyOne(d.values, n, "a line has both %s and %s", "write a line for each of them", "send", "await", "close", "drop")
	t := Turn{After: d.values.duration(n.Get("after")), Line: n.Line, Column: n.Column}
	send, await, closing := n.Get("send"), n.Get("await"), n.Get("close")
	switch {
	case send != nil:
		w := wireDecoder{d.values, d.messages}
		t.Do = &Send{Message: w.sent(send, false), Within: d.values.duration(send.Get("within"))}
	case await != nil:
		t.Do = &Await{
			Match: d.messages.pattern(await.Get("match")), Times: max(1, d.values.number(await.Get("times"))), End: await.Get("end") != nil,
			Within: d.values.duration(await.Get("within")), Capture: d.messages.captures(await.Get("capture")),
		}
	case closing != nil:
		t.Do = &Hangup{
			How: Close, Code: numberOr(d.values, closing.Get("code"), 1000), Reason: d.values.optional(closing.Get("reason")),
			Within: d.values.duration(closing.Get("within")),
		}
	default:
		t.Do = &Hangup{How: Drop}
	}
	return t
}

func decodeCadence(d *valueDecoder, n *yamldoc.Node) *Cadence {
	if n == nil {
		return nil
	}
	c := &Cadence{Line: n.Line, Column: n.Column, Cadence: transcript.Cadence{Tolerance: d.duration(n.Get("tolerance")), Since: n.Get("since").Str()}}
	every := n.Get("every")
	from, most, isRange := strings.Cut(every.Str(), "..")
	c.Every, _ = time.ParseDuration(from)
	if isRange {
		c.Most, _ = time.ParseDuration(most)
	}
	if growing := n.Get("growing"); growing != nil {
		c.Growing, _ = strconv.ParseFloat(growing.Text, 64)
	}
	switch {
	case isRange && c.Most <= c.Every:
		d.problem(every, fmt.Sprintf("every is %s", every.Text), "write a range that grows, such as 1s..30s")
	case isRange && c.Growing <= 1:
		d.problem(every, fmt.Sprintf("every is %s, but nothing makes it grow", every.Text), "add growing: 2, or write one time")
	}
	return c
}

// onlyOne reports a node with more than one of the keys.
func onlyOne(d *valueDecoder, n *yamldoc.Node, what, fix string, keys ...string) (first *yamldoc.Node) {
	for _, key := range keys {
		k, v := n.Entry(key)
		if v == nil {
			continue
		}
		if first != nil {
			d.problem(k, fmt.Sprintf(what, first.Text, key), fix)
		}
		first = k
	}
	return first
}

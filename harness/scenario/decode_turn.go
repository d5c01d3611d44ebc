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

// script decodes the script of an answer; nil without one.
func (d scriptDecoder) script(answer *yamldoc.Node) *StubScript {
	s := &StubScript{}
	k, n := answer.Entry("socket")
	if s.Wire = transcript.WireSocket; n == nil {
		k, n = answer.Entry("program")
		s.Wire = transcript.WireProgram
	} else if other, program := answer.Entry("program"); program != nil {
		d.values.problem(other, "an answer has both socket and program", "keep one of them")
	}
	if k == nil {
		return nil
	}
	for i, item := range n.Items {
		d.fits(item, s.Wire)
		t := d.turn(item)
		_, hangs := t.Do.(*Hangup)
		_, exits := t.Do.(*Exit)
		if (hangs || exits) && i < len(n.Items)-1 {
			d.values.problem(n.Items[i+1], fmt.Sprintf("nothing can follow %s, which is the end", t.Do.kind()), "remove what follows, or move it before that line")
		}
		s.Turns = append(s.Turns, t)
	}
	return s
}

// fits reports keys of a line that are only for another wire.
func (d scriptDecoder) fits(n *yamldoc.Node, wire transcript.Wire) {
	for _, only := range []struct {
		in   *yamldoc.Node
		wire transcript.Wire
		keys []string
	}{
		{n, transcript.WireSocket, []string{"close", "drop"}}, {n, transcript.WireProgram, []string{"stderr", "exit", "signal"}},
		{n.Get("send"), transcript.WireSocket, []string{"binary", "ping", "pong", "frames", "fragments"}},
	} {
		for _, key := range only.keys {
			if k, v := only.in.Entry(key); v != nil && wire != only.wire {
				d.values.problem(k, fmt.Sprintf("%s is only for %s, and this is %s", key, wireNouns[string(only.wire)], wireNouns[string(wire)]), "remove it, or use what this has: docs/stubs.md")
			}
		}
	}
}

// turn decodes a line of a script. The schema makes sure that it has one of these keys.
func (d scriptDecoder) turn(n *yamldoc.Node) Turn {
	onlyOne(d.values, n, "a line has both %s and %s", "write a line for each of them", "send", "await", "close", "drop", "stderr", "exit", "signal")
	t := Turn{After: d.values.duration(n.Get("after")), Line: n.Line, Column: n.Column}
	send, await, closing := n.Get("send"), n.Get("await"), n.Get("close")
	switch {
	case send != nil:
		w := wireDecoder(d)
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
	case n.Get("stderr") != nil:
		t.Do = &Send{Message: Message{Item: transcript.ItemStderr, Text: d.values.optional(n.Get("stderr"))}}
	case n.Get("drop") != nil:
		t.Do = &Hangup{How: Drop}
	default:
		t.Do = &Exit{Status: d.values.number(n.Get("exit")), Signal: n.Get("signal").Str()}
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

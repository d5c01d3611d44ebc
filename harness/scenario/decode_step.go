package scenario

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/internal/yamldoc"
)

type stepDecoder struct {
	*valueDecoder
	messages *messageDecoder
	rules    *ruleDecoder
}

func (d *stepDecoder) wires() *wireDecoder { return &wireDecoder{d.valueDecoder, d.messages} }

func (d *stepDecoder) steps(prefix string, list *yamldoc.Node) []Step {
	var out []Step
	for i, n := range list.Items {
		id := prefix + strconv.Itoa(i+1)
		do := d.action(id, n)
		out = append(out, Step{ID: id, Line: n.Line, Text: stepText(n, do), Do: do})
	}
	return out
}

func (d *stepDecoder) teardown(i int, n *yamldoc.Node) Step {
	h := d.http(n)
	h.AllowStatus = []int{}
	for _, item := range n.Get("allow_status").Elements() {
		h.AllowStatus = append(h.AllowStatus, d.number(item))
	}
	return Step{ID: "teardown." + strconv.Itoa(i+1), Line: n.Line, Text: stepText(n, h), Do: h}
}

func (d *stepDecoder) action(id string, n *yamldoc.Node) Action {
	within := d.duration(n.Get("within"))
	switch {
	case n.Get("start") != nil:
		return &Start{Name: n.Get("start").Text, Request: requestOrDo(d.messages, n)}
	case n.Get("http") != nil, n.Get("do") != nil:
		return d.http(n)
	case n.Get("join") != nil:
		return &Join{
			Name: n.Get("join").Text, Within: within, Expect: d.messages.expect(n.Get("expect")),
			Capture: d.messages.captures(n.Get("capture")), Compare: d.rules.all(n.Get("compare")),
		}
	case n.Get("open") != nil:
		return d.open(n)
	case n.Get("send") != nil:
		return d.wires().send(n)
	case n.Get("signal") != nil:
		return &Signal{Stream: n.Get("signal").Text, Name: n.Get("name").Text}
	case n.Get("await") != nil:
		return &Await{
			Stream: n.Get("await").Text, Match: d.messages.pattern(n.Get("match")), Times: max(1, d.number(n.Get("times"))),
			End: n.Get("end") != nil, Within: within, Capture: d.messages.captures(n.Get("capture")),
		}
	case n.Get("never") != nil:
		return &Never{Stream: n.Get("never").Text, Match: d.messages.pattern(n.Get("match")), Within: within}
	case n.Get("poll") != nil:
		return d.poll(n)
	case n.Get("stop") != nil:
		return &Stop{Within: within, Exit: d.number(n.Get("exit"))}
	case n.Get("kill") != nil:
		return &Kill{}
	case n.Get("restart") != nil:
		return &Restart{Within: within}
	case n.Get("asked") != nil:
		stub, rule, _ := strings.Cut(n.Get("asked").Text, ".")
		return &Asked{Stub: stub, Rule: rule, Times: max(1, d.number(n.Get("times"))), Within: within}
	case n.Get("parallel") != nil:
		return d.parallel(id, n.Get("parallel"))
	}
	for _, how := range []HangupKind{Close, HalfClose, Drop} {
		if name := n.Get(string(how)); name != nil {
			return &Hangup{Name: name.Text, How: how, Code: numberOr(d.valueDecoder, n.Get("code"), 1000), Reason: d.optional(n.Get("reason")), Within: within}
		}
	}
	panic(fmt.Sprintf("scenario: %s:%d: the schema let an unknown step pass", d.file, n.Line))
}

func (d *stepDecoder) http(n *yamldoc.Node) *HTTP {
	return &HTTP{
		Request: requestOrDo(d.messages, n),
		Within:  d.duration(n.Get("within")),
		Burst:   d.number(n.Get("burst")),
		Expect:  d.messages.expect(n.Get("expect")),
		Capture: d.messages.captures(n.Get("capture")),
		Compare: d.rules.all(n.Get("compare")),
	}
}

func (d *stepDecoder) open(n *yamldoc.Node) *Open {
	o := &Open{
		Name:    n.Get("open").Text,
		Within:  d.duration(n.Get("within")),
		Expect:  d.messages.expect(n.Get("expect")),
		Compare: d.rules.all(n.Get("compare")),
	}
	switch {
	case n.Get("socket") != nil:
		d.wires().openSocket(o, n)
	case n.Get("program") != nil:
		d.wires().openProgram(o, n.Get("program"))
	default:
		o.Request = d.messages.request(n, "sse")
	}
	if r := n.Get("ready"); r != nil {
		event := r.Get("event")
		o.Ready = &Ready{
			Event: d.template(event), Within: d.duration(r.Get("within")), Line: event.Line, Column: event.Column,
		}
	}
	for _, item := range n.Get("only").Elements() {
		o.Only = append(o.Only, *d.messages.pattern(item))
	}
	return o
}

func (d *stepDecoder) poll(n *yamldoc.Node) *Poll {
	p := &Poll{
		Request: d.messages.request(n, "poll"),
		Pause:   20 * time.Millisecond, MaxPause: 200 * time.Millisecond,
		Within:  d.duration(n.Get("within")),
		Until:   d.messages.expect(n.Get("until")),
		Compare: PollFinal,
		Capture: d.messages.captures(n.Get("capture")),
	}
	if every := n.Get("every"); every != nil {
		from, to, isRange := strings.Cut(every.Text, "..")
		p.Pause, _ = time.ParseDuration(from)
		p.MaxPause = p.Pause
		if isRange {
			p.MaxPause, _ = time.ParseDuration(to)
		}
		if p.Pause <= 0 || p.MaxPause < p.Pause {
			d.problem(every, fmt.Sprintf("every is %s", every.Text), "write a range that grows, such as 20ms..200ms")
		}
	}
	if c := n.Get("compare"); c != nil {
		p.Compare = PollCompare(c.Text)
	}
	return p
}

func (d *stepDecoder) parallel(id string, n *yamldoc.Node) *Parallel {
	p := &Parallel{}
	for k, v := range n.Entries() {
		p.Branches = append(p.Branches, Branch{k.Text, d.steps(id+"."+k.Text+".", v)})
	}
	return p
}

// stepText is the name of a step in reports.
func stepText(n *yamldoc.Node, do Action) string {
	switch do := do.(type) {
	case *HTTP:
		return requestText(n)
	case *Start:
		return "start " + do.Name + ": " + requestText(n)
	case *Open:
		return "open " + do.Name + ": " + openText(n)
	case *Poll:
		return "poll " + n.Get("poll").Text
	case *Parallel:
		names := make([]string, len(do.Branches))
		for i, b := range do.Branches {
			names[i] = b.Name
		}
		return "parallel " + strings.Join(names, ", ")
	default:
		return do.kind() + " " + n.Get(do.kind()).Str()
	}
}

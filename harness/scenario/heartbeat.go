package scenario

import (
	"time"

	"github.com/lockstep-dev/lockstep/internal/yamldoc"
)

// heartbeat decodes the rule for what keeps a stream alive. The first beat is due after an interval, and a beat may be out of
// time by half of one, unless the rule says something else.
func (d *decoder) heartbeat(n *yamldoc.Node) *Heartbeat {
	h := &Heartbeat{
		Event: n.Get("event").Str(), Every: d.duration(n.Get("every")), Tolerance: d.duration(n.Get("tolerance")),
		Same: n.Get("comment").Str() == "same",
	}
	if event := n.Get("event"); event != nil {
		h.Line, h.Column = event.Line, event.Column
	}
	if h.Tolerance == 0 {
		h.Tolerance = h.Every / 2
	}
	h.First = h.Every
	if first := n.Get("first"); first != nil {
		h.First = d.moment(first)
		if n.Get("every") == nil {
			d.problem(first, "first says when a cadence begins, and there is none", "add every: 500ms, or leave it out")
		}
	}
	return h
}

// moment returns a time from a beginning on, which may be no time at all.
func (d *decoder) moment(n *yamldoc.Node) time.Duration {
	if v, err := time.ParseDuration(n.Text); err == nil && v == 0 {
		return 0
	}
	return d.duration(n)
}

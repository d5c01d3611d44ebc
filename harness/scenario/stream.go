package scenario

import (
	"fmt"
	"slices"

	"github.com/lockstep-dev/lockstep/internal/yamldoc"
)

// collapses decodes the rules for pieces of texts. Events of one name have one.
func (d *decoder) collapses(list *yamldoc.Node) []Collapse {
	var out []Collapse
	for _, n := range list.Elements() {
		event, text := n.Get("event"), n.Get("text")
		c := Collapse{
			Event: event.Text, Text: d.path(text), Because: n.Get("because").Text, Place: Place{d.file, event.Line, event.Column},
		}
		if c.Text == "$" {
			d.problem(text, "a piece of text at $, the root of every event", "name a member, such as $.delta")
		}
		for _, by := range n.Get("by").Elements() {
			c.By = append(c.By, d.path(by))
		}
		if slices.ContainsFunc(out, func(other Collapse) bool { return other.Event == c.Event }) {
			d.problem(event, fmt.Sprintf("collapse speaks of %s twice", c.Event), "keep one rule for each event")
		}
		out = append(out, c)
	}
	return out
}

package cause

import (
	"cmp"
	"slices"

	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// A Row has the causes at one place in the answers of one operation: differences, and what the contract and the scenario
// say about the same value.
type Row struct {
	Operation string // or the text of the step if it has none
	Place     string // without indexes of elements and numbers of messages
	Causes    []*Cause
	Findings  int
	In        map[string]bool // ids of the scenarios
	Fresh     int             // number of findings that are new or have changed
}

// Rows groups the causes of a layout by operation and property, and sorts the groups: the one in most scenarios first, of
// equal ones those with more new findings. Behind them are those in which several sides do the same, and accepted ones last.
func Rows(layout *Layout, isNew func(*verdict.Finding) bool) []*Row {
	type key struct {
		operation, stream, upstream, property string
		accepted                              bool
	}
	var all []*Cause
	for _, b := range layout.Blocks {
		all = append(all, b.Causes...)
	}
	slices.SortStableFunc(all, func(a, b *Cause) int { return a.Weight().Compare(b.Weight()) })
	var out []*Row
	rows := map[key]*Row{}
	for _, c := range all {
		k := key{cmp.Or(c.Operation, c.StepText), c.Stream, c.Upstream, property(c.Place), c.Accepted()}
		r := rows[k]
		if r == nil {
			r = &Row{Operation: k.operation, Place: k.property, In: map[string]bool{}}
			rows[k], out = r, append(out, r)
		}
		r.Causes = append(r.Causes, c)
		r.Findings += c.Total()
		r.Fresh += c.count(isNew)
		r.In[c.In.ID] = true
		for _, other := range c.Also {
			r.In[other.Scenario.ID] = true
		}
	}
	slices.SortStableFunc(out, func(a, b *Row) int {
		return cmp.Or(a.group()-b.group(), cmp.Compare(len(b.In), len(a.In)), cmp.Compare(b.Fresh, a.Fresh))
	})
	return out
}

// group returns 0 for differences and what only one side does wrong, 1 for what several do, and 2 for what is accepted.
func (r *Row) group() int {
	switch {
	case r.Causes[0].Accepted():
		return 2
	case !slices.ContainsFunc(r.Causes, func(c *Cause) bool { return !c.Shared() }):
		return 1
	}
	return 0
}

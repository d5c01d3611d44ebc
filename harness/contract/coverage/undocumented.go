package coverage

import (
	"cmp"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/contract/schema"
	"github.com/lockstep-dev/lockstep/harness/contract/spec"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// Undocumented is something that occurred but is not in the document. Occurrences that differ only in generated values
// share one row. The rows do not depend on the order of exchanges, so a run and its merged shards have the same list.
type Undocumented struct {
	Kind schema.Kind `json:"kind"` // undocumented-operation, -status, -media-type or -event
	// What names it: "GET /nope/{…}", "GET /event: 418", "GET /event: tick". A path that the document has with other
	// methods is written as in the document: "PUT /tools/{id}".
	What  string `json:"what"`
	Count int    `json:"count"` // how often, on all targets
	// Statuses are the responses to requests outside the contract, sorted by status.
	Statuses []StatusCount `json:"statuses,omitempty"`
	// Scenarios are those in which it occurred, the first five by name.
	Scenarios []string `json:"scenarios,omitempty"`
}

// A StatusCount says how many responses had a status.
type StatusCount struct {
	Status int `json:"status"`
	Count  int `json:"count"`
}

// Refused reports whether this is an unknown operation that every target refused. That is correct.
func (u *Undocumented) Refused() bool {
	return u.Kind == spec.UndocumentedOperation && !slices.ContainsFunc(u.Statuses, func(s StatusCount) bool { return s.Status < 400 })
}

// A Normalizer replaces the parts of a text that change from run to run: "/nope/{…}". Nil leaves texts as they are.
type Normalizer func(text string) string

// An addition is a transcript whose exchanges and events are being counted.
type addition struct {
	*Coverage
	scenario  string
	normalize Normalizer
}

// unknownOperation counts a request outside the contract.
func (a addition) unknownOperation(ex *transcript.Exchange) {
	at := a.doc.PathTemplate(ex.Request.Target)
	if at == "" {
		at = a.normalized(spec.TargetPath(ex.Request.Target))
	}
	a.undocumented(Undocumented{
		Kind: spec.UndocumentedOperation, What: ex.Request.Method + " " + at, Statuses: []StatusCount{{ex.Response.Status, 1}},
	})
}

// undeclared counts something that an operation does not declare.
func (a addition) undeclared(kind schema.Kind, op *spec.Operation, what string) {
	a.undocumented(Undocumented{Kind: kind, What: op.String() + ": " + a.normalized(what)})
}

func (a addition) undocumented(u Undocumented) {
	u.Count = 1
	if a.scenario != "" {
		u.Scenarios = []string{a.scenario}
	}
	a.addUndocumented(u)
}

func (a addition) normalized(text string) string {
	if a.normalize == nil {
		return text
	}
	return a.normalize(text)
}

// The list is limited by dropping the rows that come last in its order, not those that occurred last. So a kept row has
// been counted from its first occurrence on, whatever the order of occurrences.
const (
	maxUndocumented          = 1000
	maxUndocumentedScenarios = 5
)

func (c *Coverage) addUndocumented(u Undocumented) {
	if len(u.What) > 200 {
		u.What = strings.ToValidUTF8(u.What[:200], "") + "…"
	}
	i, found := slices.BinarySearchFunc(c.Undocumented, u, func(a, b Undocumented) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.What, b.What))
	})
	if !found {
		c.Undocumented = slices.Insert(c.Undocumented, i, Undocumented{Kind: u.Kind, What: u.What})
	}
	c.Undocumented[i].merge(&u)
	if len(c.Undocumented) > maxUndocumented {
		c.Undocumented = slices.Delete(c.Undocumented, maxUndocumented, len(c.Undocumented))
	}
}

// merge adds the counts of another row for the same thing.
func (u *Undocumented) merge(o *Undocumented) {
	u.Count += o.Count
	for _, s := range o.Statuses {
		i, found := slices.BinarySearchFunc(u.Statuses, s, func(a, b StatusCount) int { return cmp.Compare(a.Status, b.Status) })
		if !found {
			u.Statuses = slices.Insert(u.Statuses, i, StatusCount{Status: s.Status})
		}
		u.Statuses[i].Count += s.Count
	}
	for _, name := range o.Scenarios {
		if i, found := slices.BinarySearch(u.Scenarios, name); !found {
			u.Scenarios = slices.Insert(u.Scenarios, i, name)
		}
	}
	u.Scenarios = u.Scenarios[:min(len(u.Scenarios), maxUndocumentedScenarios)]
}

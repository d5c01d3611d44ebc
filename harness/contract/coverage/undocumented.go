package coverage

import (
	"cmp"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/contract/schema"
	"github.com/lockstep-dev/lockstep/harness/contract/spec"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// Undocumented is something that was seen and is not in the document. What is alike but for its generated values is one
// row, and whichever exchange comes first, the same run has the same rows: so the list of a run is that of its shards.
type Undocumented struct {
	Kind schema.Kind `json:"kind"` // undocumented-operation, -status, -media-type or -event
	// What it is: "GET /nope/{…}", "GET /event: 418", "GET /event: tick". A path that the document has with other methods
	// is written as there: "PUT /tools/{id}".
	What  string `json:"what"`
	Count int    `json:"count"` // how often, on all targets
	// Statuses are how requests that no operation has were answered, in order.
	Statuses []StatusCount `json:"statuses,omitempty"`
	// Scenarios are those in which it was seen, the first five by name.
	Scenarios []string `json:"scenarios,omitempty"`
}

// A StatusCount says how many answers had a status.
type StatusCount struct {
	Status int `json:"status"`
	Count  int `json:"count"`
}

// Refused reports whether it is a request of which no target has made anything: as the document has it.
func (u *Undocumented) Refused() bool {
	return u.Kind == spec.UndocumentedOperation && !slices.ContainsFunc(u.Statuses, func(s StatusCount) bool { return s.Status < 400 })
}

// A Normalizer returns a text without what another run gives another value: "/nope/{…}". Nil leaves texts as they are.
type Normalizer func(text string) string

// An addition is a transcript whose exchanges and events are being counted.
type addition struct {
	*Coverage
	scenario  string
	normalize Normalizer
}

// unknownOperation counts a request that no operation has.
func (a addition) unknownOperation(ex *transcript.Exchange) {
	at := a.doc.PathTemplate(ex.Request.Target)
	if at == "" {
		at = a.normalized(spec.TargetPath(ex.Request.Target))
	}
	a.undocumented(Undocumented{
		Kind: spec.UndocumentedOperation, What: ex.Request.Method + " " + at, Statuses: []StatusCount{{ex.Response.Status, 1}},
	})
}

// undeclared counts what an operation has and does not declare.
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

// The list is bounded by leaving out what comes last in its order, not what comes last in time: what is kept has then been
// counted from its first sight on, in whatever order things were seen.
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

// merge adds the counts of another row for the same.
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

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
	a.undocumented(spec.UndocumentedOperation, ex.Request.Method+" "+at, ex.Response.Status)
}

// undeclared counts something that an operation does not declare.
func (a addition) undeclared(kind schema.Kind, op *spec.Operation, what string) {
	a.undocumented(kind, op.String()+": "+a.normalized(what), 0)
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

// undocumented counts an occurrence. status is 0 unless it is a request outside the contract.
func (a addition) undocumented(kind schema.Kind, what string, status int) {
	if len(what) > 200 {
		what = strings.ToValidUTF8(what[:200], "") + "…"
	}
	i, found := slices.BinarySearchFunc(a.Undocumented, what, func(u Undocumented, what string) int {
		return cmp.Or(cmp.Compare(u.Kind, kind), cmp.Compare(u.What, what))
	})
	if !found {
		a.Undocumented = slices.Insert(a.Undocumented, i, Undocumented{Kind: kind, What: what})
	}
	a.Undocumented[i].count(status, a.scenario)
	a.Undocumented = a.Undocumented[:min(len(a.Undocumented), maxUndocumented)]
}

func (u *Undocumented) count(status int, scenario string) {
	u.Count++
	if status != 0 {
		i, found := slices.BinarySearchFunc(u.Statuses, status, func(s StatusCount, status int) int { return cmp.Compare(s.Status, status) })
		if !found {
			u.Statuses = slices.Insert(u.Statuses, i, StatusCount{Status: status})
		}
		u.Statuses[i].Count++
	}
	if i, found := slices.BinarySearch(u.Scenarios, scenario); !found && scenario != "" {
		u.Scenarios = slices.Insert(u.Scenarios, i, scenario)
		u.Scenarios = u.Scenarios[:min(len(u.Scenarios), maxUndocumentedScenarios)]
	}
}

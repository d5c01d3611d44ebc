package run

import (
	"encoding/json"
	"sync"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// values are the names that a scenario can use on one target. Branches that run at the same time share them.
type values struct {
	mu     sync.Mutex
	values map[string]json.RawMessage
	from   map[string]origin // where captured values come from
}

// An origin says where a captured value came from.
type origin struct {
	transcript.Captured                     // without the place in the request; From lacks the pointer to a value in a document
	doc                 []byte              // the document that has the value
	path                string              // the JSONPath of the value in it; "" for a header field
	request             *transcript.Request // the request whose response had the value; nil for an event
}

func (v *values) Lookup(name string) (json.RawMessage, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	value, ok := v.values[name]
	return value, ok
}

func (v *values) set(name string, value json.RawMessage) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.values[name] = value
}

// capture sets a name to a value that a server has sent.
func (v *values) capture(name string, value json.RawMessage, from origin) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.from == nil {
		v.from = map[string]origin{}
	}
	v.values[name], v.from[name] = value, from
}

// origin returns where a value was captured. It returns false for a value that was not captured.
func (v *values) origin(name string) (origin, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	from, ok := v.from[name]
	return from, ok
}

// Captured reports whether a server has sent the value.
func (v *values) Captured(name string) bool {
	_, ok := v.origin(name)
	return ok
}

package run

import (
	"encoding/json"
	"sync"
)

// An env holds a walker's values. Branches that run at once share it.
type env struct {
	mu     sync.Mutex
	values map[string]json.RawMessage
	from   map[string]origin // of the values that were captured
}

// Lookup gives a name its value.
func (e *env) Lookup(name string) (json.RawMessage, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	v, ok := e.values[name]
	return v, ok
}

func (e *env) set(name string, v json.RawMessage) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.values[name] = v
}

// capture is set for a value that a server has sent.
func (e *env) capture(name string, v json.RawMessage, from origin) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.from == nil {
		e.from = map[string]origin{}
	}
	e.values[name], e.from[name] = v, from
}

// origin returns where a value was captured; false when it was not.
func (e *env) origin(name string) (origin, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	from, ok := e.from[name]
	return from, ok
}

// Captured reports whether a value is one that a server has sent.
func (e *env) Captured(name string) bool {
	_, ok := e.origin(name)
	return ok
}

package run

import (
	"encoding/json"
	"sync"
)

// An env holds a walker's values. Branches that run at once share it.
type env struct {
	mu     sync.Mutex
	values map[string]json.RawMessage
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

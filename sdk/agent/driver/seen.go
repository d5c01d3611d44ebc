package main

import (
	"maps"
	"slices"
	"strings"
	"sync"
)

var (
	mu     sync.Mutex // guards all below
	seen   = map[string][]any{"calls": {}, "permissions": {}, "hooks": {}, "cancelled": {}}
	stderr strings.Builder
	gates  = map[string]chan struct{}{}
	opened = map[string]bool{}
)

// note records what a handler has got.
func note(key string, value any) {
	mu.Lock()
	defer mu.Unlock()
	seen[key] = append(seen[key], value)
}

func noteStderr(text string) {
	mu.Lock()
	defer mu.Unlock()
	stderr.WriteString(text)
}

// look returns what seen reports.
func look() map[string]any {
	mu.Lock()
	defer mu.Unlock()
	all := map[string]any{"stderr": stderr.String()}
	for key, values := range maps.All(seen) {
		all[key] = slices.Clone(values)
	}
	return all
}

// gate returns what is closed when the name is released, now or later.
func gate(name string) <-chan struct{} {
	mu.Lock()
	defer mu.Unlock()
	return gateOf(name)
}

func gateOf(name string) chan struct{} {
	if gates[name] == nil {
		gates[name] = make(chan struct{})
	}
	return gates[name]
}

func release(name string) error {
	mu.Lock()
	defer mu.Unlock()
	if g := gateOf(name); !opened[name] {
		opened[name] = true
		close(g)
	}
	return nil
}

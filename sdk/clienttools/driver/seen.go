package main

import "sync"

var (
	mu   sync.Mutex // guards seen and standard output
	seen = map[string][]any{"errors": {}, "reconnects": {}}
)

// note records what the client reports.
func note(key string, value any) {
	mu.Lock()
	defer mu.Unlock()
	seen[key] = append(seen[key], value)
}

package faux

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"slices"
	"sync"
	"time"
)

// An item is what the server stores. Two servers agree on everything except the generated values: id, serial and
// time.
type item struct {
	id      string
	serial  int
	shelf   string
	name    string
	tags    []string
	created time.Time
}

// value returns the item as it appears in answers.
func (it *item) value() object {
	return object{
		"id": it.id, "serial": it.serial, "shelf": it.shelf, "name": it.name, "tags": list(it.tags), "size": len(it.name),
		"weight": json.Number("1.5"), "createdAt": it.created, "self": "/items/" + it.id,
	}
}

func list(texts []string) []any {
	out := make([]any, len(texts))
	for i, t := range texts {
		out[i] = t
	}
	return out
}

// shelves are the state of the server: its items and the watchers of their shelves.
type shelves struct {
	mu       sync.Mutex
	items    []*item // oldest first
	serial   int
	watchers []*watcher
}

// A watcher receives the events of one shelf, in order.
type watcher struct {
	shelf  string
	events chan event
}

// newID returns an unpredictable id.
func newID() string {
	var b [10]byte
	rand.Read(b[:])
	return "itm_" + hex.EncodeToString(b[:])
}

func (s *shelves) create(shelf, name string, tags []string) *item {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.serial == 0 {
		var b [1]byte
		rand.Read(b[:])
		s.serial = 10_000 + 100*int(b[0]) // random, so that two servers rarely use the same serials
	}
	s.serial++
	it := &item{newID(), s.serial, shelf, name, tags, time.Now()}
	s.items = append(s.items, it)
	s.tell(it, "created")
	return it
}

func (s *shelves) find(id string) *item {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, it := range s.items {
		if it.id == id {
			return it
		}
	}
	return nil
}

func (s *shelves) on(shelf string) []*item {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []*item
	for _, it := range s.items {
		if it.shelf == shelf {
			out = append(out, it)
		}
	}
	return out
}

func (s *shelves) remove(it *item) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.items = slices.DeleteFunc(s.items, func(other *item) bool { return other == it })
	s.tell(it, "deleted")
}

// tell sends an event to every watcher of the item's shelf. The caller holds the lock.
func (s *shelves) tell(it *item, what string) {
	for _, w := range s.watchers {
		if w.shelf == it.shelf {
			w.events <- event{name: what, item: it.name, data: object{"id": it.id, "name": it.name, "at": time.Now()}}
		}
	}
}

func (s *shelves) watch(shelf string) *watcher {
	s.mu.Lock()
	defer s.mu.Unlock()
	const enough = 1000 // more than any scenario needs, so that tell never blocks
	w := &watcher{shelf, make(chan event, enough)}
	s.watchers = append(s.watchers, w)
	return w
}

func (s *shelves) unwatch(w *watcher) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watchers = slices.DeleteFunc(s.watchers, func(other *watcher) bool { return other == w })
}

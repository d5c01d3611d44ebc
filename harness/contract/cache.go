package contract

import (
	"hash/maphash"
	"sync"
)

// A cache keeps verdicts for contents that come again. It changes how fast an answer is there, never which.
//
// It has two halves: when the younger one is full it becomes the older, and what was in that is forgotten. What is
// asked for moves to the younger, so the cache keeps what is in use without bookkeeping for each entry.
type cache struct {
	mu         sync.Mutex
	young, old map[cacheSlot]cacheEntry
	used       int // bytes in the young half
}

// A cacheKey is a question that can be asked of many contents.
type cacheKey struct {
	schema *schema
	how    content
	side   Side
}

// A cacheSlot is where the answer for a content stands, found by a hash of it.
type cacheSlot struct {
	key  cacheKey
	hash uint64
}

// A cacheEntry holds the content itself and not only its hash: a collision would be a wrong verdict.
type cacheEntry struct {
	content string
	found   []finding
}

var cacheSeed = maphash.MakeSeed()

func (k cacheKey) slot(data []byte) cacheSlot { return cacheSlot{k, maphash.Bytes(cacheSeed, data)} }

const (
	cacheBudget = 1 << 20  // of each half
	cacheLimit  = 32 << 10 // of one content; longer ones seldom repeat
	cacheCost   = 200      // what an entry takes beside its content, about
)

func (c *cache) get(key cacheKey, data []byte) ([]finding, bool) {
	if len(data) > cacheLimit {
		return nil, false
	}
	slot := key.slot(data)
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.young[slot]; ok && e.content == string(data) {
		return e.found, true
	}
	e, ok := c.old[slot]
	if ok = ok && e.content == string(data); ok {
		c.add(slot, e)
	}
	return e.found, ok
}

func (c *cache) put(key cacheKey, data []byte, found []finding) {
	if len(data) > cacheLimit {
		return
	}
	slot, e := key.slot(data), cacheEntry{string(data), found}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.add(slot, e)
}

func (c *cache) add(slot cacheSlot, e cacheEntry) {
	cost := len(e.content) + cacheCost
	for _, f := range e.found {
		cost += len(f.pointer) + len(f.text) + cacheCost
	}
	if c.used+cost > cacheBudget || c.young == nil {
		c.old, c.young, c.used = c.young, make(map[cacheSlot]cacheEntry), 0
	}
	c.young[slot] = e
	c.used += cost
}

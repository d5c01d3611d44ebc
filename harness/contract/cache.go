package contract

import "sync"

// A cache keeps verdicts for contents that come again. It changes how fast an answer is there, never which.
//
// It has two halves: when the younger one is full it becomes the older, and what was in that is forgotten. What is
// asked for moves to the younger, so the cache keeps what is in use without bookkeeping for each entry.
type cache struct {
	mu         sync.Mutex
	young, old map[cacheEntry][]finding
	used       int // bytes in the young half
}

// A cacheKey is a question that can be asked of many contents.
type cacheKey struct {
	schema *schema
	how    content
	side   Side
}

// A cacheEntry holds the content itself and not a hash of it: a collision would be a wrong verdict.
type cacheEntry struct {
	key     cacheKey
	content string
}

const (
	cacheBudget = 4 << 20  // of each half
	cacheLimit  = 32 << 10 // of one content; longer ones seldom repeat
	cacheCost   = 200      // what an entry takes beside its content, about
)

func (c *cache) get(key cacheKey, data []byte) ([]finding, bool) {
	if len(data) > cacheLimit {
		return nil, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if found, ok := c.young[cacheEntry{key, string(data)}]; ok {
		return found, true
	}
	found, ok := c.old[cacheEntry{key, string(data)}]
	if ok {
		c.add(key, data, found)
	}
	return found, ok
}

func (c *cache) put(key cacheKey, data []byte, found []finding) {
	if len(data) > cacheLimit {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.add(key, data, found)
}

func (c *cache) add(key cacheKey, data []byte, found []finding) {
	cost := len(data) + cacheCost
	for _, f := range found {
		cost += len(f.pointer) + len(f.text) + cacheCost
	}
	if c.used+cost > cacheBudget || c.young == nil {
		c.old, c.young, c.used = c.young, make(map[cacheEntry][]finding), 0
	}
	c.young[cacheEntry{key, string(data)}] = found
	c.used += cost
}

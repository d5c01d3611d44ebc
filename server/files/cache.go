package files

import (
	"bytes"
	"fmt"
	"sync"
)

// MaxSettings is the maximum size in bytes of a file with settings, secrets, permissions, or the definition of a provider
// (decisions G13, G58).
const MaxSettings = 2 << 20

// A Cache reads files up to a maximum size, and keeps what it has parsed. Each read reads the file, but parses only a text
// that differs from the last one: so it sees every change, also one by another program or within one tick of the clock. The
// values must not be changed. Its methods are safe for concurrent use.
type Cache[T any] struct {
	limit int64 // of a text; all that are kept have four times as much at most
	parse func(text []byte) (T, error)

	mu   sync.Mutex
	kept map[string]parsed[T] // by path
	size int                  // of all texts
}

type parsed[T any] struct {
	text  []byte
	value T
	err   error // why the text cannot be parsed
}

// NewCache returns an empty cache of what parse returns for a text of at most limit bytes.
func NewCache[T any](limit int64, parse func(text []byte) (T, error)) *Cache[T] {
	return &Cache[T]{limit: limit, parse: parse, kept: map[string]parsed[T]{}}
}

// Read returns the text of a file, and what it means. If the file can be read, there is a text, even with an error.
func (c *Cache[T]) Read(path string) (text []byte, value T, err error) {
	text, err = Read(path, c.limit)
	if err != nil {
		c.keep(path, parsed[T]{})
		return nil, value, err
	}
	c.mu.Lock()
	last := c.kept[path]
	c.mu.Unlock()
	if last.text == nil || !bytes.Equal(last.text, text) {
		last = parsed[T]{text: text}
		if last.value, last.err = c.parse(text); last.err != nil {
			last.err = fmt.Errorf("%s: %w", path, last.err)
		}
		c.keep(path, last)
	}
	return last.text, last.value, last.err
}

// keep replaces what is kept of a file, or drops it if there is no text. If there is too much, it drops all the others.
func (c *Cache[T]) keep(path string, what parsed[T]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.size -= len(c.kept[path].text)
	delete(c.kept, path)
	if what.text == nil {
		return
	}
	if int64(c.size+len(what.text)) > 4*c.limit {
		clear(c.kept)
		c.size = 0
	}
	c.kept[path] = what
	c.size += len(what.text)
}

package files

import (
	"bytes"
	"fmt"
	"sync"
)

// MaxSettings is the maximum size in bytes of a file with settings, secrets, permissions, or the definition of a provider
// (decisions G13, G58).
const MaxSettings = 2 << 20

// A Cache reads files up to a maximum size, and keeps what it has parsed. Each read reads the file, but parses
// only a text that differs from the last one: so it sees every change, also one by another program or within one tick of the clock. The
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
}

// NewCache returns an empty cache of what parse returns for a text of at most limit bytes. Values with an error are not kept.
func NewCache[T any](limit int64, parse func(text []byte) (T, error)) *Cache[T] {
	return &Cache[T]{limit: limit, parse: parse, kept: map[string]parsed[T]{}}
}

// Read returns the text of a file, and what it means. If the file can be read, there is a text, even with an error.
func (c *Cache[T]) Read(path string) (text []byte, value T, err error) {
	text, err = Read(path, c.limit)
	if err != nil {
		c.keep(path, nil, value)
		return nil, value, err
	}
	c.mu.Lock()
	last := c.kept[path]
	c.mu.Unlock()
	if last.text != nil && bytes.Equal(last.text, text) {
		return last.text, last.value, nil
	}
	if value, err = c.parse(text); err != nil {
		c.keep(path, nil, value)
		return text, value, fmt.Errorf("%s: %w", path, err)
	}
	c.keep(path, text, value)
	return text, value, nil
}

// keep replaces what is kept of a file, or drops it if there is no text. If there is too much, it drops all the others.
func (c *Cache[T]) keep(path string, text []byte, value T) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.size -= len(c.kept[path].text)
	delete(c.kept, path)
	if text == nil {
		return
	}
	if int64(c.size+len(text)) > 4*c.limit {
		clear(c.kept)
		c.size = 0
	}
	c.kept[path] = parsed[T]{text, value}
	c.size += len(text)
}

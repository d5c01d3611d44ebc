// Package syncbuffer has a buffer that a test reads while a server or a process writes to it.
package syncbuffer

import (
	"bytes"
	"sync"
)

// A Buffer collects what several goroutines write. The zero value is empty.
type Buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

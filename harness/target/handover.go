package target

import (
	"bytes"
	"sync"
)

// A handover is the sink of a program. It passes what the program writes to the one goroutine that calls
// [Program.Read]. It keeps nothing, so a program whose output is not read has to wait, as with any pipe.
type handover struct {
	pieces  chan piece
	dropped chan struct{} // closed by drop
	drop    func()        // nobody reads any more, and what still comes is dropped
}

// A piece is what one stream got next.
type piece struct {
	stream Stream
	data   []byte
}

func newHandover() *handover {
	h := &handover{pieces: make(chan piece), dropped: make(chan struct{})}
	h.drop = sync.OnceFunc(func() { close(h.dropped) })
	return h
}

func (h *handover) add(stream Stream, chunk []byte) {
	if len(chunk) == 0 {
		return
	}
	select {
	case h.pieces <- piece{stream, bytes.Clone(chunk)}:
	case <-h.dropped:
	}
}

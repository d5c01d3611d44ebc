package target

import "sync"

// A handover is the sink of a program. It passes what the program writes to the one goroutine that calls
// [Program.Read]. It keeps nothing, so a program whose output is not read has to wait, as with any pipe. That goroutine
// is done with a piece when it asks for the next one.
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

func (h *handover) add(stream Stream, chunk []byte) (used bool) {
	select {
	case h.pieces <- piece{stream, chunk}:
		return true
	case <-h.dropped:
		return false
	}
}

package chat

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"sync/atomic"
	"time"
)

// A Style is how a server writes what it sends: what two correct servers may do differently. The zero Style is plain.
type Style struct {
	ID, Doc string

	Notation    uint64 // a seed of faux.NewStyle for JSON; 0: compact and sorted
	CountedIDs  bool
	HeaderCase  bool
	HeaderOrder bool
	ExtraHeader bool
	Phrase      bool          // another text after the status
	Tokens      bool          // other forms of the values of Upgrade and Connection
	Fragments   int           // the number of frames of a message; 0 and 1: one
	Empty       bool          // an empty frame before the last one
	Inside      bool          // a ping inside each message that confirms another, on sockets with a heartbeat
	Dribble     bool          // writes each byte by itself
	Together    time.Duration // waits so long for more to write at once
	Slow        time.Duration // waits so long before each message
	Backward    bool          // serves rooms in the opposite order where their order is free
	Phase       time.Duration // how late its heartbeats are
	Linger      time.Duration // waits so long before it closes the connection after the close frames
	HalfClose   bool          // closes its sending side first
}

// Styles lists the styles. Each differs from the plain one in one thing.
func Styles() []*Style {
	return []*Style{
		{ID: "notation", Doc: "other white space, and another order of members", Notation: 1},
		{ID: "escapes", Doc: "other escapes and time zones", Notation: 7},
		{ID: "counted-ids", Doc: "ids from another generator", CountedIDs: true},
		{ID: "header-case", Doc: "the names of header fields in capitals", HeaderCase: true},
		{ID: "header-order", Doc: "the header fields in another order", HeaderOrder: true},
		{ID: "extra-header", Doc: "one more header field in the handshake", ExtraHeader: true},
		{ID: "phrase", Doc: "another text after the status", Phrase: true},
		{ID: "tokens", Doc: "other forms of the values of Upgrade and Connection", Tokens: true},
		{ID: "fragments", Doc: "each message in three frames", Fragments: 3},
		{ID: "empty-frames", Doc: "an empty frame in each message", Fragments: 2, Empty: true},
		{ID: "inside", Doc: "heartbeats between the frames of a message", Fragments: 2, Inside: true},
		{ID: "dribble", Doc: "each byte in a packet of its own", Dribble: true},
		{ID: "together", Doc: "several frames in one packet", Together: time.Millisecond},
		{ID: "slow", Doc: "each message a little later", Slow: 2 * time.Millisecond},
		{ID: "backward", Doc: "another order of rooms, where it is free", Backward: true},
		{ID: "phase", Doc: "heartbeats that are a little later", Phase: 50 * time.Millisecond},
		{ID: "linger", Doc: "the connection is closed a little later", Linger: 5 * time.Millisecond},
		{ID: "half-close", Doc: "the sending side is closed first, then the connection", HalfClose: true, Linger: time.Millisecond},
	}
}

// frames returns a message as the frames that are written.
func (s *Style) frames(msg message, beats bool) []byte {
	data, op, n := msg.data, msg.op, max(1, s.Fragments)
	if msg.op >= opClose || msg.whole {
		s, n = &Style{}, max(1, msg.parts)
	}
	var out []byte
	for i := range n - 1 {
		out = append(out, frame(op, data[len(data)*i/n:len(data)*(i+1)/n])...)
		op = opMore
	}
	if s.Inside && beats && msg.kind == "sent" {
		out = append(out, frame(fin|opPing, nil)...)
	}
	if s.Empty {
		out = append(out, frame(op, nil)...)
		op = opMore
	}
	return append(out, frame(fin|op, data[len(data)*(n-1)/n:])...)
}

// ids generates ids: a prefix and 20 hexadecimal digits.
type ids struct {
	counted bool
	last    atomic.Int64
}

func (g *ids) next(prefix string) string {
	var b [10]byte
	rand.Read(b[:])
	if g.counted {
		sum := sha256.Sum256(fmt.Append(nil, g.last.Add(1)))
		copy(b[:], sum[:])
	}
	return prefix + hex.EncodeToString(b[:])
}

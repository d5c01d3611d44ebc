package stdio

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/harness/transport/watch"
)

// A Piece is what a [Peer] and its [Relay] tell each other, as a line of JSON.
//
//	from the relay   bytes of standard input, eof at its end, signal for a signal that came, exit for the last word
//	from the peer    bytes of standard output, stderr for standard error, and exit or signal for the end
type Piece struct {
	Item   transcript.Item `json:"item"`
	Data   []byte          `json:"data,omitempty"` // a signal has its name
	Status int             `json:"status,omitempty"`
}

// maxPiece is the largest piece that a relay sends.
const maxPiece = 64 << 10

// A Peer is a program that a target has started, from the program's side: a target under test is the client. Its Watch
// records the lines that the target writes to the program, the end of its input, signals, and what the program does.
//
// A program whose relay is gone without a word was killed: that is a signal too.
type Peer struct {
	*watch.Watch
	conn    net.Conn
	writing sync.Mutex
	encoder *json.Encoder
}

// Accept begins to read what a relay sends on a connection. The Peer owns the connection, and the caller must close the
// Peer. An event is named by options.Name; nil means its Item.
func Accept(conn net.Conn, input io.Reader, options *watch.Options) *Peer {
	p := &Peer{conn: conn, encoder: json.NewEncoder(conn)}
	opts := options.WithDefaults()
	if options == nil || options.Name == nil {
		opts.Name = func(ev *transcript.Event) string { return string(ev.Item) }
	}
	p.Watch = watch.Open(&peerSource{conn: conn, in: json.NewDecoder(input), start: opts.Start, lines: lines{max: defaultMaxEvent}}, opts)
	return p
}

// A peerSource reads what a relay sends.
type peerSource struct {
	conn  net.Conn
	in    *json.Decoder
	start time.Time
	lines lines
	at    time.Duration
	err   error
	ended bool
	next  []transcript.Event // that come before what is read next
}

// Next returns the next line, the end of the input, or a signal.
func (s *peerSource) Next() (transcript.Event, bool) {
	for {
		if len(s.next) > 0 {
			ev := s.next[0]
			s.next = s.next[1:]
			return ev, true
		}
		line, framing, ok, err := s.lines.next()
		if ok {
			return s.event(transcript.ItemLine, line, framing), true
		}
		if s.err = err; err != nil || s.ended {
			return transcript.Event{}, false
		}
		s.read()
	}
}

func (s *peerSource) event(item transcript.Item, data, framing string) transcript.Event {
	return transcript.Event{Item: item, Data: data, Framing: framing, At: s.at}
}

// read reads the next piece.
func (s *peerSource) read() {
	var p Piece
	err := s.in.Decode(&p)
	s.at = time.Since(s.start)
	switch {
	case err != nil:
		s.ended = true
		s.next = append(s.rest(), s.event(transcript.ItemSignal, "SIGKILL", framingEnd))
	case p.Item == transcript.ItemBytes:
		s.lines.add(p.Data)
	case p.Item == transcript.ItemEOF:
		s.next = append(s.rest(), s.event(transcript.ItemEOF, "", ""))
	case p.Item == transcript.ItemSignal:
		s.next = append(s.next, s.event(transcript.ItemSignal, string(p.Data), framingEnd))
	case p.Item == transcript.ItemExit: // the relay has ended
		s.ended = true
		s.next = s.rest()
	}
}

// rest returns the last line of the input, if it has no line end.
func (s *peerSource) rest() []transcript.Event {
	if line, framing, ok := s.lines.rest(); ok {
		return []transcript.Event{s.event(transcript.ItemLine, line, framing)}
	}
	return nil
}

// End says how the connection ended. It ends between two lines.
func (s *peerSource) End() (time.Duration, *transcript.Failure) {
	if s.err == nil {
		return s.at, nil
	}
	return s.at, &transcript.Failure{Kind: transcript.FailLimit, Phase: transcript.PhaseBody, Text: fmt.Sprintf("a line has more than %d bytes", defaultMaxEvent)}
}

func (s *peerSource) Close() error { return s.conn.Close() }

// SendLine writes a line and its line end to standard output.
func (p *Peer) SendLine(ctx context.Context, line []byte) error {
	event := transcript.Event{Item: transcript.ItemLine, Data: string(line), Framing: framingLF}
	return p.send(ctx, event, Piece{Item: transcript.ItemBytes, Data: append(slices.Clip(line), '\n')})
}

// SendBytes writes bytes to standard output as they are.
func (p *Peer) SendBytes(ctx context.Context, data []byte) error {
	return p.send(ctx, transcript.Event{Item: transcript.ItemBytes, Data: string(data), Framing: framingEnd}, Piece{Item: transcript.ItemBytes, Data: data})
}

// SendError writes a line and its line end to standard error.
func (p *Peer) SendError(ctx context.Context, line []byte) error {
	event := transcript.Event{Item: transcript.ItemStderr, Data: string(line), Framing: framingLF}
	return p.send(ctx, event, Piece{Item: transcript.ItemStderr, Data: append(slices.Clip(line), '\n')})
}

// Exit ends the program with a status, or by a signal when that is not "". It waits until the program has ended.
func (p *Peer) Exit(ctx context.Context, status int, signal string) error {
	piece := Piece{Item: transcript.ItemExit, Status: status}
	if signal != "" {
		piece = Piece{Item: transcript.ItemSignal, Data: []byte(signal)}
	}
	err := p.send(ctx, transcript.Event{Item: transcript.ItemExit, Data: exitData(status, signal), Framing: framingEnd}, piece)
	if err != nil {
		return err
	}
	return p.AwaitEnd(ctx)
}

// send records an event and sends its piece. The error is a watch.ErrEnded when the program has ended.
func (p *Peer) send(ctx context.Context, event transcript.Event, piece Piece) error {
	p.writing.Lock()
	defer p.writing.Unlock()
	if p.Ended() {
		return watch.ErrEnded
	}
	_ = p.conn.SetWriteDeadline(time.Time{}) // on a closed connection, Encode returns the error
	cut := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(cut)
		_ = p.conn.SetWriteDeadline(time.Unix(1, 0))
	})
	p.Sent(event)
	err, cause := p.encoder.Encode(piece), watch.ErrEnded
	if !stop() {
		<-cut
		cause = context.Cause(ctx)
	}
	if err != nil {
		return errors.Join(cause, err)
	}
	return nil
}

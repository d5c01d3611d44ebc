// Package websocket serves WebSockets (RFC 6455) to the rules of CT 7.1. It has frames of its own, because no library
// leaves the codes of closes, the bounds of the queue and the time of pongs to its user.
//
// Each socket has a goroutine that reads and one that writes. What is sent comes from a bounded [Source], so reading
// never waits for writing.
package websocket

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/lockstep-dev/lockstep/server/httpapi/heartbeat"
)

// A Source provides the frames that a socket sends; see [Text]. It limits the memory for a slow reader.
type Source interface {
	// Ready receives a token when Next may have something new, and after Wake.
	Ready() <-chan struct{}
	// Wake puts a token into Ready. Any goroutine may call it, and it does not block.
	Wake()
	// Next returns the next frame, or nil if there is none yet. When more is false, no frame follows.
	Next() (frame []byte, more bool)
	// End makes Next return what it has, and then false.
	End()
}

// Room limits the memory for the large messages of all sockets while they arrive and are handled.
type Room interface {
	// Take returns false if there is no room for n more bytes. Then the socket closes with 1013.
	Take(n int64) bool
	// Release gives back everything that was taken. It may be called more than once.
	Release()
}

// Options are what a socket does.
type Options struct {
	// Interval is the time between two pings. A client that sends nothing for two intervals counts as gone.
	Interval time.Duration
	// Room is for the messages of this socket.
	Room Room
	// Message handles one message. It is called for one message after the other, and not after Leave.
	Message func(text []byte)
	// Leave is called once: when the first close is received or sent, or when the connection ends.
	Leave func()
}

const (
	// closeTime is how long what is queued may take to be sent before a close, and again how long the client's close
	// may take after the server's (decision S64).
	closeTime = time.Second
	// maxPongs is the maximum number of pongs that wait. A client that sends more pings gets pongs for the last ones
	// (RFC 6455 §5.5.3).
	maxPongs = 64
)

// ErrSilent is the error of a socket whose client has sent nothing for two intervals.
var ErrSilent = errors.New("the client has sent nothing for two intervals")

// Serve answers a handshake that passed [Handshake], and serves the socket until it is closed. When the source ends, the
// socket closes with 1001. When ctx ends, it closes with 1013: the reader is too slow. The error is that of the
// connection, or nil after a close.
func Serve(ctx context.Context, w http.ResponseWriter, src Source, opts Options) error {
	conn, in, err := hijack(w)
	if err != nil {
		return err
	}
	s := &socket{conn: conn, src: src, opts: opts}
	s.in.in, s.in.room = bufio.NewReader(&paced{s, in}), opts.Room
	defer opts.Room.Release()
	defer s.leave()
	defer context.AfterFunc(ctx, func() { s.close(tryAgainLater) })()
	defer heartbeat.Start(opts.Interval, s.beat).Stop()

	var reading sync.WaitGroup
	reading.Go(s.read)
	if err := s.write(ctx); err != nil {
		s.end(err)
	} else if !s.answers() {
		s.setReadDeadline()
		reading.Wait() // for the client's close
	}
	conn.Close()
	reading.Wait()
	return s.why()
}

type socket struct {
	conn net.Conn
	in   reader
	src  Source
	opts Options

	mu      sync.Mutex
	pongs   [][]byte // frames
	ping    bool     // is due
	closing bool     // a close was received, or is going to be sent
	code    uint16   // of the close to send
	answer  bool     // the close to send answers the client's
	lost    error    // why the connection ended

	handling sync.Mutex // held during Message and Leave
	left     bool       // Leave was called
}

// read handles what the client sends, until its close or the end of the connection.
func (s *socket) read() {
	for {
		opcode, payload, err := s.in.next()
		if err == nil && opcode == opClose {
			var code uint16
			if code, err = closeCode(payload); err == nil {
				s.answerClose(code)
				return
			}
		}
		if broken := violation(0); errors.As(err, &broken) {
			s.close(uint16(broken))
			s.in.discard()
			return
		}
		if err != nil {
			s.end(err)
			return
		}
		switch opcode {
		case opPing:
			s.pong(payload)
		case opText:
			s.handle(payload)
			s.in.room.Release()
		}
	}
}

// handle handles a message, unless the client has left.
func (s *socket) handle(text []byte) {
	s.handling.Lock()
	defer s.handling.Unlock()
	if !s.left {
		s.opts.Message(text)
	}
}

// leave calls Leave once.
func (s *socket) leave() {
	s.handling.Lock()
	defer s.handling.Unlock()
	if !s.left {
		s.left = true
		s.opts.Leave()
	}
}

// beat makes a ping due.
func (s *socket) beat() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ping = true
	s.src.Wake()
}

// pong queues the answer to a ping. It passes the messages that wait (decision S66).
func (s *socket) pong(payload []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing {
		return
	}
	if len(s.pongs) == maxPongs {
		s.pongs = s.pongs[1:]
	}
	s.pongs = append(s.pongs, frame(opPong, payload))
	s.src.Wake()
}

// close begins a close with a code, unless one has begun.
func (s *socket) close(code uint16) { s.beginClose(code, false) }

// answerClose answers the client's close with the same code, unless a close was sent before it.
func (s *socket) answerClose(code uint16) { s.beginClose(code, true) }

func (s *socket) beginClose(code uint16, answer bool) {
	s.mu.Lock()
	began := s.closing
	if !began {
		s.closing, s.code, s.answer = true, code, answer
		_ = s.conn.SetWriteDeadline(time.Now().Add(closeTime)) // fails only on a closed connection
	}
	s.mu.Unlock()
	if began {
		return
	}
	s.leave()
	s.src.End()
}

// end records that the connection has ended, and interrupts the writer.
func (s *socket) end(err error) {
	s.mu.Lock()
	if !s.closing {
		s.lost = err
	}
	s.mu.Unlock()
	s.leave()
	s.conn.Close()
	s.src.End()
}

// write sends frames until a close is sent. Its error is that of the connection.
func (s *socket) write(ctx context.Context) error {
	out := bufio.NewWriter(s.conn)
	for {
		for _, control := range s.controls() {
			_, _ = out.Write(control) // Flush returns the error
		}
		frame, more := s.src.Next()
		switch {
		case frame != nil:
			if _, err := out.Write(frame); err != nil {
				return err
			}
			continue
		case !more:
			if ctx.Err() != nil {
				s.close(tryAgainLater)
			}
			s.close(goingAway) // unless a close has begun
			_, _ = out.Write(closeFrame(s.closeCode()))
			return out.Flush()
		}
		if err := out.Flush(); err != nil {
			return err
		}
		<-s.src.Ready()
	}
}

// controls takes the control frames that are due.
func (s *socket) controls() [][]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	due := s.pongs
	if s.ping && !s.closing {
		due = append(due, frame(opPing, nil))
	}
	s.pongs, s.ping = nil, false
	return due
}

func (s *socket) closeCode() uint16 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.code
}

// answers reports whether the close that was sent is the answer to the client's.
func (s *socket) answers() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.answer
}

// why returns why the connection ended, or nil after a close.
func (s *socket) why() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lost
}

// setReadDeadline limits the wait for the client's close.
func (s *socket) setReadDeadline() {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.conn.SetReadDeadline(time.Now().Add(closeTime))
}

// paced is what the client sends. It ends if nothing arrives for two intervals.
type paced struct {
	s  *socket
	in io.Reader
}

func (p *paced) Read(b []byte) (int, error) {
	p.s.mu.Lock()
	if !p.s.closing {
		_ = p.s.conn.SetReadDeadline(time.Now().Add(2 * p.s.opts.Interval))
	}
	p.s.mu.Unlock()
	n, err := p.in.Read(b)
	var late net.Error
	if errors.As(err, &late) && late.Timeout() {
		err = ErrSilent
	}
	return n, err
}

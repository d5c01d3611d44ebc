package chat

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// A message is what the server sends on a socket: a message, a control frame, or the end of the connection.
type message struct {
	kind  string // its type in the contract; or text, binary, ping, pong, close or end
	about string // the text, payload or reason that faults recognise it by
	op    byte
	value object // written as JSON, unless it is nil
	data  []byte
	whole bool // no style cuts it
	parts int  // in how many frames it is; 0 and 1: one
}

// A member is the server's end of a socket.
type member struct {
	server   *Server
	conn     net.Conn
	in       reader
	id, name string
	protocol string
	rooms    []string
	bare     bool // is not greeted, and no style cuts its messages
	beat     time.Duration

	pokes    []string  // payloads of pings that are not answered yet
	held     []message // messages that a fault sends later
	left     bool
	quitting bool   // the server has sent a close frame
	dirty    bool   // the client may have sent more than was read
	farewell string // the reason of the close frame

	out  chan outgoing
	gone chan struct{} // closed when nothing can be read any more
}

// An outgoing is what the writer of a socket does.
type outgoing struct {
	bytes []byte
	wait  time.Duration // before it goes on
	end   bool          // close the connection
}

func newMember(s *Server, conn net.Conn, in *bufio.Reader, room string, r *http.Request, h *handshake) *member {
	query := r.URL.Query()
	beat, _ := strconv.Atoi(query.Get("beat"))
	return &member{
		server: s, conn: conn, in: reader{in: in}, id: s.ids.next("mem_"), name: h.name, protocol: h.protocol, rooms: []string{room},
		bare: query.Get("bare") != "", beat: time.Duration(beat) * time.Millisecond,
		out: make(chan outgoing, 1<<13), gone: make(chan struct{}),
	}
}

func (m *member) isIn(room string) bool { return !m.left && slices.Contains(m.rooms, room) }

// run serves the socket to its end.
func (m *member) run() {
	written := make(chan struct{})
	go func() {
		defer close(written)
		defer m.conn.Close()
		m.write()
	}()
	m.listen()
	m.server.mu.Lock()
	m.left = true
	for _, room := range m.rooms {
		m.server.tellRoom(room, m, message{kind: "left", about: m.name, op: opText, value: object{"type": "left", "name": m.name, "member": m.id, "room": room}})
	}
	m.conn.SetReadDeadline(time.Time{})
	m.tell(message{kind: "end", about: m.farewell})
	m.server.mu.Unlock()
	io.Copy(io.Discard, m.in.in)
	close(m.gone)
	<-written
	m.server.mu.Lock()
	defer m.server.mu.Unlock()
	m.server.members = slices.DeleteFunc(m.server.members, func(o *member) bool { return o == m })
}

// listen handles what the client sends.
func (m *member) listen() {
	for {
		got, err := m.in.next()
		m.server.mu.Lock()
		more := m.handle(got, err)
		m.server.mu.Unlock()
		if !more {
			return
		}
	}
}

// handle handles what has come. It returns false when no more is read.
func (m *member) handle(got *received, err error) (more bool) {
	wrong, isWrong := errors.AsType[*wrong](err)
	switch {
	case isWrong:
		m.dirty = true
		m.quit(wrong.code, wrong.why)
		return false
	case err != nil:
		m.quit(1001, "the input has ended")
		return false
	case got.op == opClose && len(got.data) >= 2:
		m.quit(int(got.data[0])<<8|int(got.data[1]), string(got.data[2:]))
		return false
	case got.op == opClose:
		m.quit(0, "")
		return false
	case m.quitting:
		return true
	case got.op == opPing:
		m.tell(message{kind: "pong", about: string(got.data), op: opPong, data: got.data})
	case got.op == opPong:
		m.ponged(string(got.data))
	case got.op == opBinary:
		m.store(got.data)
	default:
		m.order(got.data)
	}
	return true
}

// quit sends a close frame, unless one was sent before.
func (m *member) quit(code int, reason string) {
	if m.quitting {
		return
	}
	m.quitting, m.farewell = true, reason
	m.tell(message{kind: "close", about: reason, op: opClose, data: closePayload(code, reason)})
}

// tell sends a message, or passes it to the fault. The caller holds the server's lock.
func (m *member) tell(msg message) {
	if f := m.server.Fault.tell; f != nil {
		f(m, msg)
		return
	}
	m.send(msg)
}

func (m *member) send(msg message) {
	if msg.kind == "end" {
		m.put(outgoing{end: true})
		return
	}
	if msg.value != nil {
		msg.data = m.server.text.JSON(msg.value)
	}
	msg.whole = msg.whole || m.bare
	m.raw(m.server.Style.frames(msg, m.beat > 0))
}

// raw sends bytes as they are.
func (m *member) raw(b []byte) { m.put(outgoing{bytes: b}) }

func (m *member) put(o outgoing) {
	select {
	case m.out <- o:
	default: // the client reads nothing
		m.conn.Close()
	}
}

// write writes what is sent, and heartbeats, until the end.
func (m *member) write() {
	style, opened := m.server.Style, time.Now()
	beats := 0
	next := func() <-chan time.Time {
		if m.beat == 0 {
			return nil
		}
		beats++
		return time.After(time.Until(opened.Add(time.Duration(beats)*m.beat + style.Phase)))
	}
	beat, gone := next(), m.gone
	for {
		select {
		case o := <-m.out:
			if o.end {
				m.end()
				return
			}
			if !m.do(o) {
				return
			}
		case <-beat:
			m.server.mu.Lock()
			if !m.quitting {
				m.tell(message{kind: "ping", about: m.beat.String(), op: opPing})
			}
			m.server.mu.Unlock()
			beat = next()
		case <-gone:
			if len(m.out) == 0 {
				return
			}
			gone = nil
			m.put(outgoing{end: true}) // after what is left
		}
	}
}

// do writes one thing in the style of the server.
func (m *member) do(o outgoing) bool {
	style := m.server.Style
	time.Sleep(o.wait + style.Slow)
	all := o.bytes
	if style.Together > 0 {
		time.Sleep(style.Together)
		for n := len(m.out); n > 0; n-- {
			more := <-m.out
			if more.end || more.wait > 0 {
				m.conn.Write(all)
				all = nil
				if more.end {
					m.end()
					return false
				}
			}
			all = append(all, more.bytes...)
		}
	}
	m.conn.SetWriteDeadline(time.Now().Add(10 * time.Second))
	step := max(1, len(all))
	if style.Dribble && len(all) < 1000 {
		step = 1
	}
	for len(all) > 0 {
		if _, err := m.conn.Write(all[:min(step, len(all))]); err != nil {
			return false
		}
		all = all[min(step, len(all)):]
	}
	return true
}

// end closes the connection. If the client may have sent more, its bytes are read first, because the system would
// otherwise reset the connection.
func (m *member) end() {
	style := m.server.Style
	half, can := m.conn.(interface{ CloseWrite() error })
	if can && (style.HalfClose || m.dirty) {
		half.CloseWrite()
	}
	time.Sleep(style.Linger)
	if can && m.dirty {
		select {
		case <-m.gone:
		case <-time.After(time.Second):
		}
	}
}

package ws

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// An end is a Socket or a Peer, as its source sees it.
type end interface {
	// begun waits for the opening handshake. It reports whether the socket is open, and whether it has extensions.
	begun() (open, extended bool)
	send(ctx context.Context, m *Message, automatic bool) error
	// handshaken is called when a close frame has come and was answered.
	handshaken()
	// halfClosed reports whether this side has closed its sending side, so that the other one cannot expect a close frame.
	halfClosed() bool
}

// A source reads the frames of the other side, and makes events of them.
type source struct {
	end        end
	side       side // that reads
	conn       io.Reader
	start      time.Time
	opts       Options
	maxReplies int

	begun    bool
	extended bool // the socket has extensions
	buf      [maxHead]byte
	message  struct { // that is being received
		item    transcript.Item // "" between two messages
		data    []byte
		framing []byte
	}
	closed     bool // a close frame came
	handshaken bool // the end was told so
	reply      *Message
	replies    int
	at         time.Duration // when the last byte was read
	failure    *transcript.Failure
	ended      bool
}

// Next returns the next message or control frame.
func (s *source) Next() (transcript.Event, bool) {
	if !s.begin() {
		return transcript.Event{}, false
	}
	s.sendReply()
	for !s.ended {
		if ev, is := s.frame(); is {
			return ev, true
		}
	}
	return transcript.Event{}, false
}

func (s *source) End() (time.Duration, *transcript.Failure) { return s.at, s.failure }

func (s *source) Close() error { return s.conn.(io.Closer).Close() }

// begin waits for the head of the response. It reports whether the socket is open.
func (s *source) begin() bool {
	if s.begun {
		return true
	}
	s.begun, s.extended = s.end.begun()
	return s.begun
}

// sendReply sends the answer to the control frame that Next has returned before. So it is recorded after that frame.
func (s *source) sendReply() {
	reply := s.reply
	s.reply = nil
	if s.ended {
		return
	}
	if s.closed && !s.handshaken {
		s.handshaken = true
		defer s.end.handshaken()
	}
	if reply == nil {
		return
	}
	if s.replies++; s.replies > s.maxReplies { // they are recorded, even if the frames that cause them are not
		s.fail(transcript.FailLimit, "more than %d frames came that ask for an answer", s.maxReplies)
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), s.opts.Reply)
	defer cancel()
	_ = s.end.send(ctx, reply, true) // if the connection has ended, the next read says how
}

// fail ends the stream as broken.
func (s *source) fail(kind transcript.FailureKind, format string, args ...any) {
	s.ended = true
	s.failure = &transcript.Failure{Kind: kind, Phase: transcript.PhaseBody, Text: fmt.Sprintf(format, args...)}
}

// violation ends the stream because of a frame that RFC 6455 does not allow.
func (s *source) violation(section, rule, format string, args ...any) {
	s.fail(transcript.FailMalformed, "%s (RFC 6455 §%s: %s)", fmt.Sprintf(format, args...), section, rule)
}

// read reads all of p. It reports whether that succeeded. where says, after an error, what was cut off.
func (s *source) read(p []byte, where func(got int) string) bool {
	n, err := io.ReadFull(s.conn, p)
	s.at = time.Since(s.start)
	if err != nil {
		s.cut(err, where(n))
	}
	return err == nil
}

// cut ends the stream because the connection ended. Without a place, that is no failure.
func (s *source) cut(err error, where string) {
	if s.ended = true; where == "" {
		return
	}
	s.fail(transcript.FailClosed, "the connection ended")
	if errors.Is(err, syscall.ECONNRESET) {
		s.fail(transcript.FailReset, "the connection was reset")
	}
	var known interface{ Failure() transcript.Failure }
	if errors.As(err, &known) {
		*s.failure = known.Failure()
	}
	s.failure.Text += " " + where
}

// betweenFrames says where the connection ended, after got bytes of the next frame. After a close frame of the other
// side it may end, and chance decides whether a reset is seen: the other side may close the connection before it has
// read the close frame that answers its own. Nor is a close frame expected after this side has closed its sending side.
func (s *source) betweenFrames(got int) string {
	switch {
	case got > 0:
		return "in the head of a frame"
	case s.closed:
		return ""
	case s.message.item != "":
		return fmt.Sprintf("inside a %s message, after the frames %s", s.message.item, shorten(s.message.framing))
	case s.end.halfClosed():
		return ""
	default:
		return "without a close frame"
	}
}

// A head is the head of a frame.
type head struct {
	opcode byte
	fin    bool
	size   int
	key    [4]byte // of the mask; zero without one
}

// frame reads a frame. It returns an event if the frame is a control frame, or ends a message.
func (s *source) frame() (ev transcript.Event, is bool) {
	h, ok := s.head()
	if !ok {
		return ev, false
	}
	if h.opcode >= opClose {
		return s.control(h)
	}
	m := &s.message
	if h.opcode != opContinuation {
		m.item = items[h.opcode]
	}
	before := len(m.data)
	if !s.payload(h, func(got int) string {
		return fmt.Sprintf("inside a %s message, after %d of %d bytes of a frame", m.item, got-before, h.size)
	}) {
		return ev, false
	}
	m.framing = appendFraming(m.framing, m.item, h.fin, h.size)
	if len(m.data)+len(m.framing) > s.opts.MaxMessage && !h.fin {
		s.tooLong()
	}
	if !h.fin {
		return ev, false
	}
	ev = transcript.Event{Item: m.item, Data: string(m.data), Framing: string(m.framing), At: s.at}
	if m.item == transcript.ItemText && !utf8.Valid(m.data) {
		s.violation("8.1", "text is UTF-8", "a text message of %d bytes that is not UTF-8 came", len(m.data))
	}
	m.item, m.framing = "", m.framing[:0]
	if m.data = m.data[:0]; cap(m.data) > maxKept {
		m.data = nil
	}
	return ev, true
}

// payload appends the payload of a frame to the message. The buffer grows with what comes, because a server may
// announce much and send nothing.
func (s *source) payload(h head, where func(got int) string) bool {
	m := &s.message
	for end := len(m.data) + h.size; len(m.data) < end; {
		from := len(m.data)
		m.data = growBy(m.data, min(end-from, max(from, maxKept)))
		if !s.read(m.data[from:], func(got int) string { return where(from + got) }) {
			return false
		}
	}
	applyMask(m.data[len(m.data)-h.size:], h.key)
	return true
}

// control reads the payload of a control frame, and prepares the answer.
func (s *source) control(h head) (ev transcript.Event, is bool) {
	item := items[h.opcode]
	payload := make([]byte, h.size)
	if !s.read(payload, func(got int) string {
		return fmt.Sprintf("inside a %s frame, after %d of %d bytes", item, got, h.size)
	}) {
		return ev, false
	}
	applyMask(payload, h.key)
	ev = transcript.Event{Item: item, Data: string(payload), Framing: string(appendFraming(nil, item, true, h.size)), At: s.at}
	switch {
	case h.opcode == opClose:
		return s.closing(ev, payload)
	case h.opcode == opPing && !s.opts.NoPong && !s.closed: // "unless it already received a Close frame" (§5.5.2)
		s.reply = &Message{Item: transcript.ItemPong, Data: payload}
	}
	return ev, true
}

// closing completes the event of a close frame. A payload that is not a code and a reason has no event (§5.5.1).
func (s *source) closing(ev transcript.Event, payload []byte) (transcript.Event, bool) {
	var code uint16
	switch reason := payload[min(2, len(payload)):]; {
	case len(payload) == 1:
		s.violation("5.5.1", "a code has two bytes", "a close frame with the payload %q came", payload)
		return ev, false
	case !utf8.Valid(reason):
		s.violation("5.5.1", "a reason is UTF-8", "a close frame with the reason %q came", reason)
		return ev, false
	case len(payload) > 1:
		if code = binary.BigEndian.Uint16(payload); !isCode(code) {
			s.violation("7.4", "a code is defined, registered or private", "a close frame with the code %d came", code)
		}
	}
	if ev.Data = "{}"; len(payload) > 1 {
		ev.Data = closeData(code, string(payload[2:]))
	}
	s.closed = true
	if !s.opts.NoClose {
		s.reply = &Message{Item: transcript.ItemClose, Code: code} // "typically echos the status code it received"
	}
	return ev, true
}

// isCode reports whether a side may send a code in a close frame: one that is defined in §7.4.1, without those that
// never cross the wire, or registered since, or that applications may use (§7.4.2).
func isCode(code uint16) bool {
	switch {
	case code >= 1000 && code <= 1003, code >= 1007 && code <= 1014:
		return true
	default:
		return code >= 3000 && code <= 4999
	}
}

// head reads the head of a frame, and checks it by the rules of §5.
func (s *source) head() (h head, ok bool) {
	if !s.read(s.buf[:2], s.betweenFrames) {
		return h, false
	}
	first, second := s.buf[0], s.buf[1]
	h = head{opcode: first & 0xF, fin: first&0x80 != 0}
	if s.checkBits(h, first>>4&maxRSV, second&0x80 != 0, int(second&0x7F)); s.ended {
		return h, false
	}
	size, ok := s.length(h, second&0x7F)
	if !ok {
		return h, false
	}
	if h.opcode < opClose && size > uint64(max(0, s.opts.MaxMessage-len(s.message.data))) {
		s.tooLong()
		return h, false
	}
	h.size = int(size)
	return h, s.side == client || s.read(h.key[:], func(int) string { return "in the head of a frame" })
}

// checkBits checks the first two bytes of a frame. short is the length, or 126 or 127 if that follows.
func (s *source) checkBits(h head, rsv byte, masked bool, short int) {
	item := items[h.opcode]
	switch {
	case rsv != 0 && s.extended:
		s.fail(transcript.FailLimit, "a %s with the reserved bits %d came: lockstep does not read extensions, so do not offer them", frameName(h.opcode), rsv)
	case rsv != 0:
		s.violation("5.2", "they are 0 without an extension", "a %s with the reserved bits %d came", frameName(h.opcode), rsv)
	case item == "" && h.opcode != opContinuation:
		s.violation("5.2", "it is reserved", "a frame with the opcode %d came", h.opcode)
	case masked && s.side == client:
		s.violation("5.1", "a server must not mask its frames", "a masked %s came", frameName(h.opcode))
	case !masked && s.side == server:
		s.violation("5.1", "a client must mask its frames", "an unmasked %s came", frameName(h.opcode))
	case h.opcode >= opClose && !h.fin:
		s.violation("5.5", "control frames are not fragmented", "a %s frame without the FIN bit came", item)
	case h.opcode >= opClose && short > maxControl:
		s.violation("5.5", "control frames have 125 bytes at most", "a %s frame of more than 125 bytes came", item)
	case h.opcode >= opClose:
	case s.closed:
		s.violation("5.5.1", "no data follows a close frame", "a %s came after a close frame", frameName(h.opcode))
	case h.opcode == opContinuation && s.message.item == "":
		s.violation("5.4", "it continues a message", "a continuation frame came outside of a message")
	case h.opcode != opContinuation && s.message.item != "":
		s.violation("5.4", "the frames of two messages are not mixed", "a %s frame came inside a %s message", item, s.message.item)
	}
}

// length returns the length of a frame's payload, which follows the first two bytes if it is large.
func (s *source) length(h head, short byte) (uint64, bool) {
	if short <= maxControl {
		return uint64(short), true
	}
	least, ext := uint64(maxControl+1), s.buf[:2]
	if short == 127 {
		least, ext = math.MaxUint16+1, s.buf[:8]
	}
	if !s.read(ext, func(int) string { return "in the head of a frame" }) {
		return 0, false
	}
	var size uint64
	for _, b := range ext {
		size = size<<8 | uint64(b)
	}
	switch {
	case size < least:
		s.violation("5.2", "the minimal number of bytes is used", "a %s with a length of %d in %d bytes came", frameName(h.opcode), size, len(ext))
	case size > math.MaxInt64:
		s.violation("5.2", "the most significant bit is 0", "a %s with a length of %d came", frameName(h.opcode), size)
	}
	return size, !s.ended
}

func (s *source) tooLong() {
	s.fail(transcript.FailLimit, "a message of more than %d bytes came", s.opts.MaxMessage)
}

// frameName returns the name of a frame, without an article.
func frameName(opcode byte) string {
	switch item := items[opcode]; {
	case opcode == opContinuation:
		return "continuation frame"
	case item == "":
		return "frame with the opcode " + strconv.Itoa(int(opcode))
	default:
		return string(item) + " frame"
	}
}

// growBy extends b by n bytes.
func growBy(b []byte, n int) []byte {
	if free := cap(b) - len(b); n <= free {
		return b[:len(b)+n]
	}
	return append(b, make([]byte, n)...)
}

// shorten returns the beginning of a framing.
func shorten(framing []byte) string {
	const most = 100
	if len(framing) > most {
		return string(framing[:most]) + "…"
	}
	return string(framing)
}

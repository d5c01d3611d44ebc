package faux

import (
	"fmt"
	"time"
)

// An event is something that is told on a stream.
type event struct {
	name string
	item string // the name of the item that it is about; "" when it is about none
	data object
	text []byte // the data as it is written; made of data when nil
}

// A stream is an answer that goes on.
type stream struct {
	server *Server
	shelf  string
	beat   time.Duration // between two pings; 0: none
	last   int           // it ends behind so many events; 0: it does not

	w     *wire
	sent  int
	held  []event // by a fault, for later
	pings int
	ended bool // by a fault, or because the client has hung up
}

// run sends what happens until the client hangs up, the stream has had its last event, or the server ends.
func (s *stream) run(w *wire, a *answer) {
	s.w = w
	watcher := s.server.shelves.watch(s.shelf)
	defer s.server.shelves.unwatch(watcher)
	style := s.server.Style
	w.put(style.end(append(a.head(style), "Transfer-Encoding: chunked\r\n"...)))
	opened := time.Now()
	s.tell(event{name: "hello", data: object{"shelf": s.shelf}})
	gone := w.gone()
	beat := s.nextBeat(opened)
	for !s.ended && (s.last == 0 || s.sent < s.last) {
		select {
		case ev := <-watcher.events:
			s.tell(ev)
		case <-beat:
			s.tell(event{name: "ping", data: object{}, text: []byte(s.server.Fault.ping)})
			beat = s.nextBeat(opened)
		case <-gone:
			return
		case <-s.server.done:
			return
		}
	}
	if !s.ended {
		w.put([]byte("0\r\n\r\n"))
	}
}

// nextBeat returns a channel that tells when the next ping is due, nil when none is.
func (s *stream) nextBeat(opened time.Time) <-chan time.Time {
	if s.beat == 0 {
		return nil
	}
	s.pings++
	due := time.Duration(s.pings)*s.beat + s.server.Style.phase(s.beat)
	if late := s.server.Fault.late; late != nil {
		var never bool
		if due, never = late(s.pings, due); never {
			return nil
		}
	}
	return time.After(time.Until(opened.Add(due)))
}

// tell sends an event, unless a fault has other plans for it.
func (s *stream) tell(ev event) {
	if f := s.server.Fault.event; f != nil && ev.name != "ping" {
		f(s, ev)
		return
	}
	s.send(ev)
}

func (s *stream) send(ev event) {
	if len(ev.text) == 0 {
		ev.text = s.server.Style.json(ev.data)
	}
	if ev.name != "ping" {
		s.sent++
	}
	s.raw(fmt.Sprintf("event: %s\ndata: %s\n\n", ev.name, ev.text))
}

// raw sends bytes of the stream as they are.
func (s *stream) raw(text string) {
	for _, part := range s.server.Style.split(text) {
		s.ended = !s.w.put(chunk(part)) || s.ended
	}
}

package faux

import (
	"fmt"
	"time"
)

// An event is what a stream sends.
type event struct {
	name string
	item string // the name of the item that the event is about; "" if there is none
	data object
	text []byte // the data as written; made of data if nil
}

// A stream is an answer that sends events until it ends.
type stream struct {
	server *Server
	shelf  string
	beat   time.Duration // the time between two pings; 0: no pings
	last   int           // ends after this many events; 0: does not end

	w     *wire
	sent  int
	held  []event // events that a fault sends later
	pings int
	ended bool // a fault ended the stream, or the client has hung up
}

// run sends events until the client hangs up, the last event was sent, or the server ends.
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

// nextBeat returns a channel that fires when the next ping is due, or nil if there is none.
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

// tell sends an event, or passes it to the fault that handles events.
func (s *stream) tell(ev event) {
	if f := s.server.Fault.event; f != nil && ev.name != "ping" {
		f(s, ev)
		return
	}
	s.send(ev)
}

func (s *stream) send(ev event) {
	if len(ev.text) == 0 {
		ev.text = s.server.Style.JSON(ev.data)
	}
	if ev.name != "ping" {
		s.sent++
	}
	s.raw(fmt.Sprintf("event: %s\ndata: %s\n\n", ev.name, ev.text))
}

// raw sends bytes unchanged.
func (s *stream) raw(text string) {
	for _, part := range s.server.Style.split(text) {
		s.ended = !s.w.put(chunk(part)) || s.ended
	}
}

// Package faux holds small servers that are wrong on purpose, each in one way.
//
// A Server is right: it keeps items on shelves and tells on event streams what happens to them, as project/openapi.yaml
// has it. A Fault makes it wrong in one place and leaves all else as it is. Faults lists them, with what a judge must say
// of each. A Style makes it write in another way what means the same, as a second implementation would; a judge must say
// nothing of that.
//
// The servers speak HTTP by hand, because most faults of the wire are things that net/http takes care not to do.
package faux

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
)

// A Server serves items. The fields are set before Serve.
type Server struct {
	Fault *Fault // nil: it is right
	Style *Style // nil: the plain style
	// Exit ends the process, for faults that do so.
	Exit func(status int)
	// Asked, when set, is called with the operation of each request before it is answered.
	Asked func(operation string)

	shelves shelves
	done    chan struct{} // closed when it is to end
	begin   sync.Once
	end     sync.Once

	mu        sync.Mutex
	listeners []net.Listener
	conns     map[net.Conn]bool
	closed    bool
	running   sync.WaitGroup // of conversations

	accepted atomic.Int64
	written  atomic.Int64
}

func (s *Server) init() {
	s.begin.Do(func() {
		s.done = make(chan struct{})
		s.conns = map[net.Conn]bool{}
		if s.Fault == nil {
			s.Fault = &Fault{}
		}
		if s.Style == nil {
			s.Style = &Style{}
		}
	})
}

// Serve answers connections until Close, and returns nil then.
func (s *Server) Serve(l net.Listener) error {
	s.init()
	if !s.listen(l) {
		return l.Close()
	}
	for {
		c, err := l.Accept()
		if s.isClosed() {
			if err == nil {
				c.Close()
			}
			return nil
		}
		if err != nil {
			return err
		}
		s.accepted.Add(1)
		s.take(c)
	}
}

// listen notes a listener, for Close to close it. It reports false when Close has been called already.
func (s *Server) listen(l net.Listener) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.listeners = append(s.listeners, l)
	}
	return !s.closed
}

func (s *Server) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// take answers one connection in the background.
func (s *Server) take(c net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		c.Close()
		return
	}
	s.conns[c] = true
	s.running.Go(func() {
		s.converse(c)
		c.Close()
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.conns, c)
	})
}

// Close ends every conversation and waits for that.
func (s *Server) Close() {
	s.init()
	s.end.Do(func() {
		close(s.done)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.closed = true
		for _, l := range s.listeners {
			l.Close()
		}
		for c := range s.conns {
			c.Close()
		}
	})
	s.running.Wait()
}

// Accepted returns how many connections were made.
func (s *Server) Accepted() int { return int(s.accepted.Load()) }

// Written returns how many bytes were taken from the server.
func (s *Server) Written() int64 { return s.written.Load() }

// converse answers the requests of a connection, one after the other.
func (s *Server) converse(c net.Conn) {
	in := bufio.NewReader(c)
	for {
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		a := s.answer(r, body)
		if s.Asked != nil {
			s.Asked(a.operation)
		}
		if s.Fault.answer != nil {
			s.Fault.answer(a)
		}
		w := &wire{Conn: c, server: s, in: in}
		if !a.send(w) {
			return
		}
	}
}

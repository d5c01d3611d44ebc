// Package faux provides small servers that are wrong on purpose, each in one way. Tests use them to check a judge.
//
// A Server without a fault is correct: it keeps items on shelves and reports changes to them on event streams, as
// project/openapi.yaml specifies. A Fault makes it wrong in one place only. Faults lists the faults, with the findings
// that a judge must report. A Style makes a server write the same content differently, as a second implementation
// would. A judge must report nothing about a Style.
//
// The servers write HTTP by hand, because net/http prevents most of the faults at the level of the connection.
package faux

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
)

// A Server serves items. Its fields are set before Serve is called.
type Server struct {
	Fault *Fault // nil: a correct server
	Style *Style // nil: the plain style
	// Exit ends the process, for the faults that do so.
	Exit func(status int)
	// Asked, if set, receives the operation of each request before it is answered.
	Asked func(operation string)

	shelves shelves
	done    chan struct{} // closed to end the server
	begin   sync.Once
	end     sync.Once

	mu        sync.Mutex
	listeners []net.Listener
	conns     map[net.Conn]bool
	closed    bool
	running   sync.WaitGroup // counts the goroutines of open connections

	accepted atomic.Int64
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

// Serve answers connections until Close is called, then returns nil.
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

// listen stores a listener so that Close can close it. It returns false if Close was called already.
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

// take serves one connection in the background.
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

// Close closes every connection and waits until all have ended.
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

// Accepted returns how many connections the server has accepted.
func (s *Server) Accepted() int { return int(s.accepted.Load()) }

// converse answers the requests of one connection, one after another.
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

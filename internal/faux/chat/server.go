// Package chat is a small chat server over WebSocket. Tests use it to check a judge, as they use package faux.
//
// A Server without a fault is correct: it does what project/openapi.yaml specifies. A Fault makes it wrong in one place
// only, and lists the findings that a judge must report. A Style makes a server write the same content differently, as
// a second implementation would. A judge must report nothing about a Style.
//
// The frames are written by hand here. They share no code with the client of lockstep, so that a mistake of the one is
// not repeated by the other.
package chat

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/lockstep-dev/lockstep/internal/faux"
)

type object = map[string]any

// A Server has rooms, in which the members of its sockets talk. Its fields are set before it serves. It is the handler
// of an http.Server.
type Server struct {
	Fault *Fault // nil: a correct server
	Style *Style // nil: the plain style

	begin sync.Once
	text  *faux.Style // how JSON is written
	ids   ids

	mu      sync.Mutex // guards the fields below, and is held while a message is handled
	members []*member  // in the order of their arrival
	said    []*saying  // in the order in which it was said
	closed  bool
	running sync.WaitGroup // counts the goroutines of sockets
}

// A saying is a message that the server keeps.
type saying struct {
	id, room, from, text string
	at                   time.Time
}

func (s *saying) value(kind string) object {
	return object{"type": kind, "id": s.id, "room": s.room, "from": s.from, "text": s.text, "at": s.at}
}

func (s *Server) init() {
	s.begin.Do(func() {
		if s.Fault == nil {
			s.Fault = &Fault{}
		}
		if s.Style == nil {
			s.Style = &Style{}
		}
		s.text, s.ids.counted = &faux.Style{}, s.Style.CountedIDs
		if s.Style.Notation > 0 {
			s.text = faux.NewStyle(s.Style.Notation)
		}
	})
}

// Close closes every socket and waits until all have ended.
func (s *Server) Close() {
	s.mu.Lock()
	s.closed = true
	for _, m := range s.members {
		m.conn.Close()
	}
	s.mu.Unlock()
	s.running.Wait()
}

// ServeHTTP answers a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.init()
	path := strings.Split(strings.TrimPrefix(r.URL.Path, "/"), "/")
	switch {
	case r.URL.Path == "/health":
		s.answer(w, http.StatusOK, object{"status": "ok"})
	case len(path) == 3 && path[0] == "rooms" && path[2] == "messages" && r.Method == http.MethodGet:
		s.history(w, path[1])
	case len(path) == 3 && path[0] == "rooms" && path[2] == "messages" && r.Method == http.MethodPost:
		s.post(w, r, path[1])
	case len(path) == 2 && path[0] == "chat":
		s.socket(w, r, path[1])
	default:
		s.refuse(w, http.StatusNotFound, "there is no "+r.URL.Path)
	}
}

func (s *Server) answer(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(s.text.JSON(value))
}

func (s *Server) refuse(w http.ResponseWriter, status int, why string) {
	s.answer(w, status, object{"error": why})
}

func (s *Server) history(w http.ResponseWriter, room string) {
	s.mu.Lock()
	all := []any{}
	for _, said := range s.said {
		if said.room == room {
			all = append(all, said.value("said"))
		}
	}
	s.mu.Unlock()
	s.answer(w, http.StatusOK, all)
}

func (s *Server) post(w http.ResponseWriter, r *http.Request, room string) {
	var in struct{ From, Text string }
	body, err := io.ReadAll(r.Body)
	if err != nil || json.Unmarshal(body, &in) != nil || in.From == "" || in.Text == "" {
		s.refuse(w, http.StatusBadRequest, "a message has a text, and someone it is from")
		return
	}
	s.mu.Lock()
	said := s.say(room, in.From, in.Text, nil)
	s.mu.Unlock()
	s.answer(w, http.StatusCreated, said.value("said"))
}

// say keeps a message, and sends it to all members of the room except its sender. The caller holds the lock.
func (s *Server) say(room, from, text string, sender *member) *saying {
	said := &saying{s.ids.next("msg_"), room, from, text, time.Now().Truncate(time.Second)}
	s.said = append(s.said, said)
	s.tellRoom(room, sender, message{kind: "said", about: text, op: opText, value: said.value("said")})
	return said
}

// tellRoom sends a message to all members of a room except one.
func (s *Server) tellRoom(room string, except *member, msg message) {
	for _, m := range s.members {
		if m != except && m.isIn(room) {
			m.tell(msg)
		}
	}
}

// enter adds a member. It returns false if the server is closed.
func (s *Server) enter(m *member) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.running.Add(1)
	s.members = append(s.members, m)
	m.greet()
	return true
}

// socket opens a socket, or refuses it.
func (s *Server) socket(w http.ResponseWriter, r *http.Request, room string) {
	h := s.handshake(r, room)
	if s.Fault.open != nil {
		s.Fault.open(h)
	}
	conn, rw, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic("chat: no connection to take over: " + err.Error())
	}
	defer conn.Close()
	if _, err := conn.Write(h.bytes(s)); err != nil || h.status != http.StatusSwitchingProtocols || h.cut {
		return
	}
	m := newMember(s, conn, rw.Reader, room, r, h)
	if !s.enter(m) {
		return
	}
	defer s.running.Done()
	m.run()
}

// Serve serves on a listener until the function that it returns is called.
func (s *Server) Serve(l net.Listener) (stop func()) {
	s.init()
	srv := &http.Server{Handler: s}
	served := make(chan struct{})
	go func() {
		defer close(served)
		srv.Serve(l) // it returns when it is closed
	}()
	return func() {
		srv.Close()
		s.Close()
		<-served
	}
}

// Command new is the port of the notes server to Go. It has one mistake, for lockstep to find.
package main

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"sync"
	"time"
)

type note struct {
	ID      string    `json:"id"`
	Text    string    `json:"text"`
	Created time.Time `json:"created"`
}

type server struct {
	mu        sync.Mutex
	notes     map[string]note
	followers map[chan note]bool
}

func main() {
	s := &server{notes: map[string]note{}, followers: map[chan note]bool{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /health", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	mux.HandleFunc("GET /feed", s.feed)
	mux.HandleFunc("POST /notes", s.add)
	mux.HandleFunc("GET /notes/{id}", s.get)
	log.Fatal(http.ListenAndServe(os.Args[1], mux))
}

func (s *server) add(w http.ResponseWriter, r *http.Request) {
	var n note
	if err := json.NewDecoder(r.Body).Decode(&n); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	n.ID, n.Created = uuid(), time.Now().UTC()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.notes[n.ID] = n
	for follower := range s.followers {
		follower <- n
	}
	answer(w, http.StatusOK, n) // the mistake: the old server says 201
}

func (s *server) get(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	n, ok := s.notes[r.PathValue("id")]
	s.mu.Unlock()
	if !ok {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	answer(w, http.StatusOK, n)
}

func (s *server) feed(w http.ResponseWriter, r *http.Request) {
	added := make(chan note, 100)
	s.mu.Lock()
	s.followers[added] = true
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.followers, added)
		s.mu.Unlock()
	}()
	w.Header().Set("Content-Type", "text/event-stream")
	rc := http.NewResponseController(w)
	if err := rc.Flush(); err != nil {
		return
	}
	for {
		select {
		case <-r.Context().Done():
			return
		case n := <-added:
			data, err := json.Marshal(n)
			if err != nil {
				return
			}
			fmt.Fprintf(w, "event: added\ndata: %s\n\n", data)
			if err := rc.Flush(); err != nil {
				return
			}
		}
	}
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(v); err != nil {
		log.Print(err)
	}
}

func uuid() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// Command chat is a chat server on WebSockets, like node/server.mjs.
package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"slices"
	"sync"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"
)

// A message is what either side sends.
type message struct {
	Type string  `json:"type"`
	ID   string  `json:"id,omitempty"`
	User string  `json:"user,omitempty"`
	Text string  `json:"text,omitempty"`
	Of   *string `json:"of,omitempty"`
}

var (
	mu    sync.Mutex
	rooms = map[string][]*websocket.Conn{} // the members of each room, in the order in which they came
)

func main() {
	http.HandleFunc("GET /health", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	http.HandleFunc("GET /rooms/{room}", open)
	log.Fatal(http.ListenAndServe(os.Args[1], nil))
}

func open(w http.ResponseWriter, r *http.Request) {
	user := r.URL.Query().Get("user")
	if user == "" {
		http.Error(w, "no user", http.StatusBadRequest)
		return
	}
	client, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{"chat.v1"}})
	if err != nil {
		return // the library has answered
	}
	client.SetReadLimit(1024)
	room := r.PathValue("room")
	change(room, func(members []*websocket.Conn) []*websocket.Conn { return append(members, client) })
	tell(room, message{Type: "joined", User: user})
	err = read(room, user, client)
	change(room, func(members []*websocket.Conn) []*websocket.Conn {
		return slices.DeleteFunc(members, func(c *websocket.Conn) bool { return c == client })
	})
	tell(room, message{Type: "left", User: user})
	log.Print(cmp.Or(err, client.CloseNow()))
}

func read(room, user string, client *websocket.Conn) error {
	for {
		kind, data, err := client.Read(context.Background())
		switch {
		case err != nil:
			return err
		case kind != websocket.MessageText:
			return client.Close(websocket.StatusUnsupportedData, "text only")
		}
		var m message
		if json.Unmarshal(data, &m) != nil {
			return client.Close(websocket.StatusInvalidFramePayloadData, "not JSON")
		}
		switch m.Type {
		case "say":
			tell(room, message{Type: "said", ID: uuid(), User: user, Text: m.Text})
		case "quit":
			return client.Close(websocket.StatusNormalClosure, "bye")
		default:
			_ = wsjson.Write(context.Background(), client, message{Type: "error", Of: &m.Type})
		}
	}
}

// change changes the members of a room.
func change(room string, by func([]*websocket.Conn) []*websocket.Conn) {
	mu.Lock()
	defer mu.Unlock()
	rooms[room] = by(rooms[room])
}

// tell sends a message to all members of a room.
func tell(room string, m message) {
	mu.Lock()
	defer mu.Unlock()
	for _, member := range rooms[room] {
		_ = wsjson.Write(context.Background(), member, m) // a member that has gone is about to be removed
	}
}

func uuid() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

package chat

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// An order is a message of a client.
type order struct {
	Type, Text, Room, ID, To string
	Code, Count              int
	Reason                   string
}

// text returns a message of the contract.
func text(kind, about string, value object) message {
	value["type"] = kind
	return message{kind: kind, about: about, op: opText, value: value}
}

// greet tells a new member where it is, and all others that it came.
func (m *member) greet() {
	if m.bare {
		return
	}
	m.tell(text("welcome", m.name, object{
		"name": m.name, "member": m.id, "room": m.rooms[0], "protocol": m.protocol, "at": time.Now().Truncate(time.Second),
	}))
	m.server.tellRoom(m.rooms[0], m, text("joined", m.name, object{"name": m.name, "member": m.id, "room": m.rooms[0]}))
}

func (m *member) fail(code, why string) {
	m.tell(text("error", why, object{"code": code, "message": why}))
}

// order does what a text message says. One that is no object is sent back.
func (m *member) order(data []byte) {
	var o order
	switch err := json.Unmarshal(data, &o); {
	case len(data) == 0 || data[0] != '{':
		m.tell(message{kind: "text", about: string(data), op: opText, data: data})
		return
	case err != nil:
		m.fail("INVALID", "a member of the message has another type")
		return
	}
	switch o.Type {
	case "say", "announce", "whisper", "edit", "parts", "poke":
		if o.Text == "" {
			m.fail("INVALID", o.Type+" needs a text")
			return
		}
		m.talk(&o)
	case "join":
		m.rooms = append(m.rooms, o.Room)
		m.tell(text("entered", o.Room, object{"room": o.Room}))
		m.server.tellRoom(o.Room, m, text("joined", m.name, object{"name": m.name, "member": m.id, "room": o.Room}))
	case "quit":
		m.quit(o.Code, o.Reason)
		m.conn.SetReadDeadline(time.Now().Add(patience))
	default:
		m.fail("UNKNOWN", fmt.Sprintf("what is %q?", o.Type))
	}
}

// patience is how long the server waits for the client's close frame.
const patience = 100 * time.Millisecond

// talk does what a message with a text says.
func (m *member) talk(o *order) {
	switch o.Type {
	case "say":
		m.sent(m.server.say(m.rooms[0], m.name, o.Text, m))
	case "announce":
		rooms := slices.Clone(m.rooms)
		if m.server.Style.Backward {
			slices.Reverse(rooms)
		}
		for _, room := range rooms {
			m.sent(m.server.say(room, m.name, o.Text, m))
		}
	case "whisper":
		to := slices.IndexFunc(m.server.members, func(to *member) bool { return to.name == o.To && to.isIn(m.rooms[0]) })
		if to < 0 {
			m.fail("NO_SUCH_MEMBER", "there is no "+o.To)
			return
		}
		m.server.members[to].tell(text("whispered", o.Text, object{"from": m.name, "text": o.Text}))
	case "edit":
		i := slices.IndexFunc(m.server.said, func(s *saying) bool { return s.id == o.ID })
		if i < 0 {
			m.fail("NO_SUCH_MESSAGE", "there is no message "+o.ID)
			return
		}
		said := m.server.said[i]
		said.text = o.Text
		m.server.tellRoom(said.room, nil, text("edited", o.Text, object{"id": said.id, "room": said.room, "text": o.Text}))
	case "parts":
		m.tell(message{kind: "parts", about: o.Text, op: opText, data: []byte(o.Text), parts: o.Count, whole: true})
	case "poke":
		m.pokes = append(m.pokes, o.Text)
		m.tell(message{kind: "ping", about: o.Text, op: opPing, data: []byte(o.Text)})
	}
}

// sent tells a member that its message is kept.
func (m *member) sent(s *saying) {
	m.tell(text("sent", s.text, object{"id": s.id, "room": s.room, "text": s.text}))
}

// ponged handles a pong. Only one that answers a ping is reported.
func (m *member) ponged(payload string) {
	if i := slices.Index(m.pokes, payload); i >= 0 {
		m.pokes = slices.Delete(m.pokes, i, i+1)
		m.tell(text("ponged", payload, object{"text": payload}))
	}
}

// store sends a binary message to the others.
func (m *member) store(data []byte) {
	about := string(data)
	m.tell(text("stored", about, object{"id": m.server.ids.next("bin_"), "size": len(data)}))
	m.server.tellRoom(m.rooms[0], m, message{kind: "binary", about: about, op: opBinary, data: data})
}

package chat

import "time"

// valueFaults send messages with wrong contents.
var valueFaults = []*Fault{
	{
		ID: "other-value", Doc: "it changes a text", In: "talk/story",
		Says: []Finding{
			{difference, "value", "2", "stream bob: message 2 (said) data /text", `"lamp"`, `"LAMP"`, silent},
		},
		tell: value(func(o object) { o["text"] = "LAMP" }),
	},
	{
		ID: "missing-member", Doc: "it leaves out a member that is required", In: "talk/story",
		Says: []Finding{
			{difference, "field-missing", "2", "stream bob: message 2 (said) data /from", `"ann"`, "—", candidate},
			{violation, "missing-field", "2", "stream bob: message 2 data/from", "", "", candidate},
		},
		tell: value(func(o object) { delete(o, "from") }),
	},
	{
		ID: "extra-member", Doc: "it adds a member that no schema declares", In: "talk/story",
		Says: []Finding{
			{difference, "field-extra", "2", "stream bob: message 2 (said) data /loud", "—", "true", candidate},
			{violation, "undocumented-field", "2", "stream bob: message 2 data/loud", "", "", candidate},
		},
		tell: value(func(o object) { o["loud"] = true }),
	},
	{
		ID: "other-type", Doc: "it writes a text as a number", In: "talk/story",
		Says: []Finding{
			{difference, "type", "2", "stream bob: message 2 (said) data /from", `"ann"`, "5", candidate},
			{violation, "type", "2", "stream bob: message 2 data/from", "", "", candidate},
		},
		tell: value(func(o object) { o["from"] = 5 }),
	},
	{
		ID: "old-time", Doc: "it sends a time of three hours ago", In: "talk/story",
		Says: []Finding{
			{difference, "value", "2", "stream bob: message 2 (said) data /at", `"‹time›"`, `"‹time›"`, silent},
		},
		tell: value(func(o object) { o["at"] = o["at"].(time.Time).Add(-3 * time.Hour) }),
	},
	{
		ID: "wrong-id", Doc: "it names another message than the edited one", In: "talk/story",
		Says: []Finding{
			{difference, "identity", "2", "stream bob: message 4 (edited) data /id", `"‹id›"`, `"‹id›"`, silent},
		},
		tell: on("edited", "bench", func(m *member, msg message) {
			for _, said := range m.server.said {
				if said.text == "lamp" && said.room == msg.value["room"] && m.name == "bob" {
					msg.value = object{"type": "edited", "id": said.id, "room": said.room, "text": "bench"}
				}
			}
			m.send(msg)
		}),
	},
	{
		ID: "new-id", Doc: "it gives the edited message a new id", In: "talk/story",
		Says: []Finding{
			{difference, "identity", "2", "stream bob: message 4 (edited) data /id", `"‹id›"`, `"‹id›"`, silent},
		},
		tell: on("edited", "bench", func(m *member, msg message) {
			if m.name == "bob" {
				msg.value = object{"type": "edited", "id": m.server.ids.next("msg_"), "room": msg.value["room"], "text": "bench"}
			}
			m.send(msg)
		}),
	},
	{
		ID: "reused-id", Doc: "it gives two binary messages one id", In: "talk/binary",
		Says: []Finding{
			{difference, "identity", "1", "stream ann: message 5 (stored) data /id", `"‹id›"`, `"‹id›"`, silent},
		},
		tell: func(m *member, msg message) {
			switch {
			case msg.kind != "stored":
			case msg.about == "lamp":
				msg.value["id"] = m.held[0].value["id"]
			default:
				m.held = append(m.held, msg)
			}
			m.send(msg)
		},
	},
	{
		ID: "same-id", Doc: "it gives two messages one id, of which the client uses the second", In: "talk/story",
		Says: []Finding{
			{difference, "identity", "1", "stream ann: message 4 (sent) data /id", `"‹id›"`, `"‹id›"`, silent},
			{difference, "identity", "1", "stream ann: message 5 (edited) data /id", `"‹id›"`, `"‹id›"`, silent}, // the client edits by it
			{difference, "identity", "2", "stream bob: message 4 (edited) data /id", `"‹id›"`, `"‹id›"`, silent},
		},
		tell: func(m *member, msg message) {
			switch {
			case msg.kind == "sent" && msg.about == "lamp":
				m.held = append(m.held, msg)
			case msg.kind == "sent" && msg.about == "stool":
				msg.value["id"] = m.held[0].value["id"]
			}
			m.send(msg)
		},
	},
	{
		ID: "broken-json", Doc: "it sends half of a JSON text", In: "frames/story",
		Says: []Finding{
			{difference, "event-extra", "1", "stream ann: message 2 (text)", "—", `text {"type":"said",`, silent},
			{difference, "event-missing", "1", "stream ann: message 2 (sent)", `sent {"id":"‹id›","room":"r-‹unique›","text":"desk","type":"sent"}`, "—", silent},
			{shortfall, "event-awaited", "3", "stream ann: event", `message "sent"`, "it did not come within 5s; 1 other message came since", candidate},
		},
		Turned: []Finding{
			{difference, "event-extra", "1", "stream ann: message 2 (sent)", "—", `sent {"id":"‹id›","room":"r-‹unique›","text":"desk","type":"sent"}`, silent},
			{difference, "event-missing", "1", "stream ann: message 2 (text)", `text {"type":"said",`, "—", silent},
			{shortfall, "event-awaited", "3", "stream ann: event", `message "sent"`, "it did not come within 5s; 1 other message came since", reference},
		},
		tell: instead(frame(fin|opText, []byte(`{"type":"said",`))),
	},
	{
		ID: "binary-for-text", Doc: "it sends a text as a binary message", In: "talk/story",
		Says: []Finding{
			{difference, "event-name", "2", "stream bob: message 2 (said) kind", "text", "binary", silent},
		},
		tell: lamp(func(m *member, msg message) { msg.op = opBinary; m.send(msg) }),
	},
	{
		ID: "text-for-binary", Doc: "it sends a binary message as a text", In: "talk/binary",
		Says: []Finding{
			{difference, "event-name", "2", "stream bob: message 4 (binary)", "binary", "text", silent},
		},
		Turned: []Finding{
			{difference, "event-name", "2", "stream bob: message 4 (text)", "text", "binary", silent},
		},
		tell: on("binary", "lamp", func(m *member, msg message) { msg.op = opText; m.send(msg) }),
	},
	{
		ID: "other-bytes", Doc: "it changes a binary message", In: "talk/binary",
		Says: []Finding{
			{difference, "body", "2", "stream bob: message 4 (binary) data", `"lamp"`, `"lamb"`, silent},
		},
		tell: on("binary", "lamp", func(m *member, msg message) { msg.data = []byte("lamb"); m.send(msg) }),
	},
}

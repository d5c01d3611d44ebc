package chat

// controlFaults send wrong pings and pongs.
var controlFaults = []*Fault{
	{
		ID: "no-pong", Doc: "it does not answer a ping", In: "control/ping",
		Says: []Finding{
			{difference, "event-missing", "1", "stream ann: message 2 (pong)", "pong lamp", "—", silent},
		},
		tell: on("pong", "lamp", func(*member, message) {}),
	},
	{
		ID: "other-pong", Doc: "it answers a ping with another payload", In: "control/ping",
		Says: []Finding{
			{difference, "body", "1", "stream ann: message 2 (pong) data", "lamp", "lamb", silent},
		},
		tell: on("pong", "lamp", func(m *member, msg message) { msg.data = []byte("lamb"); m.send(msg) }),
	},
	{
		ID: "doubled-pong", Doc: "it answers a ping twice", In: "control/ping",
		Says: []Finding{
			{difference, "event-doubled", "1", "stream ann: message 3 (pong)", "—", "pong lamp", silent},
		},
		tell: on("pong", "lamp", func(m *member, msg message) { m.send(msg); m.send(msg) }),
	},
	{
		ID: "ping-for-pong", Doc: "it answers a ping with a ping", In: "control/ping",
		Says: []Finding{
			{difference, "event-name", "1", "stream ann: message 2 (pong)", "pong", "ping", silent},
		},
		Turned: []Finding{
			{difference, "event-name", "1", "stream ann: message 2 (ping)", "ping", "pong", silent},
		},
		tell: on("pong", "lamp", func(m *member, msg message) { msg.op = opPing; m.send(msg) }),
	},
	{
		ID: "late-pong", Doc: "it answers a ping after the end of the message around it", In: "frames/pieces",
		Says: []Finding{
			{difference, "event-order", "1", "stream ann: message 3 (pong)", "message 2: pong quick", "message 3: pong quick", silent},
			{shortfall, "event-awaited", "4", "stream ann: event", `a message with data "half and half"`, "it did not come within 5s; no other message came since", candidate},
		},
		Turned: []Finding{
			{difference, "event-order", "1", "stream ann: message 3 (text)", "message 2: text half and half", "message 3: text half and half", silent},
			{shortfall, "event-awaited", "4", "stream ann: event", `a message with data "half and half"`, "it did not come within 5s; no other message came since", reference},
		},
		tell: func(m *member, msg message) {
			if msg.kind == "pong" && msg.about == "quick" {
				m.held = append(m.held, msg)
				return
			}
			m.send(msg)
			for _, held := range m.held {
				m.send(held)
			}
			m.held = nil
		},
	},
	{
		ID: "unasked-ping", Doc: "it pings without a reason", In: "frames/story",
		Says: []Finding{
			{difference, "event-extra", "1", "stream ann: message 2 (ping)", "—", "ping", silent},
		},
		tell: desk(func(m *member, msg message) { m.raw(frame(fin|opPing, nil)); m.send(msg) }),
	},
	{
		ID: "ping-storm", Doc: "it sends hundreds of pings", In: "frames/story",
		Says: []Finding{broken("more than 300 messages came")},
		tell: desk(func(m *member, msg message) {
			for range 500 {
				m.raw(frame(fin|opPing, []byte("lamp")))
			}
			m.send(msg)
		}),
	},
	{
		ID: "other-ping", Doc: "it sends a ping with another payload", In: "control/manual",
		Says: []Finding{
			{difference, "body", "1", "stream ann: message 2 (ping) data", "hidden", "hide", silent},
		},
		tell: func(m *member, msg message) {
			if msg.kind == "ping" && msg.about == "hidden" {
				msg.data = []byte("hide")
			}
			m.send(msg)
		},
	},
}

package chat

import "bytes"

// closeFaults end a socket in a wrong way.
var closeFaults = []*Fault{
	{
		ID: "other-code", Doc: "it answers a close frame with another code", In: "close/story",
		Says: []Finding{
			{difference, "value", "1", "stream ann: message 2 (close) data /code", "3000", "3001", silent},
		},
		tell: closing(func(m *member, msg message) { msg.data = closePayload(3001, "lamp"); m.send(msg) }),
	},
	{
		ID: "other-reason", Doc: "it answers a close frame with another reason", In: "close/story",
		Says: []Finding{
			{difference, "value", "1", "stream ann: message 2 (close) data /reason", `"lamp"`, `"lamb"`, silent},
		},
		tell: closing(func(m *member, msg message) { msg.data = closePayload(3000, "lamb"); m.send(msg) }),
	},
	{
		ID: "close-without-code", Doc: "it answers a close frame without a code", In: "close/story",
		Says: []Finding{
			{difference, "field-missing", "1", "stream ann: message 2 (close) data /code", "3000", "—", silent},
			{difference, "field-missing", "1", "stream ann: message 2 (close) data /reason", `"lamp"`, "—", silent},
		},
		tell: closing(func(m *member, msg message) { msg.data = nil; m.send(msg) }),
	},
	{
		ID: "reserved-code", Doc: "it sends a code that must not be sent", In: "close/story",
		Says: []Finding{
			{difference, "value", "1", "stream ann: message 2 (close) data /code", "3000", "1005", silent},
			broken("a close frame with the code 1005 came (RFC 6455 §7.4: a code is defined, registered or private)"),
		},
		tell: closing(func(m *member, msg message) { msg.data = closePayload(1005, "lamp"); m.send(msg) }),
	},
	{
		ID: "half-code", Doc: "it sends a close frame with one byte", In: "close/story",
		Says: []Finding{broken("a close frame with the payload \"\\x03\" came (RFC 6455 §5.5.1: a code has two bytes)")},
		tell: closing(func(m *member, msg message) { msg.data = []byte{3}; m.send(msg) }),
	},
	{
		ID: "reason-not-utf8", Doc: "it sends a reason that is not UTF-8", In: "close/story",
		Says: []Finding{broken("a close frame with the reason \"\\xc3(\" came (RFC 6455 §5.5.1: a reason is UTF-8)")},
		tell: closing(func(m *member, msg message) { msg.data = append(closePayload(3000, ""), 0xC3, 0x28); m.send(msg) }),
	},
	{
		ID: "long-close", Doc: "it sends a close frame of more than 125 bytes", In: "close/story",
		Says: []Finding{broken("a close frame of more than 125 bytes came (RFC 6455 §5.5: control frames have 125 bytes at most)")},
		tell: closing(func(m *member, msg message) {
			msg.data = append(closePayload(3000, ""), bytes.Repeat([]byte("l"), 124)...)
			m.send(msg)
		}),
	},
	{
		ID: "no-close-frame", Doc: "it closes the connection without a close frame", In: "close/story",
		Says: []Finding{broken("the connection ended without a close frame")},
		tell: closing(func(*member, message) {}),
	},
	{
		ID: "not-closed", Doc: "it does not close the connection after the close frames", In: "close/story",
		Says: []Finding{
			{difference, "stream-end", "1", "stream ann: end", "ended by the server, after message 2 (close)", "ended by the client, after message 2 (close)", silent},
		},
		tell: on("end", "lamp", func(*member, message) {}),
	},
	{
		ID: "not-closed-in-time", Doc: "it does not close the connection, for which the scenario waits", In: "close/drop",
		Says: []Finding{
			{difference, "stream-end", "2", "stream bob: end", "ended by the server, after message 3 (close)", "ended by the client, after message 3 (close)", silent},
			{shortfall, "end-awaited", "6", "stream bob: end", "the end of the stream", "it did not come within 2s", candidate},
		},
		tell: on("end", "goodnight", func(*member, message) {}),
	},
	{
		ID: "message-after-close", Doc: "it sends a message after its close frame", In: "close/story",
		Says: []Finding{broken("a text frame came after a close frame (RFC 6455 §5.5.1: no data follows a close frame)")},
		tell: closing(func(m *member, msg message) { m.send(msg); m.raw(frame(fin|opText, []byte("lamp"))) }),
	},
	{
		ID: "doubled-close", Doc: "it sends its close frame twice", In: "close/story",
		Says: []Finding{
			{difference, "event-doubled", "1", "stream ann: message 3 (close)", "—", `close {"code":3000,"reason":"lamp"}`, silent},
		},
		tell: closing(func(m *member, msg message) { m.send(msg); m.send(msg) }),
	},
	{
		ID: "early-close", Doc: "it closes a socket early", In: "frames/story",
		Says: []Finding{
			{difference, "event-missing", "1", "stream ann: message 2 (sent)", `sent {"id":"‹id›","room":"r-‹unique›","text":"desk","type":"sent"}`, "—", silent},
			{difference, "value", "1", "stream ann: message 3 (close) data /code", "1000", "1001", silent},
			{difference, "value", "1", "stream ann: message 3 (close) data /reason", `""`, `"early"`, silent},
			{shortfall, "event-awaited", "3", "stream ann: event", `message "sent"`, "the stream ended before it came; 1 other message came since", candidate},
		},
		Turned: []Finding{
			{difference, "event-extra", "1", "stream ann: message 2 (sent)", "—", `sent {"id":"‹id›","room":"r-‹unique›","text":"desk","type":"sent"}`, silent},
			{difference, "value", "1", "stream ann: message 2 (close) data /code", "1001", "1000", silent},
			{difference, "value", "1", "stream ann: message 2 (close) data /reason", `"early"`, `""`, silent},
			{shortfall, "event-awaited", "3", "stream ann: event", `message "sent"`, "the stream ended before it came; 1 other message came since", reference},
		},
		tell: desk(func(m *member, msg message) { m.quit(1001, "early") }),
	},
	{
		ID: "other-server-code", Doc: "it closes a socket with another code", In: "close/server[policy]",
		Says: []Finding{
			{difference, "value", "1", "stream ann: message 2 (close) data /code", "1008", "1002", silent},
			{shortfall, "event-awaited", "3", "stream ann: event", `message "close" with 1008 at $.code`, "the stream ended before it came; 1 other message came since", candidate},
		},
		tell: on("close", "too rude", func(m *member, msg message) { msg.data = closePayload(1002, "too rude"); m.send(msg) }),
	},
	{
		ID: "server-without-close", Doc: "it ends a socket without its close frame", In: "close/server[own]",
		Says: []Finding{broken("the connection ended without a close frame")},
		tell: on("close", "bench", func(m *member, _ message) { m.put(outgoing{end: true}) }),
	},
	{
		ID: "no-goodbye", Doc: "it says nothing when the client's sending side is closed", In: "close/half", Halves: true,
		Says: []Finding{
			{difference, "event-missing", "1", "stream ann: message 2 (close)", `close {"code":1001,"reason":"the input has ended"}`, "—", silent},
			{shortfall, "event-awaited", "3", "stream ann: event", `message "close" with 1001 at $.code`, "the stream ended before it came; no other message came since", candidate},
		},
		Turned: []Finding{
			{difference, "event-extra", "1", "stream ann: message 2 (close)", "—", `close {"code":1001,"reason":"the input has ended"}`, silent},
			{shortfall, "event-awaited", "3", "stream ann: event", `message "close" with 1001 at $.code`, "the stream ended before it came; no other message came since", reference},
		},
		tell: on("close", "the input has ended", func(*member, message) {}),
	},
	{
		ID: "tolerant", Doc: "it closes a socket as normal after a broken frame", In: "broken/bits",
		Says: []Finding{
			{difference, "value", "1", "stream ann: message 2 (close) data /code", "1002", "1000", silent},
			{difference, "value", "1", "stream ann: message 2 (close) data /reason", `"reserved bits"`, `""`, silent},
		},
		tell: on("close", "reserved bits", func(m *member, msg message) { msg.data = closePayload(1000, ""); m.send(msg) }),
	},
}

// closing returns a hook for the close frame in close/story.
func closing(tell func(*member, message)) func(*member, message) { return on("close", "lamp", tell) }

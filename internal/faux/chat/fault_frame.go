package chat

import (
	"bytes"
	"slices"
)

// deskText is a text message of the frame faults.
var deskText = []byte(`{"type":"sent"}`)

// frameFaults break the rules for frames (RFC 6455 §5).
var frameFaults = []*Fault{
	{
		ID: "other-boundary", Doc: "it cuts a message into fewer frames", In: "frames/exact",
		Says: []Finding{
			{difference, "event-framing", "1", "stream ann: message 1 (text) framing", `"text 6, continuation 6, end 6"`, `"text 9, end 9"`, silent},
		},
		tell: on("parts", "a lamp and a stool", func(m *member, msg message) { msg.parts = 2; m.send(msg) }),
	},
	{
		ID: "one-frame", Doc: "it does not cut a message", In: "frames/exact",
		Says: []Finding{
			{difference, "event-framing", "1", "stream ann: message 1 (text) framing", `"text 6, continuation 6, end 6"`, `"text 18"`, silent},
		},
		tell: on("parts", "a lamp and a stool", func(m *member, msg message) { msg.parts = 1; m.send(msg) }),
	},
	{
		ID: "masked-frame", Doc: "it masks a frame", In: "frames/story",
		Says: []Finding{broken("a masked text frame came (RFC 6455 §5.1: a server must not mask its frames)")},
		tell: instead(append([]byte{fin | opText, 0x80 | byte(len(deskText)), 0, 0, 0, 0}, deskText...)),
	},
	{
		ID: "reserved-bits", Doc: "it sets a reserved bit", In: "frames/story",
		Says: []Finding{broken("a text frame with the reserved bits 4 came (RFC 6455 §5.2: they are 0 without an extension)")},
		tell: instead(frame(fin|0x40|opText, deskText)),
	},
	{
		ID: "reserved-opcode", Doc: "it sends a reserved opcode", In: "frames/story",
		Says: []Finding{broken("a frame with the opcode 3 came (RFC 6455 §5.2: it is reserved)")},
		tell: instead(frame(fin|3, deskText)),
	},
	{
		ID: "lone-continuation", Doc: "it continues a message that it has not begun", In: "frames/story",
		Says: []Finding{broken("a continuation frame came outside of a message (RFC 6455 §5.4: it continues a message)")},
		tell: instead(frame(fin|opMore, deskText)),
	},
	{
		ID: "mixed-messages", Doc: "it begins a message inside another one", In: "frames/story",
		Says: []Finding{broken("a text frame came inside a text message (RFC 6455 §5.4: the frames of two messages are not mixed)")},
		tell: instead(slices.Concat(frame(opText, deskText), frame(fin|opText, deskText))),
	},
	{
		ID: "not-utf8", Doc: "it sends a text that is not UTF-8", In: "frames/story",
		Says: []Finding{
			broken("a text message of 3 bytes that is not UTF-8 came (RFC 6455 §8.1: text is UTF-8)"),
			{violation, "text-invalid-utf8", "1", "stream ann: message 2 data", "", "", candidate},
		},
		tell: instead(frame(fin|opText, []byte{'l', 0xC3, 0x28})),
	},
	{
		ID: "long-ping", Doc: "it sends a ping of 126 bytes", In: "frames/story",
		Says: []Finding{broken("a ping frame of more than 125 bytes came (RFC 6455 §5.5: control frames have 125 bytes at most)")},
		tell: instead(frame(fin|opPing, bytes.Repeat([]byte("l"), 126))),
	},
	{
		ID: "ping-in-pieces", Doc: "it sends a ping in two frames", In: "frames/story",
		Says: []Finding{broken("a ping frame without the FIN bit came (RFC 6455 §5.5: control frames are not fragmented)")},
		tell: instead(slices.Concat(frame(opPing, nil), frame(fin|opMore, nil))),
	},
	{
		ID: "long-length", Doc: "it writes a short length in two bytes", In: "frames/story",
		Says: []Finding{broken("a text frame with a length of 15 in 2 bytes came (RFC 6455 §5.2: the minimal number of bytes is used…")},
		tell: instead(append([]byte{fin | opText, 126, 0, byte(len(deskText))}, deskText...)),
	},
	{
		ID: "huge-frame", Doc: "it announces a frame of 2 GiB", In: "frames/story",
		Says: []Finding{broken("a message of more than 16777216 bytes came")},
		tell: instead([]byte{fin | opText, 127, 0, 0, 0, 0, 0x80, 0, 0, 0}),
	},
	{
		ID: "cut-frame", Doc: "it closes the connection inside a frame", In: "frames/story",
		Says: []Finding{broken("the connection ended inside a text message, after 5 of 15 bytes of a frame")},
		tell: cut(frame(fin|opText, deskText)[:7]),
	},
	{
		ID: "cut-message", Doc: "it closes the connection between the frames of a message", In: "frames/story",
		Says: []Finding{broken("the connection ended inside a text message, after the frames text 15")},
		tell: cut(frame(opText, deskText)),
	},
	{
		ID: "cut-head", Doc: "it closes the connection inside the head of a frame", In: "frames/story",
		Says: []Finding{broken("the connection ended in the head of a frame")},
		tell: cut([]byte{fin | opText}),
	},
}

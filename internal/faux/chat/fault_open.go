package chat

import "net/http"

// handshakeFaults are wrong responses to a request for a socket.
var handshakeFaults = []*Fault{
	{
		ID: "refused-otherwise", Doc: "it refuses a socket with another documented status", In: "open/gate",
		Says: []Finding{
			{difference, "status", "1", "status", "404", "403", silent},
			{shortfall, "expectation", "1", "status", "404", "403", candidate},
		},
		open: named("gate", func(h *handshake) { h.status = http.StatusForbidden }),
	},
	{
		ID: "refused-undocumented", Doc: "it refuses a socket with a status that the contract does not have", In: "open/gate",
		Says: []Finding{
			{difference, "status", "1", "status", "404", "410", candidate},
			{shortfall, "expectation", "1", "status", "404", "410", candidate},
			{violation, "undocumented-status", "1", "status", "", "", candidate},
		},
		open: named("gate", func(h *handshake) { h.status = http.StatusGone }),
	},
	{
		ID: "refused-without-reason", Doc: "it refuses a socket for another reason", In: "open/gate",
		Says: []Finding{
			{difference, "value", "1", "body /error", `"there is no such room"`, `"there is none"`, silent},
		},
		open: named("gate", func(h *handshake) { h.why = "there is none" }),
	},
	{
		ID: "refuses", Doc: "it refuses a socket that it should open", In: "open/lamp",
		Says: []Finding{
			{difference, "body", "1", "body", "a socket", "a body", silent},
			{difference, "header-extra", "1", "header Content-Type", "—", `"application/json"`, silent},
			{difference, "header-missing", "1", "header Sec-WebSocket-Protocol", `"chat.v2"`, "—", silent},
			{difference, "status", "1", "status", "101", "404", silent},
			{shortfall, "expectation", "1", "status", "101", "404", candidate},
			{shortfall, "stream-missing", "2", "stream chat: close", "a socket", "there is no socket: the answer is 404 application/json", candidate},
		},
		Turned: []Finding{
			{difference, "body", "1", "body", "a body", "a socket", silent},
			{difference, "header-extra", "1", "header Sec-WebSocket-Protocol", "—", `"chat.v2"`, silent},
			{difference, "header-missing", "1", "header Content-Type", `"application/json"`, "—", silent},
			{difference, "status", "1", "status", "404", "101", silent},
			{shortfall, "expectation", "1", "status", "101", "404", reference},
			{shortfall, "stream-missing", "2", "stream chat: close", "a socket", "there is no socket: the answer is 404 application/json", reference},
		},
		open: named("lamp", func(h *handshake) { h.refuse(http.StatusNotFound, "there is no such room") }),
	},
	{
		ID: "opens", Doc: "it opens a socket that it should refuse", In: "open/gate",
		Says: []Finding{
			{difference, "body", "1", "body", "a body", "a socket", silent},
			{difference, "header-missing", "1", "header Content-Type", `"application/json"`, "—", silent},
			{difference, "status", "1", "status", "404", "101", silent},
			{shortfall, "expectation", "1", "header Content-Type", `"application/json"`, "no such field", candidate},
			{shortfall, "expectation", "1", "status", "404", "101", candidate},
		},
		open: named("gate", (*handshake).accept),
	},
	{
		ID: "other-subprotocol", Doc: "it chooses the worse subprotocol", In: "open/lamp",
		Says: []Finding{
			{difference, "header-value", "1", "header Sec-WebSocket-Protocol", `"chat.v2"`, `"chat.v1"`, silent},
			{difference, "value", "1", "stream chat: message 1 (welcome) data /protocol", `"chat.v2"`, `"chat.v1"`, silent},
		},
		open: named("lamp", func(h *handshake) { h.choose([]string{"chat.v1"}) }),
	},
	{
		ID: "unoffered-subprotocol", Doc: "it chooses a subprotocol that was not offered", In: "open/lamp",
		Says: []Finding{
			{shortfall, "exchange-failed", "1", "head", "a complete answer", `101 with the subprotocol "talk", which was not offered (RFC 6455 §4.1)`, candidate},
		},
		open: named("lamp", func(h *handshake) { h.set("Sec-WebSocket-Protocol", "talk") }),
	},
	{
		ID: "no-subprotocol", Doc: "it does not say which subprotocol it chooses", In: "open/lamp",
		Says: []Finding{
			{difference, "header-missing", "1", "header Sec-WebSocket-Protocol", `"chat.v2"`, "—", silent},
		},
		open: named("lamp", func(h *handshake) { h.set("Sec-WebSocket-Protocol", "") }),
	},
	{
		ID: "wrong-accept", Doc: "its Sec-WebSocket-Accept belongs to another key", In: "open/lamp",
		Says: []Finding{
			{shortfall, "exchange-failed", "1", "head", "a complete answer", `101 with the Sec-WebSocket-Accept "‹accept›", want "‹accept›", which belongs to the key "‹key›" (RFC…`, candidate},
		},
		open: named("lamp", func(h *handshake) { h.set("Sec-WebSocket-Accept", "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=") }),
	},
	{
		ID: "no-upgrade", Doc: "its handshake has no Upgrade", In: "open/lamp",
		Says: []Finding{
			{shortfall, "exchange-failed", "1", "head", "a complete answer", "101 with the Upgrade missing, want websocket (RFC 6455 §4.1)", candidate},
		},
		open: named("lamp", func(h *handshake) { h.set("Upgrade", "") }),
	},
	{
		ID: "unoffered-extension", Doc: "it uses an extension that was not offered", In: "open/lamp",
		Says: []Finding{
			{shortfall, "exchange-failed", "1", "head", "a complete answer", `101 with the extension "permessage-deflate", which was not offered (RFC 6455 §4.1)`, candidate},
		},
		open: named("lamp", func(h *handshake) { h.set("Sec-WebSocket-Extensions", "permessage-deflate") }),
	},
	{
		ID: "ok-for-upgrade", Doc: "it answers a handshake with 200", In: "open/lamp",
		Says: []Finding{
			{difference, "body", "1", "body", "a socket", "a body", candidate},
			{difference, "header-extra", "1", "header Content-Type", "—", `"application/json"`, candidate},
			{difference, "header-missing", "1", "header Sec-WebSocket-Protocol", `"chat.v2"`, "—", candidate},
			{difference, "status", "1", "status", "101", "200", candidate},
			{shortfall, "expectation", "1", "status", "101", "200", candidate},
			{shortfall, "stream-missing", "2", "stream chat: close", "a socket", "there is no socket: the answer is 200 application/json", candidate},
			{violation, "undocumented-status", "1", "status", "", "", candidate},
		},
		Turned: []Finding{
			{difference, "body", "1", "body", "a body", "a socket", reference},
			{difference, "header-extra", "1", "header Sec-WebSocket-Protocol", "—", `"chat.v2"`, reference},
			{difference, "header-missing", "1", "header Content-Type", `"application/json"`, "—", reference},
			{difference, "status", "1", "status", "200", "101", reference},
			{shortfall, "expectation", "1", "status", "101", "200", reference},
			{shortfall, "stream-missing", "2", "stream chat: close", "a socket", "there is no socket: the answer is 200 application/json", reference},
			{violation, "undocumented-status", "1", "status", "", "", reference},
		},
		open: named("lamp", func(h *handshake) { h.refuse(http.StatusOK, "come in") }),
	},
	{
		ID: "closes-after-handshake", Doc: "it closes the connection after the handshake", In: "open/lamp",
		Says: []Finding{
			{shortfall, "stream-broken", "1", "stream chat: end", "to end after a close frame", "the connection ended without a close frame", candidate},
		},
		open: named("lamp", func(h *handshake) { h.cut = true }),
	},
}

package faux

import "time"

// eventFaults are wrong events on a stream.
var eventFaults = []*Fault{
	{
		ID: "missing-event", Doc: "it sends no event about a created item", In: "events/story",
		Says: []Finding{
			{difference, "event-missing", "1", "stream feed: event 3 (created)", `created {"at":"‹time›","id":"‹id›","name":"bench"}`, "—", silent},
		},
		event: on("created", "bench", func(*stream, event) {}),
	},
	{
		ID: "missing-last-event", Doc: "it sends no event about a deleted item, for which the scenario waits", In: "events/story", Clock: true,
		Says: []Finding{
			{difference, "event-missing", "1", "stream feed: event 4 (deleted)", `deleted {"at":"‹time›","id":"‹id›","name":"stool"}`, "—", silent},
			{shortfall, "event-awaited", "5", "stream feed: event", `event "deleted" with "‹id›" at $.id`, "it did not come within 5s; 2 other events came since", candidate},
		},
		event: on("deleted", "stool", func(*stream, event) {}),
	},
	{
		ID: "no-answer-and-no-event", Doc: "it resets the connection on which an item is created, and sends no event about it", In: "events/story",
		Says: []Finding{
			broken("3", "head", "the connection was reset before the head"),
			{difference, "event-missing", "1", "stream feed: event 3 (created)", `created {"at":"‹time›","id":"‹id›","name":"bench"}`, "—", silent},
		},
		answer: func(a *answer) {
			if a.operation == create && a.item == "bench" {
				a.write = func(w *wire, _, _ []byte) { w.reset() }
			}
		},
		event: on("created", "bench", func(*stream, event) {}),
	},
	{
		ID: "doubled-event", Doc: "it sends an event about an item twice", In: "events/story",
		Says: []Finding{
			{difference, "event-doubled", "1", "stream feed: event 4 (created)", "—", `created {"at":"‹time›","id":"‹id›","name":"bench"}`, silent},
		},
		event: on("created", "bench", func(s *stream, ev event) { s.send(ev); s.send(ev) }),
	},
	{
		ID: "reordered-events", Doc: "it sends the events about two items in the wrong order", In: "events/story",
		Says: []Finding{
			{difference, "event-order", "1", "stream feed: event 3 (created)", `event 2: created {"at":"‹time›","id":"‹id›","name":"stool"}`, `event 3: created {"at":"‹time›","id":"‹id›","name":"stool"}`, silent},
		},
		Turned: []Finding{
			{difference, "event-order", "1", "stream feed: event 3 (created)", `event 2: created {"at":"‹time›","id":"‹id›","name":"bench"}`, `event 3: created {"at":"‹time›","id":"‹id›","name":"bench"}`, silent},
		},
		event: func(s *stream, ev event) {
			hold(s, ev, "created stool", func(event) {})
		},
	},
	{
		ID: "reordered-and-wrong-event", Doc: "it sends the events about two items in the wrong order, one of them with another name", In: "events/story",
		Says: []Finding{
			{difference, "event-order", "1", "stream feed: event 3 (created)", `event 2: created {"at":"‹time›","id":"‹id›","name":"stool"}`, `event 3: created {"at":"‹time›","id":"‹id›","name":"steel"}`, silent},
			{difference, "value", "1", "stream feed: event 2 (created) data /name", `"stool"`, `"steel"`, silent},
		},
		Turned: []Finding{
			{difference, "event-order", "1", "stream feed: event 2 (created)", `event 3: created {"at":"‹time›","id":"‹id›","name":"steel"}`, `event 2: created {"at":"‹time›","id":"‹id›","name":"stool"}`, silent},
			{difference, "value", "1", "stream feed: event 3 (created) data /name", `"steel"`, `"stool"`, silent},
		},
		event: func(s *stream, ev event) {
			hold(s, ev, "created stool", func(ev event) { ev.data["name"] = "steel" })
		},
	},
	{
		ID: "foreign-event", Doc: "it sends an internal event that clients must not get", In: "events/story",
		Says: []Finding{
			{difference, "event-extra", "1", "stream feed: event 3 (audit)", "—", `audit {"user":"root"}`, candidate},
			{violation, "undocumented-event", "1", "stream feed: event 3 name", "", "", candidate},
		},
		event: on("created", "bench", func(s *stream, ev event) {
			s.send(event{name: "audit", data: object{"user": "root"}})
			s.send(ev)
		}),
	},
	{
		ID: "extra-event", Doc: "it sends an event about an item that was never created", In: "events/story",
		Says: []Finding{
			{difference, "event-extra", "1", "stream feed: event 3 (created)", "—", `created {"at":"‹time›","id":"‹id›","name":"ghost"}`, silent},
		},
		event: on("created", "bench", func(s *stream, ev event) {
			s.send(event{name: "created", data: object{"id": newID(), "name": "ghost", "at": time.Now()}})
			s.send(ev)
		}),
	},
	{
		ID: "wrong-event-name", Doc: "it gives an event another name", In: "events/story",
		Says: []Finding{
			{difference, "event-name", "1", "stream feed: event 3 (created)", "created", "create", candidate},
			{violation, "undocumented-event", "1", "stream feed: event 3 name", "", "", candidate},
		},
		Turned: []Finding{
			{difference, "event-name", "1", "stream feed: event 3 (create)", "create", "created", reference},
			{violation, "undocumented-event", "1", "stream feed: event 3 name", "", "", reference},
		},
		event: on("created", "bench", func(s *stream, ev event) { ev.name = "create"; s.send(ev) }),
	},
	{
		ID: "no-event-name", Doc: "it leaves out the event field", In: "events/story",
		Says: []Finding{
			{difference, "event-name", "1", "stream feed: event 3 (created)", "created", "message", candidate},
			{violation, "undocumented-event", "1", "stream feed: event 3 name", "", "", candidate},
		},
		Turned: []Finding{
			{difference, "event-name", "1", "stream feed: event 3 (message)", "message", "created", reference},
			{violation, "undocumented-event", "1", "stream feed: event 3 name", "", "", reference},
		},
		event: on("created", "bench", func(s *stream, ev event) { s.raw("data: " + string(s.server.Style.JSON(ev.data)) + "\n\n") }),
	},
	{
		ID: "wrong-event-data", Doc: "it gives an item another name in an event", In: "events/story",
		Says: []Finding{
			{difference, "value", "1", "stream feed: event 3 (created) data /name", `"bench"`, `"bank"`, silent},
		},
		event: on("created", "bench", func(s *stream, ev event) { ev.data["name"] = "bank"; s.send(ev) }),
	},
	{
		ID: "wrong-event-type", Doc: "it writes a number instead of a string", In: "events/story",
		Says: []Finding{
			{difference, "type", "1", "stream feed: event 3 (created) data /name", `"bench"`, "5", candidate},
			{violation, "type", "1", "stream feed: event 3 data/name", "", "", candidate},
		},
		event: on("created", "bench", func(s *stream, ev event) { ev.data["name"] = 5; s.send(ev) }),
	},
	{
		ID: "event-wrong-twice", Doc: "it gives an item another name in an event, and an invalid time", In: "events/story",
		Says: []Finding{
			{difference, "value", "1", "stream feed: event 3 (created) data /name", `"bench"`, `"bank"`, silent},
			{difference, "value", "1", "stream feed: event 3 (created) data /at", `"‹time›"`, `"soon"`, candidate},
			{violation, "format", "1", "stream feed: event 3 data/at", "", "", candidate},
		},
		event: on("created", "bench", func(s *stream, ev event) { ev.data["name"], ev.data["at"] = "bank", "soon"; s.send(ev) }),
	},
	{
		ID: "other-id-in-event", Doc: "it gives an item another id in an event", In: "events/story",
		Says: []Finding{
			{difference, "identity", "1", "stream feed: event 2 (created) data /id", `"‹id›"`, `"‹id›"`, silent},
		},
		event: on("created", "stool", func(s *stream, ev event) { ev.data["id"] = newID(); s.send(ev) }),
	},
	{
		ID: "event-not-json", Doc: "it sends plain text instead of JSON in an event", In: "events/story",
		Says: []Finding{
			{difference, "body-not-json", "1", "stream feed: event 3 (created) data", `{"at":"‹time›","id":"‹id›","name":"bench"}`, "a bench", candidate},
			{violation, "json-syntax", "1", "stream feed: event 3 data", "", "", candidate},
		},
		event: on("created", "bench", func(s *stream, ev event) { ev.text = []byte("a bench"); s.send(ev) }),
	},
	{
		ID: "event-without-data", Doc: "it sends an event without a data field, which clients ignore", In: "events/story",
		Says: []Finding{
			{difference, "field-missing", "1", "stream feed: event 3 (created) data", `{"at":"‹time›","id":"‹id›","name":"bench"}`, "—", candidate},
			{violation, "event-data", "1", "stream feed: event 3 data", "", "", candidate},
		},
		event: on("created", "bench", func(s *stream, _ event) { s.raw("event: created\n\n") }),
	},
	{
		ID: "event-id", Doc: "it numbers an event", In: "events/story",
		Says: []Finding{
			{difference, "value", "1", "stream feed: event 3 (created) id", "—", "7", silent},
		},
		event: on("created", "bench", func(s *stream, ev event) {
			s.raw("event: created\nid: 7\ndata: " + string(s.server.Style.JSON(ev.data)) + "\n\n")
		}),
	},
	{
		ID: "event-retry", Doc: "it sets a reconnection time", In: "events/story",
		Says: []Finding{
			{difference, "value", "1", "stream feed: event 3 (created) retry", "—", "10", silent},
		},
		event: on("created", "bench", func(s *stream, ev event) {
			s.raw("event: created\nretry: 10\ndata: " + string(s.server.Style.JSON(ev.data)) + "\n\n")
		}),
	},
	{
		ID: "comment", Doc: "it sends a comment that is not declared", In: "events/story",
		Says: []Finding{
			{difference, "event-extra", "1", "stream feed: event 3 (a comment)", "—", "a comment working on it", candidate},
			{violation, "undocumented-comment", "1", "stream feed: event 3", "", "", candidate},
		},
		event: on("created", "bench", func(s *stream, ev event) { s.raw(": working on it\n\n"); s.send(ev) }),
	},
	{
		ID: "framing", Doc: "it writes equivalent events in other bytes, where bytes count", In: "events/bytes",
		Says: []Finding{
			{difference, "event-framing", "1", "stream feed: event 2 (created) framing", `"event: •\ndata: •\n\n"`, `"event:•\ndata:•\n\n"`, silent},
		},
		event: on("created", "bowl", func(s *stream, ev event) {
			s.raw("event:created\ndata:" + string(s.server.Style.JSON(ev.data)) + "\n\n")
		}),
	},
	{
		ID: "never-ends", Doc: "it keeps a stream open that it should end", In: "events/end", Clock: true,
		Says: []Finding{
			{difference, "stream-end", "1", "stream feed: end", "ended by the server, after event 2 (created)", "ended by the client, after event 2 (created)", silent},
			{shortfall, "end-awaited", "3", "stream feed: end", "the end of the stream", "it did not come within 2s", candidate},
		},
		event: func(s *stream, ev event) { s.last = 0; s.send(ev) },
	},
	{
		ID: "ends-early", Doc: "it ends a stream after the first event", In: "events/story",
		Says: []Finding{
			{difference, "stream-end", "1", "stream feed: end", "ended by the client, after event 4 (deleted)", "ended by the server, after event 2 (created)", silent},
			{shortfall, "event-awaited", "5", "stream feed: event", `event "deleted" with "‹id›" at $.id`, "the stream ended before it came; 1 other event came since", candidate},
		},
		event: on("created", "stool", func(s *stream, ev event) {
			s.send(ev)
			s.raw("")
			s.w.put([]byte("0\r\n\r\n"))
			s.ended = true
		}),
	},
	{
		ID: "half-event", Doc: "it ends a stream in the middle of an event", In: "events/story",
		Says: []Finding{streamBroken(`the stream ended inside an event: "event: created\ndata: {\"id\":\"itm_"`)},
		event: on("created", "bench", func(s *stream, _ event) {
			s.raw(`event: created` + "\n" + `data: {"id":"itm_`)
			s.w.put([]byte("0\r\n\r\n"))
			s.ended = true
		}),
	},
	{
		ID: "stream-cut", Doc: "it closes the connection between two events, without the end of the chunks", In: "events/story",
		Says:  []Finding{streamBroken("the connection was closed after ‹some› bytes of the body")},
		event: on("created", "bench", func(s *stream, _ event) { s.ended = true }),
	},
	{
		ID: "stream-reset", Doc: "it resets a stream's connection between two events", In: "events/story",
		Says: []Finding{streamBroken("the connection was reset after ‹some› bytes of the body")},
		event: on("created", "bench", func(s *stream, _ event) {
			s.w.reset()
			s.ended = true
		}),
	},
	{
		ID: "stream-cut-chunk", Doc: "it closes the connection in the middle of a chunk", In: "events/story",
		Says: []Finding{streamBroken(`the connection was closed after ‹some› bytes of the body inside an event: "event: created\ndata: "`)},
		event: on("created", "bench", func(s *stream, _ event) {
			s.w.put([]byte("40\r\nevent: created\ndata: "))
			s.ended = true
		}),
	},
	{
		ID: "endless-stream", Doc: "it sends the event about an item again and again, as fast as it can", In: "events/story",
		Says: []Finding{
			{difference, "event-doubled", "1", "stream feed: event 4 (created)", "—", `created {"at":"‹time›","id":"‹id›","name":"bench"}`, silent},
			streamBroken("more than 800 events came"),
		},
		event: on("created", "bench", func(s *stream, ev event) {
			for !s.ended {
				s.send(ev)
			}
		}),
	},
	{
		ID: "endless-event", Doc: "it sends an event that does not end", In: "events/story", Clock: true,
		Says: []Finding{streamBroken(`event is too long inside an event: "event: created\ndata: lamp lamp lamp lamp lamp lamp lamp lamp la…`)},
		event: on("created", "bench", func(s *stream, _ event) {
			s.raw("event: created\ndata: ")
			s.w.flood(chunk(filler), 1<<40)
			s.ended = true
		}),
	},
}

// hold delays one event, after changing it, until the next event has been sent.
func hold(s *stream, ev event, which string, change func(event)) {
	if ev.name+" "+ev.item == which {
		change(ev)
		s.held = append(s.held, ev)
		return
	}
	s.send(ev)
	for _, held := range s.held {
		s.send(held)
	}
	s.held = nil
}

// beatFaults are wrong times or contents of the pings that keep a stream alive.
var beatFaults = []*Fault{
	{
		ID: "late-heartbeat", Doc: "it pings late", In: "events/beats", Clock: true,
		Says: []Finding{
			{shortfall, "heartbeat-late", "1", "stream feed: heartbeat 2", "2s after the opening, give or take 200ms", "2.3s", candidate},
		},
		late: func(n int, due time.Duration) (time.Duration, bool) {
			if n == 2 {
				due += 300 * time.Millisecond
			}
			return due, false
		},
	},
	{
		ID: "early-heartbeat", Doc: "it pings early", In: "events/beats", Clock: true,
		Says: []Finding{
			{shortfall, "heartbeat-early", "1", "stream feed: heartbeat 2", "2s after the opening, give or take 200ms", "1.7s", candidate},
		},
		late: func(n int, due time.Duration) (time.Duration, bool) {
			if n == 2 {
				due -= 300 * time.Millisecond
			}
			return due, false
		},
	},
	{
		ID: "missing-heartbeat", Doc: "it stops sending pings", In: "events/beats", Clock: true,
		Says: []Finding{
			{shortfall, "heartbeat-missing", "1", "stream feed: heartbeat 3", "3 in 3.5s", "2", candidate},
		},
		late: func(n int, due time.Duration) (time.Duration, bool) { return due, n == 3 },
	},
	{
		ID: "no-heartbeat", Doc: "it never pings", In: "events/beats", Clock: true,
		Says: []Finding{
			{shortfall, "heartbeat-missing", "1", "stream feed: heartbeat 1", "3 in 3.5s", "0", candidate},
		},
		late: func(_ int, due time.Duration) (time.Duration, bool) { return due, true },
	},
	{
		ID: "talking-heartbeat", Doc: "it sends pings with data", In: "events/beats", Clock: true,
		Says: []Finding{
			{difference, "heartbeat", "1", "stream feed: heartbeat 1 (ping)", "ping {}", "ping still here", candidate},
			{violation, "json-syntax", "1", "stream feed: heartbeat 1 data", "", "", candidate},
			{violation, "json-syntax", "1", "stream feed: heartbeat 2 data", "", "", candidate},
			{violation, "json-syntax", "1", "stream feed: heartbeat 3 data", "", "", candidate},
		},
		ping: "still here",
	},
	{
		ID: "slow-heartbeat", Doc: "it pings half as often as it should", In: "events/beats", Clock: true,
		Says: []Finding{
			{shortfall, "heartbeat-late", "1", "stream feed: heartbeat 1", "1s after the opening, give or take 200ms", "2s", candidate},
		},
		late: func(_ int, due time.Duration) (time.Duration, bool) { return 2 * due, false },
	},
}

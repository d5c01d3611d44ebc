package chat

import (
	"slices"
	"strings"
	"time"
)

// messageFaults send the right messages, but too few, too many, or to the wrong member.
var messageFaults = []*Fault{
	{
		ID: "lost-message", Doc: "it loses a message", In: "talk/story",
		Says: []Finding{
			{difference, "event-missing", "2", "stream bob: message 2 (said)", `said {"at":"‹time›","from":"ann","id":"‹id›","room":"r-‹unique›","text":"lamp","type":"said"}`, "—", silent},
		},
		tell: lamp(func(*member, message) {}),
	},
	{
		ID: "doubled-message", Doc: "it sends a message twice", In: "talk/story",
		Says: []Finding{
			{difference, "event-doubled", "2", "stream bob: message 3 (said)", "—", `said {"at":"‹time›","from":"ann","id":"‹id›","room":"r-‹unique›","text":"lamp","type":"said"}`, silent},
		},
		tell: lamp(func(m *member, msg message) { m.send(msg); m.send(msg) }),
	},
	{
		ID: "swapped-messages", Doc: "it sends two messages in the wrong order", In: "talk/story",
		Says: []Finding{
			{difference, "event-order", "2", "stream bob: message 3 (said)", `message 2: said {"at":"‹time›","from":"ann","id":"‹id›","room":"r-‹unique›","text":"lamp","type":"sa…`, `message 3: said {"at":"‹time›","from":"ann","id":"‹id›","room":"r-‹unique›","text":"lamp","type":"sa…`, silent},
		},
		Turned: []Finding{
			{difference, "event-order", "2", "stream bob: message 3 (said)", `message 2: said {"at":"‹time›","from":"ann","id":"‹id›","room":"r-‹unique›","text":"stool","type":"s…`, `message 3: said {"at":"‹time›","from":"ann","id":"‹id›","room":"r-‹unique›","text":"stool","type":"s…`, silent},
		},
		tell: hold("lamp", "stool"),
	},
	{
		ID: "wrong-socket", Doc: "it sends a message to a member in another room", In: "talk/story",
		Says: []Finding{
			{difference, "event-extra", "3", "stream eve: message 2 (said)", "—", `said {"at":"‹time›","from":"ann","id":"‹id›","room":"r-‹unique›","text":"lamp","type":"said"}`, silent},
			{difference, "event-missing", "2", "stream bob: message 2 (said)", `said {"at":"‹time›","from":"ann","id":"‹id›","room":"r-‹unique›","text":"lamp","type":"said"}`, "—", silent},
		},
		Turned: []Finding{
			{difference, "event-extra", "2", "stream bob: message 2 (said)", "—", `said {"at":"‹time›","from":"ann","id":"‹id›","room":"r-‹unique›","text":"lamp","type":"said"}`, silent},
			{difference, "event-missing", "3", "stream eve: message 2 (said)", `said {"at":"‹time›","from":"ann","id":"‹id›","room":"r-‹unique›","text":"lamp","type":"said"}`, "—", silent},
		},
		tell: lamp(func(m *member, msg message) { other(m, "eve").send(msg) }),
	},
	{
		ID: "echoed-message", Doc: "it sends a message to its sender, too", In: "talk/story",
		Says: []Finding{
			{difference, "event-extra", "1", "stream ann: message 3 (said)", "—", `said {"at":"‹time›","from":"ann","id":"‹id›","room":"r-‹unique›","text":"lamp","type":"said"}`, silent},
		},
		tell: lamp(func(m *member, msg message) { m.send(msg); other(m, "ann").send(msg) }),
	},
	{
		ID: "overheard-whisper", Doc: "it sends a whisper to all", In: "talk/whisper",
		Says: []Finding{
			{difference, "event-extra", "2", "stream bob: message 3 (whispered)", "—", `whispered {"from":"ann","text":"psst","type":"whispered"}`, silent},
		},
		tell: on("whispered", "psst", func(m *member, msg message) { m.send(msg); other(m, "bob").send(msg) }),
	},
	{
		ID: "forbidden-echo", Doc: "it sends a message to its sender, for whom it must not come", In: "talk/never", Clock: true,
		Says: []Finding{
			{difference, "event-extra", "1", "stream ann: message 3 (said)", "—", `said {"at":"‹time›","from":"ann","id":"‹id›","room":"r-‹unique›","text":"shelf","type":"said"}`, silent},
			{shortfall, "event-forbidden", "4", "stream ann: message 3 (said)", "nothing of the kind for 20ms", `said {"at":"‹time›","from":"ann","id":"‹id›","room":"r-‹unique›","text":"shelf","type":"said"}`, candidate},
		},
		tell: on("said", "shelf", func(m *member, msg message) { m.send(msg); other(m, "ann").send(msg) }),
	},
	{
		ID: "unheard-post", Doc: "it sends no message about what was posted", In: "talk/http",
		Says: []Finding{
			{difference, "event-missing", "1", "stream ann: message 2 (said)", `said {"at":"‹time›","from":"web","id":"‹id›","room":"r-‹unique›","text":"posted","type":"said"}`, "—", silent},
			{shortfall, "event-awaited", "3", "stream ann: event", `message "said" with "‹id›" at $.id`, "it did not come within 5s; no other message came since", candidate},
		},
		tell: on("said", "posted", func(*member, message) {}),
	},
	{
		ID: "swapped-in-room", Doc: "it swaps two messages of one room, in a scenario where rooms have no order", In: "talk/rooms",
		Says: []Finding{
			{difference, "event-order", "2", "stream bob: message 4 (said)", `message 3: said {"at":"‹time›","from":"ann","id":"‹id›","room":"r-‹unique›","text":"news","type":"sa…`, `message 4: said {"at":"‹time›","from":"ann","id":"‹id›","room":"r-‹unique›","text":"news","type":"sa…`, silent},
		},
		Turned: []Finding{
			{difference, "event-order", "2", "stream bob: message 5 (said)", `message 3: said {"at":"‹time›","from":"ann","id":"‹id›","room":"r-‹unique›","text":"more","type":"sa…`, `message 5: said {"at":"‹time›","from":"ann","id":"‹id›","room":"r-‹unique›","text":"more","type":"sa…`, silent},
		},
		tell: hold("news", "more"),
	},
	{
		ID: "late-message", Doc: "it sends a message late", In: "talk/soon", Clock: true,
		Says: []Finding{
			{difference, "event-gap", "1", "stream ann: message 2 (sent) gap", "0s after step 2", "2s after step 2", silent},
		},
		tell: on("sent", "clock", func(m *member, msg message) { m.put(outgoing{wait: 2 * time.Second}); m.send(msg) }),
	},
	{
		ID: "endless-messages", Doc: "it sends a message again and again", In: "frames/story",
		Says: []Finding{broken("more than 300 messages came")},
		tell: desk(func(m *member, msg message) {
			for range 500 {
				m.send(msg)
			}
		}),
	},
	{
		ID: "no-heartbeats", Doc: "it sends no heartbeats", In: "control/cadence", Clock: true,
		Says: []Finding{
			{shortfall, "heartbeat-missing", "1", "stream ann: heartbeat 1", "3 in 3.5s", "0", candidate},
		},
		tell: on("ping", "1s", func(*member, message) {}),
	},
	{
		ID: "undocumented-message", Doc: "it sends a message that the contract does not have", In: "talk/story",
		Says: []Finding{
			{difference, "event-name", "2", "stream bob: message 2 (said)", "said", "shouted", candidate},
			{violation, "undocumented-event", "2", "stream bob: message 2 name", "", "", candidate},
		},
		Turned: []Finding{
			{difference, "event-name", "2", "stream bob: message 2 (shouted)", "shouted", "said", reference},
			{violation, "undocumented-event", "2", "stream bob: message 2 name", "", "", reference},
		},
		tell: value(func(o object) { o["type"] = "shouted" }),
	},
}

// hold sends a message after the next one to the same member.
func hold(first, next string) func(*member, message) {
	return func(m *member, msg message) {
		if msg.kind == "said" && msg.about == first {
			m.held = append(m.held, msg)
			return
		}
		m.send(msg)
		if msg.kind == "said" && msg.about == next {
			for _, held := range m.held {
				m.send(held)
			}
			m.held = nil
		}
	}
}

// other returns the member with a name who plays in the same scenario.
func other(m *member, name string) *member {
	story := func(o *member) string { return strings.TrimPrefix(o.rooms[0], "x-") }
	i := slices.IndexFunc(m.server.members, func(o *member) bool { return o.name == name && story(o) == story(m) })
	return m.server.members[i]
}

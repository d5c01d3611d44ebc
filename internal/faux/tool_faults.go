package faux

import (
	"fmt"
	"maps"
	"strings"
)

// ToolFaults lists the ways in which tools are wrong.
func ToolFaults() []*ToolFault {
	var all []*ToolFault
	for _, some := range [][]*ToolFault{responseFaults, notificationFaults, ownFaults, lineFaults, endFaults} {
		all = append(all, some...)
	}
	return all
}

// to returns a hook that writes an item in another way, which is the response to the request with an id.
func to(id int, write func(r *toolRun, m object)) func(*toolRun, object) bool {
	return func(r *toolRun, m object) bool {
		v, _ := m["result"].(object)
		if v["name"] == nil || fmt.Sprint(m["id"]) != fmt.Sprint(id) {
			return false
		}
		write(r, m)
		return true
	}
}

// told returns a hook that writes the n-th of the notifications or requests of a method in another way.
func told(method string, n int, write func(r *toolRun, m object)) func(*toolRun, object) bool {
	return func(r *toolRun, m object) bool {
		if m["method"] != method {
			return false
		}
		r.told++
		if r.told != n {
			return false
		}
		write(r, m)
		return true
	}
}

// with returns a message with another member.
func with(m object, name string, value any) object {
	m = maps.Clone(m)
	m[name] = value
	return m
}

// inResult returns a hook that changes the item in the response to the request with an id.
func inResult(id int, change func(result object)) func(*toolRun, object) bool {
	return to(id, func(r *toolRun, m object) {
		value := maps.Clone(m["result"].(object))
		change(value)
		r.put(with(m, "result", value))
	})
}

// inError returns a hook that changes a member of the errors with a message.
func inError(message, name string, value any) func(*toolRun, object) bool {
	return func(r *toolRun, m object) bool {
		problem, _ := m["error"].(object)
		if problem["message"] != message {
			return false
		}
		r.put(with(m, "error", with(problem, name, value)))
		return true
	}
}

// responseFaults are in the responses to requests.
var responseFaults = []*ToolFault{
	{
		ID: "response-lost", Doc: "it does not answer the last request", In: "items/story",
		Says: []Finding{
			{difference, "event-missing", "1", "stream tool: line 6 (get result)", `get result {"id":4,"jsonrpc":"2.0","result":{"id":"‹id›","name":"chair"}}`, "—", silent},
			{shortfall, "event-awaited", "9", "stream tool: event", "a line with 4 at $.id", "it did not come within 5s; no other line came since", candidate},
		},
		say: to(4, func(*toolRun, object) {}),
	},
	{
		ID: "response-doubled", Doc: "it answers a request twice", In: "items/story",
		Says: []Finding{
			{difference, "event-doubled", "1", "stream tool: line 6 (get result)", "—", `get result {"id":3,"jsonrpc":"2.0","result":{"id":"‹id›","name":"lamp"}}`, silent},
		},
		say: to(3, func(r *toolRun, m object) { r.put(m); r.put(m) }),
	},
	{
		ID: "ids-swapped", Doc: "it swaps the ids of two responses", In: "calls/concurrent",
		Says: []Finding{
			{difference, "value", "1", "stream tool: line 2 (slow result) data /result/tag", `"b"`, `"a"`, silent},
			{difference, "value", "1", "stream tool: line 3 (slow result) data /result/tag", `"a"`, `"b"`, silent},
		},
		Turned: []Finding{
			{difference, "value", "1", "stream tool: line 2 (slow result) data /result/tag", `"b"`, `"a"`, silent},
			{difference, "value", "1", "stream tool: line 3 (slow result) data /result/tag", `"a"`, `"b"`, silent},
		},
		say: func(r *toolRun, m object) bool {
			v, _ := m["result"].(object)
			other, is := map[any]int{"a": 2, "b": 1}[v["tag"]]
			if is {
				r.put(with(m, "id", other))
			}
			return is
		},
	},
	{
		ID: "id-wrong", Doc: "it answers with another id", In: "items/story",
		Says: []Finding{
			{difference, "event-extra", "1", "stream tool: line 6 (result)", "—", `result {"id":5,"jsonrpc":"2.0","result":{"id":"‹id›","name":"chair"}}`, silent},
			{difference, "event-missing", "1", "stream tool: line 6 (get result)", `get result {"id":4,"jsonrpc":"2.0","result":{"id":"‹id›","name":"chair"}}`, "—", silent},
			{shortfall, "event-awaited", "9", "stream tool: event", "a line with 4 at $.id", "it did not come within 5s; 1 other line came since", candidate},
		},
		say: to(4, func(r *toolRun, m object) { r.put(with(m, "id", 5)) }),
	},
	{
		ID: "id-as-text", Doc: "it answers with the id as a text", In: "items/story",
		Says: []Finding{
			{difference, "event-extra", "1", "stream tool: line 6 (result)", "—", `result {"id":"4","jsonrpc":"2.0","result":{"id":"‹id›","name":"chair"}}`, silent},
			{difference, "event-missing", "1", "stream tool: line 6 (get result)", `get result {"id":4,"jsonrpc":"2.0","result":{"id":"‹id›","name":"chair"}}`, "—", silent},
			{shortfall, "event-awaited", "9", "stream tool: event", "a line with 4 at $.id", "it did not come within 5s; 1 other line came since", candidate},
		},
		say: to(4, func(r *toolRun, m object) { r.put(with(m, "id", "4")) }),
	},
	{
		ID: "id-missing", Doc: "it answers without an id", In: "items/story",
		Says: []Finding{
			{difference, "event-extra", "1", "stream tool: line 6 (result)", "—", `result {"jsonrpc":"2.0","result":{"id":"‹id›","name":"chair"}}`, candidate},
			{difference, "event-missing", "1", "stream tool: line 6 (get result)", `get result {"id":4,"jsonrpc":"2.0","result":{"id":"‹id›","name":"chair"}}`, "—", silent},
			{shortfall, "event-awaited", "9", "stream tool: event", "a line with 4 at $.id", "it did not come within 5s; 1 other line came since", candidate},
			{violation, "missing-field", "1", "stream tool: line 6 data/id", "", "", candidate},
		},
		say: to(4, func(r *toolRun, m object) {
			m = maps.Clone(m)
			delete(m, "id")
			r.put(m)
		}),
	},
	{
		ID: "error-code", Doc: "it answers with another code", In: "items/errors[no-method]", Also: true,
		Says: []Finding{
			{difference, "value", "1", "stream tool: line 1 (upside/down error) data /error/code", "-‹serial›", "-‹serial›", silent},
		},
		say: inError("no such method", "code", -32600),
	},
	{
		ID: "error-message", Doc: "it answers with another message", In: "items/errors[no-item]", Also: true,
		Says: []Finding{
			{difference, "value", "1", "stream tool: line 1 (get error) data /error/message", `"no such item"`, `"not found"`, silent},
		},
		say: inError("no such item", "message", "not found"),
	},
	{
		ID: "error-code-as-text", Doc: "it answers with a code that is a text", In: "items/errors[no-item]", Also: true,
		Says: []Finding{
			{difference, "type", "1", "stream tool: line 1 (get error) data /error/code", "-‹serial›", `"-‹serial›"`, candidate},
			{violation, "type", "1", "stream tool: line 1 data/error/code", "", "", candidate},
		},
		say: inError("no such item", "code", "-32004"),
	},
	{
		ID: "error-instead-of-result", Doc: "it answers with an error", In: "items/story",
		Says: []Finding{
			{difference, "event-extra", "1", "stream tool: line 6 (get error)", "—", `get error {"error":{"code":-‹serial›,"message":"no such item"},"id":4,"jsonrpc":"2.0"}`, silent},
			{difference, "event-missing", "1", "stream tool: line 6 (get result)", `get result {"id":4,"jsonrpc":"2.0","result":{"id":"‹id›","name":"chair"}}`, "—", silent},
		},
		say: to(4, func(r *toolRun, m object) { r.put(failure(m["id"], -32004, "no such item")) }),
	},
	{
		ID: "result-and-error", Doc: "it answers with both a result and an error", In: "items/story",
		Says: []Finding{
			{difference, "event-extra", "1", "stream tool: line 6 (get error)", "—", `get error {"error":{"code":0,"message":"none"},"id":4,"jsonrpc":"2.0","result":{"id":"‹id›","name":"…`, candidate},
			{difference, "event-missing", "1", "stream tool: line 6 (get result)", `get result {"id":4,"jsonrpc":"2.0","result":{"id":"‹id›","name":"chair"}}`, "—", silent},
			{violation, "undocumented-field", "1", "stream tool: line 6 data/result", "", "", candidate},
		},
		say: to(4, func(r *toolRun, m object) { r.put(with(m, "error", object{"code": 0, "message": "none"})) }),
	},
	{
		ID: "no-result", Doc: "it answers with neither a result nor an error", In: "items/story",
		Says: []Finding{
			{difference, "event-extra", "1", "stream tool: line 6", "—", `line {"id":4,"jsonrpc":"2.0"}`, candidate},
			{difference, "event-missing", "1", "stream tool: line 6 (get result)", `get result {"id":4,"jsonrpc":"2.0","result":{"id":"‹id›","name":"chair"}}`, "—", silent},
			{violation, "undocumented-event", "1", "stream tool: line 6 name", "", "", candidate},
		},
		say: to(4, func(r *toolRun, m object) { r.put(object{"jsonrpc": "2.0", "id": m["id"]}) }),
	},
	{
		ID: "no-version", Doc: "it answers without the version", In: "items/story",
		Says: []Finding{
			{difference, "field-missing", "1", "stream tool: line 6 (get result) data /jsonrpc", `"2.0"`, "—", candidate},
			{violation, "missing-field", "1", "stream tool: line 6 data/jsonrpc", "", "", candidate},
		},
		say: to(4, func(r *toolRun, m object) { r.put(object{"id": m["id"], "result": m["result"]}) }),
	},
	{
		ID: "other-item", Doc: "it answers with the other item", In: "items/story",
		Says: []Finding{
			{difference, "value", "1", "stream tool: line 5 (get result) data /result/name", `"lamp"`, `"chair"`, silent},
		},
		say: inResult(3, func(v object) { v["name"] = "chair" }),
	},
	{
		ID: "other-id", Doc: "it answers with an id that nothing has", In: "items/story",
		Says: []Finding{
			{difference, "identity", "1", "stream tool: line 5 (get result) data /result/id", `"‹id›"`, `"‹id›"`, silent},
		},
		say: inResult(3, func(v object) { v["id"] = newID() }),
	},
	{
		ID: "extra-member", Doc: "it answers with one member more", In: "items/story",
		Says: []Finding{
			{difference, "field-extra", "1", "stream tool: line 5 (get result) data /result/color", "—", `"red"`, candidate},
			{violation, "undocumented-field", "1", "stream tool: line 5 data/result/color", "", "", candidate},
		},
		say: inResult(3, func(v object) { v["color"] = "red" }),
	},
	{
		ID: "no-arguments", Doc: "it ignores its arguments", In: "start/args[one]", Also: true,
		Says: []Finding{
			{difference, "element-missing", "1", "stream tool: line 1 (initialize result) data /result/args/0", `"--shelf"`, "—", silent},
			{difference, "element-missing", "1", "stream tool: line 1 (initialize result) data /result/args/1", `"top"`, "—", silent},
			{shortfall, "event-awaited", "3", "stream tool: event", `line "initialize result" with ["--shelf","top"] at $.result.args`, "it did not come within 5s; 1 other line came since", candidate},
		},
		say: func(r *toolRun, m object) bool {
			v, _ := m["result"].(object)
			if v["args"] == nil {
				return false
			}
			r.put(with(m, "result", with(v, "args", []any{})))
			return true
		},
	},
	{
		ID: "other-variable", Doc: "it ignores a variable", In: "start/env[other]", Also: true,
		Says: []Finding{
			{difference, "value", "1", "stream tool: line 2 (initialize result) data /result/color", `"green"`, `"red"`, silent},
		},
		say: func(r *toolRun, m object) bool {
			v, _ := m["result"].(object)
			if v["color"] == nil {
				return false
			}
			r.put(with(m, "result", with(v, "color", "red")))
			return true
		},
	},
	{
		ID: "other-directory", Doc: "it works in another directory", In: "start/directory",
		Says: []Finding{
			{difference, "value", "1", "stream tool: line 1 (initialize result) data /result/directory", `"data"`, `"/"`, silent},
		},
		say: func(r *toolRun, m object) bool {
			v, _ := m["result"].(object)
			if v["directory"] != "data" {
				return false
			}
			r.put(with(m, "result", with(v, "directory", "/")))
			return true
		},
	},
	{
		ID: "giant-cut", Doc: "it leaves out the end of a long text", In: "calls/giant",
		Says: []Finding{
			{difference, "value", "1", "stream tool: line 1 (fill result) data /result/text", "[299000 bytes cut] …xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…", "[299000 bytes cut] …xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…", silent},
		},
		say: func(r *toolRun, m object) bool {
			v, _ := m["result"].(object)
			text, _ := v["text"].(string)
			if text == "" {
				return false
			}
			r.put(with(m, "result", object{"text": text[1:]}))
			return true
		},
	},
	{
		ID: "batch-unpacked", Doc: "it answers the messages of a batch one by one", In: "calls/batch", unpacks: true,
		Says: []Finding{
			{difference, "event-extra", "1", "stream tool: line 1 (echo result)", "—", `echo result {"id":1,"jsonrpc":"2.0","result":{"value":"a"}}`, silent},
			{difference, "event-extra", "1", "stream tool: line 2 (upside/down error)", "—", `upside/down error {"error":{"code":-‹serial›,"message":"no such method"},"id":2,"jsonrpc":"2.0"}`, silent},
			{difference, "event-missing", "1", "stream tool: line 1 (batch)", `batch [{"id":1,"jsonrpc":"2.0","result":{"value":"a"}},{"error":{"code":-‹serial›,"message":"no such…`, "—", silent},
			{shortfall, "event-awaited", "3", "stream tool: event", `line "batch"`, "it did not come within 5s; 2 other lines came since", candidate},
		},
	},
	{
		ID: "answers-notification", Doc: "it answers a notification", In: "calls/notified",
		Says: []Finding{
			{difference, "event-extra", "1", "stream tool: line 1 (result)", "—", `result {"id":null,"jsonrpc":"2.0","result":{}}`, candidate},
			{violation, "type", "1", "stream tool: line 1 data/id", "", "", candidate},
		},
		take: func(r *toolRun, line string) bool {
			if !strings.HasPrefix(line, "{") || !strings.Contains(line, `"note"`) {
				return false
			}
			r.send(result(nil, object{}))
			return true
		},
	},
}

// notificationFaults are in notifications.
var notificationFaults = []*ToolFault{
	{
		ID: "notification-missing", Doc: "it does not announce an item", In: "items/story",
		Says: []Finding{
			{difference, "event-missing", "1", "stream tool: line 4 (changed)", `changed {"jsonrpc":"2.0","method":"changed","params":{"id":"‹id›","items":2}}`, "—", silent},
		},
		say: told("changed", 2, func(*toolRun, object) {}),
	},
	{
		ID: "notification-doubled", Doc: "it announces an item twice", In: "items/story",
		Says: []Finding{
			{difference, "event-doubled", "1", "stream tool: line 5 (changed)", "—", `changed {"jsonrpc":"2.0","method":"changed","params":{"id":"‹id›","items":2}}`, silent},
		},
		say: told("changed", 2, func(r *toolRun, m object) { r.put(m); r.put(m) }),
	},
	{
		ID: "notification-extra", Doc: "it announces what nobody has asked for", In: "calls/notified",
		Says: []Finding{
			{difference, "event-extra", "1", "stream tool: line 1 (step)", "—", `step {"jsonrpc":"2.0","method":"step","params":{"of":1,"step":1}}`, silent},
		},
		take: func(r *toolRun, line string) bool {
			if strings.HasPrefix(line, "{") && strings.Contains(line, `"note"`) {
				r.send(notification("step", object{"step": 1, "of": 1}))
			}
			return false
		},
	},
	{
		ID: "notification-early", Doc: "it sends the third step before the second", In: "calls/count",
		Says: []Finding{
			{difference, "event-order", "1", "stream tool: line 3 (step)", `line 2: step {"jsonrpc":"2.0","method":"step","params":{"of":3,"step":2}}`, `line 3: step {"jsonrpc":"2.0","method":"step","params":{"of":3,"step":2}}`, silent},
		},
		Turned: []Finding{
			{difference, "event-order", "1", "stream tool: line 3 (step)", `line 2: step {"jsonrpc":"2.0","method":"step","params":{"of":3,"step":3}}`, `line 3: step {"jsonrpc":"2.0","method":"step","params":{"of":3,"step":3}}`, silent},
		},
		say: func(r *toolRun, m object) bool {
			p, _ := m["params"].(object)
			switch {
			case m["method"] != "step" || p["of"] != 3 || p["step"] == 1:
				return false
			case p["step"] == 2:
				r.kept = append(r.kept, m)
			default:
				r.put(m)
				r.put(r.kept[0])
			}
			return true
		},
	},
	{
		ID: "notification-of-another", Doc: "it announces another item", In: "items/story",
		Says: []Finding{
			{difference, "identity", "1", "stream tool: line 4 (changed) data /params/id", `"‹id›"`, `"‹id›"`, silent},
		},
		say: told("changed", 2, func(r *toolRun, m object) {
			r.put(with(m, "params", with(m["params"].(object), "id", r.items[0]["id"])))
		}),
	},
	{
		ID: "notification-with-id", Doc: "it gives a notification an id", In: "items/story",
		Says: []Finding{
			{difference, "field-extra", "1", "stream tool: line 4 (changed) data /id", "—", "1", candidate},
			{violation, "undocumented-field", "1", "stream tool: line 4 data/id", "", "", candidate},
		},
		say: told("changed", 2, func(r *toolRun, m object) { r.put(with(m, "id", 1)) }),
	},
	{
		ID: "notification-renamed", Doc: "it announces an item by another method", In: "items/story",
		Says: []Finding{
			{difference, "event-name", "1", "stream tool: line 4 (changed)", "changed", "altered", candidate},
			{violation, "undocumented-event", "1", "stream tool: line 4 name", "", "", candidate},
		},
		Turned: []Finding{
			{difference, "event-name", "1", "stream tool: line 4 (altered)", "altered", "changed", reference},
			{violation, "undocumented-event", "1", "stream tool: line 4 name", "", "", reference},
		},
		say: told("changed", 2, func(r *toolRun, m object) { r.put(with(m, "method", "altered")) }),
	},
}

// ownFaults are in the tool's own requests.
var ownFaults = []*ToolFault{
	{
		ID: "own-id-reused", Doc: "all its own requests have the same id", In: "own/several", reuses: true,
		Says: []Finding{
			{difference, "event-missing", "1", "stream tool: line 3 (ask result)", `ask result {"id":1,"jsonrpc":"2.0","result":{"answers":["one","two"]}}`, "—", silent},
			{difference, "identity", "1", "stream tool: line 2 (confirm) data /id", "2", "1", silent},
			{difference, "identity", "1", "stream tool: line 4 (confirm) data /id", "3", "1", silent},
			{shortfall, "event-awaited", "7", "stream tool: event", `line "ask result" with ["one","two"] at $.result.answers`, "it did not come within 5s; no other line came since", candidate},
		},
		Turned: []Finding{
			{difference, "event-extra", "1", "stream tool: line 3 (ask result)", "—", `ask result {"id":1,"jsonrpc":"2.0","result":{"answers":["one","two"]}}`, silent},
			{difference, "identity", "1", "stream tool: line 2 (confirm) data /id", "1", "2", silent},
			{difference, "identity", "1", "stream tool: line 3 (confirm) data /id", "1", "3", silent},
			{shortfall, "event-awaited", "7", "stream tool: event", `line "ask result" with ["one","two"] at $.result.answers`, "it did not come within 5s; no other line came since", reference},
		},
	},
	{
		ID: "own-id-is-a-text", Doc: "its own requests have texts as ids", In: "own/refused", Also: true,
		Says: []Finding{
			{difference, "type", "1", "stream tool: line 1 (confirm) data /id", "1", `"1"`, silent},
		},
		say: told("confirm", 1, func(r *toolRun, m object) { r.put(with(m, "id", fmt.Sprint(m["id"]))) }),
	},
	{
		ID: "own-request-lost", Doc: "it does not ask", In: "own/refused", Also: true,
		Says: []Finding{
			{difference, "event-missing", "1", "stream tool: line 1 (confirm)", `confirm {"id":1,"jsonrpc":"2.0","method":"confirm","params":{"text":"sure"}}`, "—", silent},
			{difference, "event-missing", "1", "stream tool: line 2 (ask error)", `ask error {"error":{"code":-‹serial›,"message":"the client has refused"},"id":1,"jsonrpc":"2.0"}`, "—", silent},
			{shortfall, "event-awaited", "3", "stream tool: event", `line "confirm"`, "it did not come within 5s; no other line came since", candidate},
			{shortfall, "event-awaited", "5", "stream tool: event", `line "ask error"`, "it did not come within 5s; no other line came since", candidate},
		},
		say: told("confirm", 1, func(*toolRun, object) {}),
	},
	{
		ID: "impatient", Doc: "it does not wait for the client's answer", In: "own/ask[no]", Also: true, impatient: true,
		Says: []Finding{
			{difference, "value", "1", "stream tool: line 2 (ask result) data /result/answers/0", `"no"`, `"yes"`, silent},
		},
	},
	{
		ID: "asks-something-else", Doc: "it asks with another text", In: "own/several",
		Says: []Finding{
			{difference, "event-missing", "1", "stream tool: line 5 (ask result)", `ask result {"id":2,"jsonrpc":"2.0","result":{"answers":["three"]}}`, "—", silent},
			{difference, "value", "1", "stream tool: line 4 (confirm) data /params/text", `"third"`, `"third?"`, silent},
			{shortfall, "event-awaited", "11", "stream tool: event", "a line with 2 at $.id", "it did not come within 5s; 1 other line came since", candidate},
			{shortfall, "event-awaited", "9", "stream tool: event", `a line with "third" at $.params.text`, "it did not come within 5s; 1 other line came since", candidate},
		},
		say: told("confirm", 3, func(r *toolRun, m object) { r.put(with(m, "params", object{"text": "third?"})) }),
	},
}

// lineFaults are in the lines that the tool writes.
var lineFaults = []*ToolFault{
	{
		ID: "log-on-stdout", Doc: "it logs to standard output", In: "wire/unlogged", Also: true,
		Says: []Finding{
			{difference, "event-extra", "1", "stream tool: line 1", "—", "line opening", candidate},
			{violation, "undocumented-event", "1", "stream tool: line 1 name", "", "", candidate},
		},
		log: func(r *toolRun, text string) bool {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.line([]byte(text))
			return true
		},
	},
	{
		ID: "line-split", Doc: "it writes a message in two lines", In: "items/story",
		Says: []Finding{
			{difference, "event-extra", "1", "stream tool: line 6", "—", `line {"id":4,"jsonrpc":"2.0","result":`, candidate},
			{difference, "event-extra", "1", "stream tool: line 7", "—", `line {"id":"‹id›","name":"chair"}}`, candidate},
			{difference, "event-missing", "1", "stream tool: line 6 (get result)", `get result {"id":4,"jsonrpc":"2.0","result":{"id":"‹id›","name":"chair"}}`, "—", silent},
			{shortfall, "event-awaited", "9", "stream tool: event", "a line with 4 at $.id", "it did not come within 5s; 2 other lines came since", candidate},
			{violation, "undocumented-event", "1", "stream tool: line 6 name", "", "", candidate},
			{violation, "undocumented-event", "1", "stream tool: line 7 name", "", "", candidate},
		},
		say: to(4, func(r *toolRun, m object) {
			line := string(r.Style.JSON(m))
			at := strings.LastIndexByte(line, '{')
			r.raw(line[:at] + "\n" + line[at:] + "\n")
		}),
	},
	{
		ID: "lines-joined", Doc: "it writes two messages in one line", In: "calls/count",
		Says: []Finding{
			{difference, "body-not-json", "1", "stream tool: line 1 (step) data", `{"jsonrpc":"2.0","method":"step","params":{"of":3,"step":1}}`, `{"jsonrpc":"2.0","method":"step","params":{"of":3,"step":1}}{"jsonrpc":"2.0","method":"step","params…`, candidate},
			{difference, "event-missing", "1", "stream tool: line 2 (step)", `step {"jsonrpc":"2.0","method":"step","params":{"of":3,"step":2}}`, "—", silent},
			{shortfall, "event-awaited", "3", "stream tool: event", `line "step" (3 times)`, "it did not come within 5s; 1 other line came since", candidate},
			{violation, "json-trailing-text", "1", "stream tool: line 1 data", "", "", candidate},
		},
		say: func(r *toolRun, m object) bool {
			p, _ := m["params"].(object)
			switch {
			case m["method"] != "step" || p["of"] != 3 || p["step"] == 3:
				return false
			case p["step"] == 1:
				r.kept = append(r.kept, m)
			default:
				r.raw(string(r.Style.JSON(r.kept[0])) + string(r.Style.JSON(m)) + "\n")
			}
			return true
		},
	},
	{
		ID: "blank-line", Doc: "it writes an empty line", In: "calls/count", Also: true,
		Says: []Finding{
			{difference, "event-extra", "1", "stream tool: line 2", "—", "line", candidate},
			{violation, "undocumented-event", "1", "stream tool: line 2 name", "", "", candidate},
		},
		say: told("step", 2, func(r *toolRun, m object) { r.raw("\n"); r.put(m) }),
	},
	{
		ID: "line-end-extra", Doc: "it ends the line that has no end", In: "ends/cut", lastEnd: "\n",
		Says: []Finding{
			{difference, "event-framing", "1", "stream exact: line 1 (cut result) framing", `"•"`, "\"•\\n\"", silent},
		},
	},
	{
		ID: "crlf", Doc: "its lines end in CRLF", In: "wire/exact",
		Says: []Finding{
			{difference, "event-framing", "1", "stream exact: line 2 (step) framing", "\"•\\n\"", "\"•\\r\\n\"", silent},
			{difference, "event-framing", "1", "stream exact: line 3 (step) framing", "\"•\\n\"", "\"•\\r\\n\"", silent},
		},
		say: func(r *toolRun, m object) bool {
			if m["method"] != "step" {
				return false
			}
			r.raw(string(r.Style.JSON(m)) + "\r\n")
			return true
		},
	},
	{
		ID: "byte-order-mark", Doc: "it begins with a byte order mark", In: "start/directory", Also: true,
		Says: []Finding{
			{difference, "body-not-json", "1", "stream tool: line 1 (initialize result) data", `{"id":"first","jsonrpc":"2.0","result":{"args":[],"color":"","directory":"data","session":"‹id›"}}`, "\ufeff{\"id\":\"first\",\"jsonrpc\":\"2.0\",\"result\":{\"args\":[],\"color\":\"\",\"directory\":\"data\",\"session\":\"‹id›\"}}", candidate},
			{violation, "json-byte-order-mark", "1", "stream tool: line 1 data", "", "", candidate},
		},
		start: func(r *toolRun) { r.raw("\ufeff") },
	},
	{
		ID: "not-utf-8", Doc: "it writes bytes that are not UTF-8", In: "items/story",
		Says: []Finding{
			{difference, "value", "1", "stream tool: line 6 (get result) data /result/name", `"chair"`, `"ch�"`, candidate},
			{violation, "json-invalid-utf8", "1", "stream tool: line 6 data/result/name", "", "", candidate},
		},
		say: to(4, func(r *toolRun, m object) {
			r.raw(strings.Replace(string(r.Style.JSON(m)), "chair", "ch\xe9", 1) + "\n")
		}),
	},
	{
		ID: "stderr-differs", Doc: "it logs another text", In: "wire/logged",
		Says: []Finding{
			{difference, "body", "1", "stream logged: error line 3 (stderr) data", "closing", "CLOSING", silent},
		},
		log: func(r *toolRun, text string) bool {
			fmt.Fprintln(r.sys.Err, strings.Replace(text, "closing", "CLOSING", 1))
			return true
		},
	},
	{
		ID: "stderr-lost", Doc: "it does not log", In: "wire/logged",
		Says: []Finding{
			{difference, "event-missing", "1", "stream logged: error line 3 (stderr)", "stderr closing", "—", silent},
		},
		log: func(_ *toolRun, text string) bool { return text == "closing" },
	},
	{
		ID: "stderr-extra", Doc: "it logs something else as well", In: "wire/logged",
		Says: []Finding{
			{difference, "event-extra", "1", "stream logged: error line 4 (stderr)", "—", "stderr closed", silent},
		},
		log: func(r *toolRun, text string) bool {
			fmt.Fprintln(r.sys.Err, text)
			if text == "closing" {
				fmt.Fprintln(r.sys.Err, "closed")
			}
			return true
		},
	},
	{
		ID: "flood", Doc: "it writes without end", In: "calls/notified", Also: true,
		Says: []Finding{
			{difference, "event-extra", "1", "stream tool: line 1 (step)", "—", `step {"jsonrpc":"2.0","method":"step","params":{"step":1,"of":2}}`, silent},
			{shortfall, "stream-broken", "1", "stream tool: end", "to end between two lines", "more than 800 events came", candidate},
		},
		take: func(r *toolRun, line string) bool {
			for {
				if _, err := r.sys.Out.Write([]byte(`{"jsonrpc":"2.0","method":"step","params":{"step":1,"of":2}}` + "\n")); err != nil {
					return true
				}
				select {
				case <-r.sys.Gone:
					return true
				default:
				}
			}
		},
	},
	{
		ID: "endless-line", Doc: "it writes a line without end", In: "calls/notified", Also: true,
		Says: []Finding{
			{shortfall, "stream-broken", "1", "stream tool: end", "to end between two lines", "a line has more than 16777216 bytes", candidate},
		},
		take: func(r *toolRun, line string) bool {
			chunk := []byte(strings.Repeat("x", 1<<20))
			for {
				if _, err := r.sys.Out.Write(chunk); err != nil {
					return true
				}
				select {
				case <-r.sys.Gone:
					return true
				default:
				}
			}
		},
	},
}

// endFaults are in how the tool ends.
var endFaults = []*ToolFault{
	{
		ID: "exit-code", Doc: "it exits with another status", In: "ends/exit[3]", Also: true, status: 1,
		Says: []Finding{
			{difference, "value", "1", "stream tool: line 1 (exit) data /status", "3", "4", silent},
			{shortfall, "event-awaited", "3", "stream tool: event", `line "exit" with 3 at $.status`, "the stream ended before it came; 1 other line came since", candidate},
		},
	},
	{
		ID: "exit-code-after-term", Doc: "it exits with another status after SIGTERM", In: "ends/term", Also: true, status: 143,
		Says: []Finding{
			{difference, "value", "1", "stream tool: line 5 (exit) data /status", "0", "143", silent},
			{shortfall, "event-awaited", "6", "stream tool: event", `line "exit" with 0 at $.status`, "the stream ended before it came; 1 other line came since", candidate},
		},
	},
	{
		ID: "exits-early", Doc: "it exits in the middle", In: "items/story",
		Says: []Finding{
			{difference, "event-missing", "1", "stream tool: line 6 (get result)", `get result {"id":4,"jsonrpc":"2.0","result":{"id":"‹id›","name":"chair"}}`, "—", silent},
			{difference, "event-missing", "1", "stream tool: line 7 (closed)", `closed {"jsonrpc":"2.0","method":"closed","params":{"items":2}}`, "—", silent},
			{difference, "value", "1", "stream tool: line 8 (exit) data /status", "0", "2", silent},
			{shortfall, "event-awaited", "11", "stream tool: event", `line "closed"`, "the stream ended before it came; 1 other line came since", candidate},
			{shortfall, "event-awaited", "9", "stream tool: event", "a line with 4 at $.id", "the stream ended before it came; 1 other line came since", candidate},
		},
		Turned: []Finding{
			{difference, "event-extra", "1", "stream tool: line 6 (get result)", "—", `get result {"id":4,"jsonrpc":"2.0","result":{"id":"‹id›","name":"chair"}}`, silent},
			{difference, "event-extra", "1", "stream tool: line 7 (closed)", "—", `closed {"jsonrpc":"2.0","method":"closed","params":{"items":2}}`, silent},
			{difference, "value", "1", "stream tool: line 6 (exit) data /status", "2", "0", silent},
			{shortfall, "event-awaited", "11", "stream tool: event", `line "closed"`, "the stream ended before it came; 1 other line came since", reference},
			{shortfall, "event-awaited", "9", "stream tool: event", "a line with 4 at $.id", "the stream ended before it came; 1 other line came since", reference},
		},
		take: func(r *toolRun, line string) bool {
			if strings.Contains(line, `"get"`) && strings.Contains(line, `"id":4`) {
				fmt.Fprintln(r.sys.Err, "panic: no shelf")
				r.exit <- 2
				return true
			}
			return false
		},
	},
	{
		ID: "dies", Doc: "it dies by a signal in the middle", In: "items/story",
		Says: []Finding{
			{difference, "event-missing", "1", "stream tool: line 6 (get result)", `get result {"id":4,"jsonrpc":"2.0","result":{"id":"‹id›","name":"chair"}}`, "—", silent},
			{difference, "event-missing", "1", "stream tool: line 7 (closed)", `closed {"jsonrpc":"2.0","method":"closed","params":{"items":2}}`, "—", silent},
			{difference, "field-extra", "1", "stream tool: line 8 (exit) data /signal", "—", `"SIGKILL"`, silent},
			{difference, "field-missing", "1", "stream tool: line 8 (exit) data /status", "0", "—", silent},
			{shortfall, "event-awaited", "11", "stream tool: event", `line "closed"`, "the stream ended before it came; 1 other line came since", candidate},
			{shortfall, "event-awaited", "9", "stream tool: event", "a line with 4 at $.id", "the stream ended before it came; 1 other line came since", candidate},
		},
		Turned: []Finding{
			{difference, "event-extra", "1", "stream tool: line 6 (get result)", "—", `get result {"id":4,"jsonrpc":"2.0","result":{"id":"‹id›","name":"chair"}}`, silent},
			{difference, "event-extra", "1", "stream tool: line 7 (closed)", "—", `closed {"jsonrpc":"2.0","method":"closed","params":{"items":2}}`, silent},
			{difference, "field-extra", "1", "stream tool: line 6 (exit) data /status", "—", "0", silent},
			{difference, "field-missing", "1", "stream tool: line 6 (exit) data /signal", `"SIGKILL"`, "—", silent},
			{shortfall, "event-awaited", "11", "stream tool: event", `line "closed"`, "the stream ended before it came; 1 other line came since", reference},
			{shortfall, "event-awaited", "9", "stream tool: event", "a line with 4 at $.id", "the stream ended before it came; 1 other line came since", reference},
		},
		take: func(r *toolRun, line string) bool {
			if strings.Contains(line, `"get"`) && strings.Contains(line, `"id":4`) {
				r.sys.Die("SIGKILL")
				return true
			}
			return false
		},
	},
	{
		ID: "exits-at-first-line", Doc: "it exits at the first line", In: "two/again", Also: true,
		Says: []Finding{
			{difference, "event-extra", "1", "stream first: line 1 (exit)", "—", `exit {"status":1}`, silent},
			{difference, "event-missing", "5", "stream second: line 1 (get error)", `get error {"error":{"code":-‹serial›,"message":"no such item"},"id":1,"jsonrpc":"2.0"}`, "—", silent},
			{difference, "stream-end", "1", "stream first: end", "ended by the client, after line 2 (changed)", "ended by the server, after line 1 (exit)", silent},
			{shortfall, "event-awaited", "3", "stream first: event", `line "add result"`, "the stream ended before it came; 1 other line came since", candidate},
			{shortfall, "event-awaited", "7", "stream second: event", `line "get error"`, "it did not come within 5s; no other line came since", candidate},
		},
		Turned: []Finding{
			{difference, "event-extra", "5", "stream second: line 1 (get error)", "—", `get error {"error":{"code":-‹serial›,"message":"no such item"},"id":1,"jsonrpc":"2.0"}`, silent},
			{difference, "event-missing", "1", "stream first: line 1 (exit)", `exit {"status":1}`, "—", silent},
			{difference, "stream-end", "1", "stream first: end", "ended by the server, after line 1 (exit)", "ended by the client, after line 2 (changed)", silent},
			{shortfall, "event-awaited", "3", "stream first: event", `line "add result"`, "the stream ended before it came; 1 other line came since", reference},
			{shortfall, "event-awaited", "7", "stream second: event", `line "get error"`, "it did not come within 5s; no other line came since", reference},
		},
		take: func(r *toolRun, _ string) bool {
			r.exit <- 1
			return true
		},
	},
	{
		ID: "exits-at-wrong-line", Doc: "it exits at a line that is not JSON", In: "wrong/lines[no-json]", Also: true,
		Says: []Finding{
			{difference, "event-extra", "1", "stream tool: line 1 (exit)", "—", `exit {"status":1}`, silent},
			{difference, "stream-end", "1", "stream tool: end", "ended by the client, after line 2 (echo result)", "ended by the server, after line 1 (exit)", silent},
			{shortfall, "event-awaited", "3", "stream tool: event", "a line with $.error.message matching .", "the stream ended before it came; 1 other line came since", candidate},
			{shortfall, "event-awaited", "5", "stream tool: event", `line "echo result"`, "the stream ended before it came; 1 other line came since", candidate},
			{shortfall, "message-not-taken", "4", "stream tool: send", "to take the message", "the program has exited", candidate},
		},
		take: func(r *toolRun, line string) bool {
			if line == "hello" {
				r.exit <- 1
				return true
			}
			return false
		},
	},
	{
		ID: "stays-after-eof", Doc: "it ignores the end of its input", In: "ends/eof", Also: true, staysOpen: true,
		Says: []Finding{
			{difference, "event-missing", "1", "stream tool: line 2 (closed)", `closed {"jsonrpc":"2.0","method":"closed","params":{"items":0}}`, "—", silent},
			{difference, "event-missing", "1", "stream tool: line 3 (exit)", `exit {"status":0}`, "—", silent},
			{difference, "stream-end", "1", "stream tool: end", "ended by the server, after line 3 (exit)", "ended by the client, after line 1 (slow result)", silent},
			{shortfall, "event-awaited", "4", "stream tool: event", `line "closed"`, "it did not come within 5s; 1 other line came since", candidate},
			{shortfall, "event-awaited", "5", "stream tool: event", `line "exit" with 0 at $.status`, "it did not come within 3s; 1 other line came since", candidate},
		},
	},
	{
		ID: "ignores-sigterm", Doc: "it ignores SIGTERM", In: "ends/term", Also: true, undying: true,
		Says: []Finding{
			{difference, "event-missing", "1", "stream tool: line 4 (stopping)", `stopping {"jsonrpc":"2.0","method":"stopping","params":{"items":1}}`, "—", silent},
			{difference, "event-missing", "1", "stream tool: line 5 (exit)", `exit {"status":0}`, "—", silent},
			{difference, "stream-end", "1", "stream tool: end", "ended by the server, after line 5 (exit)", "ended by the client, after line 3 (changed)", silent},
			{shortfall, "event-awaited", "5", "stream tool: event", `line "stopping"`, "it did not come within 5s; no other line came since", candidate},
			{shortfall, "event-awaited", "6", "stream tool: event", `line "exit" with 0 at $.status`, "it did not come within 3s; no other line came since", candidate},
		},
	},
	{
		ID: "loses-last-response", Doc: "it exits at the end of its input before its last response", In: "ends/eof",
		Says: []Finding{
			{difference, "event-missing", "1", "stream tool: line 1 (slow result)", `slow result {"id":1,"jsonrpc":"2.0","result":{"tag":"last"}}`, "—", silent},
		},
		say: func(r *toolRun, m object) bool {
			v, _ := m["result"].(object)
			return v["tag"] == "last"
		},
	},
	{
		ID: "never-reads", Doc: "it does not read its input", In: "calls/giant-request", Also: true, deaf: true,
		Says: []Finding{
			{difference, "event-missing", "1", "stream tool: line 1 (echo result)", `echo result {"id":1,"jsonrpc":"2.0","result":{"value":"012345678901234567890123456789012345678901234…`, "—", silent},
			{difference, "event-missing", "1", "stream tool: line 2 (closed)", `closed {"jsonrpc":"2.0","method":"closed","params":{"items":0}}`, "—", silent},
			{difference, "event-missing", "1", "stream tool: line 3 (exit)", `exit {"status":0}`, "—", silent},
			{difference, "stream-end", "1", "stream tool: end", "ended by the server, after line 3 (exit)", "ended by the client, before any event", silent},
			{shortfall, "end-awaited", "5", "stream tool: end", "the end of the stream", "it did not come within 5s", candidate},
			{shortfall, "event-awaited", "3", "stream tool: event", `line "echo result"`, "it did not come within 5s; no other line came since", candidate},
			{shortfall, "message-not-taken", "2", "stream tool: send", "to take the message", "the program does not read its input: it took ‹serial› of 200063 bytes: the step's 2s were over", candidate},
		},
	},
}

package faux

import (
	"fmt"
	"net/http"
	"strings"
	"time"
)

// once returns a hook that writes the outcome of one thing in another way.
func once(path string, write func(r *driverRun, o object)) func(*driverRun, *deed, object) bool {
	return func(r *driverRun, d *deed, o object) bool {
		if d.With.Path != path {
			return false
		}
		write(r, o)
		return true
	}
}

// AllWays lists what correct libraries may do differently. Each writes JSON in its own style as well.
func AllWays() []Ways {
	return []Ways{
		{ID: "style"},
		{ID: "keep-alive", KeepAlive: true},
		{ID: "agent", Agent: "another/2.0"},
		{ID: "accept", Accept: "application/json"},
		{ID: "slow", Slow: 20 * time.Millisecond},
		{ID: "chatter", Chatter: true},
		{ID: "chunked", Chunked: true},
		{ID: "one-by-one", OneByOne: true},
	}
}

// DriverFaults lists the ways in which drivers, and the libraries behind them, are wrong.
func DriverFaults() []*DriverFault {
	return append(append([]*DriverFault{}, libraryFaults...), outcomeFaults...)
}

// libraryFaults are in what the library sends, and in what it makes of the responses.
var libraryFaults = []*DriverFault{
	{
		ID: "no-retry", Doc: "it does not try again", In: "retry/statuses[500]", Also: true, more: -2,
		Says: []Finding{
			{difference, "field-extra", "1", "body /error", "—", `{"kind":"server","status":500}`, outside},
			{difference, "field-missing", "1", "body /ok", `{"done":true}`, "—", outside},
			{shortfall, "expectation", "1", "body $.ok.done", "true", "nothing", candidate},
			{shortfall, "upstream-missing", "api.done", "requests", "a request", "none came", candidate},
		},
	},
	{
		ID: "retries-too-often", Doc: "it tries once too often", In: "retry/exhausted[server]", Also: true, more: 1,
		Says: []Finding{
			{difference, "value", "1", "body /error/status", "500", "501", outside},
			{shortfall, "upstream-unexpected", "api.unexpected", "request 1", "no such request", "GET /500", candidate},
		},
	},
	{
		ID: "retries-bad-requests", Doc: "it repeats a bad request", In: "get/errors[400]", stubborn: true,
		Says: []Finding{
			{difference, "value", "1", "body /error/kind", `"bad-request"`, `"server"`, outside},
			{difference, "value", "1", "body /error/status", "400", "501", outside},
			{shortfall, "expectation", "1", "body $.error.kind", `"bad-request"`, `"server"`, candidate},
			{shortfall, "expectation", "1", "body $.error.status", "400", "501", candidate},
			{shortfall, "upstream-unexpected", "api.unexpected", "request 1", "no such request", "GET /400", candidate},
			{shortfall, "upstream-unexpected", "api.unexpected", "request 2", "no such request", "GET /400", candidate},
		},
	},
	{
		ID: "loses-key", Doc: "it does not send the key", In: "auth/captured", Also: true,
		Says: []Finding{
			{difference, "header-missing", "api.item", "request header Authorization", `"Bearer open-sesame-7"`, "—", outside},
		},
		request: func(r *http.Request) { r.Header.Del("Authorization") },
	},
	{
		ID: "other-key", Doc: "it sends the key in another way", In: "chat/plain", Also: true,
		Says: []Finding{
			{difference, "header-value", "model.answer", "request header Authorization", `"Bearer sesame"`, `"sesame"`, outside},
		},
		request: func(r *http.Request) {
			if key := r.Header.Get("Authorization"); key != "" {
				r.Header.Set("Authorization", strings.TrimPrefix(key, "Bearer "))
			}
		},
	},
	{
		ID: "wrong-path", Doc: "it requests another path", In: "broken/slow", Also: true,
		Says: []Finding{
			{difference, "value", "api.item", "request path", `"/item"`, `"/itme"`, outside},
		},
		target: func(s string) string { return strings.Replace(s, "/item", "/itme", 1) },
	},
	{
		ID: "wrong-query", Doc: "it leaves the query out", In: "get/plain[object]", Also: true,
		Says: []Finding{
			{difference, "value", "api.item", "request path", `"/item?n=2&q=a+b"`, `"/item"`, outside},
		},
		target: func(s string) string {
			before, _, _ := strings.Cut(s, "?q=")
			before, _, _ = strings.Cut(before, "?n=")
			return before
		},
	},
	{
		ID: "body-differs", Doc: "it sends another value", In: "calls/several",
		Says: []Finding{
			{difference, "value", "api.create", "request body /size", "3", "4", outside},
		},
		body: func(b []byte) []byte { return []byte(strings.Replace(string(b), `"size":3`, `"size":4`, 1)) },
	},
	{
		ID: "no-content-type", Doc: "it sends JSON without a type", In: "calls/several", Also: true,
		Says: []Finding{
			{difference, "header-missing", "api.create", "request header Content-Type", `"application/json"`, "—", outside},
		},
		request: func(r *http.Request) { r.Header.Del("Content-Type") },
	},
	{
		ID: "two-requests", Doc: "it sends each body twice", In: "redirect/post", Also: true, twice: true,
		Says: []Finding{
			{difference, "field-extra", "1", "body /error", "—", `{"kind":"server","status":501}`, outside},
			{difference, "field-missing", "1", "body /ok", `{"new":true}`, "—", outside},
			{shortfall, "expectation", "1", "body $.ok.new", "true", "nothing", candidate},
			{shortfall, "upstream-unexpected", "api.unexpected", "request 1", "no such request", `POST /items {"name":"lamp"}`, candidate},
			{shortfall, "upstream-unexpected", "api.unexpected", "request 2", "no such request", `POST /items {"name":"lamp"}`, candidate},
			{shortfall, "upstream-unexpected", "api.unexpected", "request 3", "no such request", `POST /items {"name":"lamp"}`, candidate},
			{shortfall, "upstream-unexpected", "api.unexpected", "request 4", "no such request", `POST /items {"name":"lamp"}`, candidate},
			{shortfall, "upstream-unexpected", "api.unexpected", "request 5", "no such request", `POST /items {"name":"lamp"}`, candidate},
		},
	},
	{
		ID: "no-redirect", Doc: "it does not follow redirects", In: "redirect/get[302]", Also: true, stays: true,
		Says: []Finding{
			{difference, "field-extra", "1", "body /error", "—", `{"kind":"status","status":302}`, outside},
			{difference, "field-missing", "1", "body /ok", `{"new":true}`, "—", outside},
			{shortfall, "expectation", "1", "body $.ok.new", "true", "nothing", candidate},
			{shortfall, "upstream-missing", "api.new", "requests", "a request", "none came", candidate},
		},
	},
	{
		ID: "first-page", Doc: "it reads only the first page", In: "pages/three", Also: true, firstPage: true,
		Says: []Finding{
			{difference, "element-missing", "1", "body /ok/items/2", `"c"`, "—", outside},
			{difference, "element-missing", "1", "body /ok/items/3", `"d"`, "—", outside},
			{shortfall, "expectation", "1", "body $.ok.items", `["a","b","c","d"]`, `["a","b"]`, candidate},
			{shortfall, "upstream-missing", "api.second", "requests", "a request", "none came", candidate},
			{shortfall, "upstream-missing", "api.third", "requests", "a request", "none came", candidate},
		},
	},
	{
		ID: "no-reconnect", Doc: "it does not reconnect", In: "stream/reconnect", Also: true, gives: true,
		Says: []Finding{
			{difference, "field-extra", "1", "body /error", "—", `{"kind":"ended"}`, outside},
			{difference, "field-missing", "1", "body /ok", `{"events":[{"data":"a","id":"7"},{"data":"b","id":"8"}]}`, "—", outside},
			{shortfall, "expectation", "1", "body $.ok.events[1].data", `"b"`, "nothing", candidate},
			{shortfall, "upstream-missing", "api.second", "requests", "a request", "none came", candidate},
		},
	},
	{
		ID: "forgets-last-event", Doc: "it reconnects without Last-Event-ID", In: "stream/reconnect", forgetful: true,
		Says: []Finding{
			{difference, "field-extra", "1", "body /error", "—", `{"kind":"server","status":501}`, outside},
			{difference, "field-missing", "1", "body /ok", `{"events":[{"data":"a","id":"7"},{"data":"b","id":"8"}]}`, "—", outside},
			{shortfall, "expectation", "1", "body $.ok.events[1].data", `"b"`, "nothing", candidate},
			{shortfall, "upstream-missing", "api.second", "requests", "a request", "none came", candidate},
			{shortfall, "upstream-unexpected", "api.unexpected", "request 1", "no such request", "GET /events", candidate},
		},
	},
	{
		ID: "swallows-error", Doc: "it returns half of an answer as if it was whole", In: "chat/broken", Also: true, swallows: true,
		Says: []Finding{
			{difference, "field-extra", "1", "body /ok", "—", `{"text":"hi"}`, outside},
			{difference, "field-missing", "1", "body /error", `{"kind":"connection"}`, "—", outside},
			{shortfall, "expectation", "1", "body $.error.kind", `"connection"`, "nothing", candidate},
		},
	},
	{
		ID: "other-kind", Doc: "it calls an error otherwise", In: "get/errors[404]", Also: true, renamed: map[string]string{"not-found": "missing"},
		Says: []Finding{
			{difference, "value", "1", "body /error/kind", `"not-found"`, `"missing"`, outside},
			{shortfall, "expectation", "1", "body $.error.kind", `"not-found"`, `"missing"`, candidate},
		},
	},
	{
		ID: "does-not-cancel", Doc: "it cannot cancel a call", In: "calls/canceled", holdsOn: true,
		Says: []Finding{
			{shortfall, "exchange-failed", "4", "body", "a complete answer", "the step's 5s were over", candidate},
		},
	},
}

// outcomeFaults are in how the driver writes outcomes, and in how it ends.
var outcomeFaults = []*DriverFault{
	{
		ID: "logs-to-stdout", Doc: "it logs to standard output", In: "broken/slow", Also: true,
		Says: []Finding{
			{shortfall, "exchange-failed", "1", "body", "a complete answer", `the driver wrote a line that is not an outcome, because text follows the value: "OK": "200 OK" (a dr…`, candidate},
		},
		outcome: once("/item", func(r *driverRun, o object) { r.line("200 OK"); r.put(o) }),
	},
	{
		ID: "logs-after-outcome", Doc: "it logs to standard output after the outcome", In: "broken/slow", Also: true,
		Says: []Finding{
			{shortfall, "exchange-failed", "1", "body", "a complete answer", `the driver wrote a line that is not an outcome, because text follows the value: "OK": "200 OK" (a dr…`, candidate},
		},
		outcome: once("/item", func(r *driverRun, o object) { r.put(o); r.line("200 OK") }),
	},
	{
		ID: "outcome-twice", Doc: "it writes an outcome twice", In: "broken/slow", Also: true,
		Says: []Finding{
			{shortfall, "exchange-failed", "1", "body", "a complete answer", `the driver wrote a second outcome: "{\"id\":1,\"ok\":{\"slow\":true}}"`, candidate},
		},
		outcome: once("/item", func(r *driverRun, o object) { r.put(o); r.put(o) }),
	},
	{
		ID: "outcome-of-nothing", Doc: "it writes an outcome of what it was not told", In: "broken/slow", Also: true,
		Says: []Finding{
			{shortfall, "exchange-failed", "1", "body", "a complete answer", `the driver wrote an outcome with the id 99, which it was not told: "{\"id\":99,\"ok\":{\"slow\":true…`, candidate},
		},
		outcome: once("/item", func(r *driverRun, o object) { r.put(with(o, "id", 99)); r.put(o) }),
	},
	{
		ID: "outcome-wrong-id", Doc: "it writes an outcome with another id", In: "broken/slow", Also: true,
		Says: []Finding{
			{shortfall, "exchange-failed", "1", "body", "a complete answer", `the driver wrote an outcome with the id 99, which it was not told: "{\"id\":99,\"ok\":{\"slow\":true…`, candidate},
		},
		outcome: once("/item", func(r *driverRun, o object) { r.put(with(o, "id", 99)) }),
	},
	{
		ID: "outcome-id-as-text", Doc: "it writes an id as a text", In: "broken/slow", Also: true,
		Says: []Finding{
			{shortfall, "exchange-failed", "1", "body", "a complete answer", `the driver wrote a line that is not an outcome, because its id is not a whole number above 0: "{\"id…`, candidate},
		},
		outcome: once("/item", func(r *driverRun, o object) { r.put(with(o, "id", fmt.Sprint(o["id"]))) }),
	},
	{
		ID: "outcome-missing", Doc: "it writes no outcome", In: "broken/slow", Also: true,
		Says: []Finding{
			{shortfall, "exchange-failed", "1", "body", "a complete answer", "the step's 5s were over", candidate},
		},
		outcome: once("/item", func(*driverRun, object) {}),
	},
	{
		ID: "outcome-ok-and-error", Doc: "it writes both ok and error", In: "broken/slow", Also: true,
		Says: []Finding{
			{shortfall, "exchange-failed", "1", "body", "a complete answer", "the driver wrote a line that is not an outcome, because it has both ok and error: \"{\\\"error\\\":null,\\…", candidate},
		},
		outcome: once("/item", func(r *driverRun, o object) { r.put(with(o, "error", nil)) }),
	},
	{
		ID: "outcome-with-more", Doc: "it writes something after an outcome, in the same line", In: "broken/slow", Also: true,
		Says: []Finding{
			{shortfall, "exchange-failed", "1", "body", "a complete answer", "the driver wrote a line that is not an outcome, because text follows the value: \"done\": \"{\\\"id\\\":1,\\…", candidate},
		},
		outcome: once("/item", func(r *driverRun, o object) { r.line(string(r.Style.JSON(o)) + " done") }),
	},
	{
		ID: "outcome-member-in-capitals", Doc: "it writes the names of members in capitals", In: "broken/slow", Also: true,
		Says: []Finding{
			{shortfall, "exchange-failed", "1", "body", "a complete answer", `the driver wrote a line that is not an outcome, because it has neither ok nor error: "{\"id\":1,\"OK…`, candidate},
		},
		outcome: once("/item", func(r *driverRun, o object) { r.line(strings.Replace(string(r.Style.JSON(o)), `"ok"`, `"OK"`, 1)) }),
	},
	{
		ID: "outcomes-swapped", Doc: "it swaps the ids of two outcomes", In: "calls/parallel",
		Says: []Finding{
			{difference, "field-extra", "1.left.1", "body /ok/fast", "—", "true", outside},
			{difference, "field-extra", "1.right.1", "body /ok/slow", "—", "true", outside},
			{difference, "field-missing", "1.left.1", "body /ok/slow", "true", "—", outside},
			{difference, "field-missing", "1.right.1", "body /ok/fast", "true", "—", outside},
			{shortfall, "expectation", "1.left.1", "body $.ok.slow", "true", "nothing", candidate},
			{shortfall, "expectation", "1.right.1", "body $.ok.fast", "true", "nothing", candidate},
		},
		outcome: func(r *driverRun, d *deed, o object) bool {
			if d.With.Path != "/slow" && d.With.Path != "/fast" {
				return false
			}
			r.put(with(o, "id", 3-d.ID))
			return true
		},
	},
	{
		ID: "giant-outcome", Doc: "it writes an outcome of ten million bytes", In: "broken/slow", Also: true,
		Says: []Finding{
			{difference, "type", "1", "body /ok", `{"slow":true}`, `"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…`, outside},
			{shortfall, "expectation", "1", "body $.ok.slow", "true", "nothing", candidate},
		},
		outcome: once("/item", func(r *driverRun, o object) { r.put(with(o, "ok", strings.Repeat("x", 10_000_000))) }),
	},
	{
		ID: "endless-outcome", Doc: "it writes an outcome without end", In: "broken/slow", Also: true,
		Says: []Finding{
			{shortfall, "exchange-failed", "1", "body", "a complete answer", "a line has more than 16777216 bytes", candidate},
		},
		outcome: once("/item", func(r *driverRun, o object) {
			for {
				if _, err := r.sys.Out.Write([]byte(strings.Repeat("x", 1<<20))); err != nil || r.ctx.Err() != nil {
					return
				}
			}
		}),
	},
	{
		ID: "flood", Doc: "it writes outcomes without end", In: "broken/slow", Also: true,
		Says: []Finding{
			{shortfall, "exchange-failed", "1", "body", "a complete answer", `the driver wrote a second outcome: "{\"id\":1,\"ok\":{\"slow\":true}}"`, candidate},
		},
		outcome: once("/item", func(r *driverRun, o object) {
			for {
				r.put(o)
				if r.ctx.Err() != nil {
					return
				}
			}
		}),
	},
	{
		ID: "crash", Doc: "it crashes when it is told something", In: "broken/slow", Also: true, Reason: "the process ended: exit status 2",
		Says: []Finding{
			{shortfall, "target-exited", "1", "process", "to go on", "exit status 2", candidate},
		},
		crash: func(d *deed) bool { return d.With.Path == "/item" },
	},
	{
		ID: "never-reads", Doc: "it does not read what it is told", In: "broken/slow", Also: true, deaf: true,
		Says: []Finding{
			{shortfall, "exchange-failed", "1", "body", "a complete answer", "the step's 5s were over", candidate},
			{shortfall, "upstream-missing", "api.item", "requests", "a request", "none came", candidate},
		},
	},
	{
		ID: "lingers", Doc: "it does not exit at the end of its input", In: "broken/slow", Also: true, lingers: true,
		Says: []Finding{
			{shortfall, "target-not-stopped", "1", "exit", "to exit with status 0 at the end of its input", "it still ran: the step's 5s were over", candidate},
		},
	},
	{
		ID: "exit-code", Doc: "it exits with a status at the end of its input", In: "broken/slow", Also: true, status: 3,
		Says: []Finding{
			{shortfall, "target-not-stopped", "1", "exit", "to exit with status 0 at the end of its input", "exit status 3", candidate},
		},
	},
}

package server_test

import (
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstep-dev/lockstep/server"
	"github.com/lockstep-dev/lockstep/server/handlers/clienttools"
)

// only returns the permission of all client tools.
func only(p clienttools.Permission) clienttools.Permissions {
	return clienttools.Permissions{{Pattern: "*", Permission: p}}
}

// importOwned creates a session of a client, and returns its ID.
func (r *rig) importOwned(extensionData string) string {
	session := `{"id":"x","working_dir":"/","name":"n","created_at":"2025-01-01T00:00:00Z","updated_at":"2025-01-01T00:00:00Z","extension_data":` + extensionData + `,"message_count":0}`
	a := r.json("POST /sessions/import", `{"json":`+string(quoted(r.t, session))+`}`, "X-Secret-Key: test")
	id := regexp.MustCompile(`"id":"([^"]*)"`).FindStringSubmatch(a.body)
	if a.status != 200 || id == nil {
		r.t.Fatalf("import: %d %s", a.status, a.body)
	}
	return id[1]
}

func TestASessionBelongsToItsClient(t *testing.T) {
	r := startTCP(t, server.Config{})
	r.register("c", "a")
	owned, foreign, none := r.importOwned(`{"client_tools.v0":{"clientID":"c"}}`), r.importOwned(`{"client_tools.v0":{"clientID":"d"}}`), r.importOwned(`{"client_tools.v0":[]}`)
	for session, want := range map[string]answer{
		owned:   {status: 504, body: coded("TIMEOUT", "Client tool execution timed out after 1ms")},
		foreign: {status: 403, body: coded("PERMISSION_DENIED", "Client does not own this session")},
		none:    {status: 504, body: coded("TIMEOUT", "Client tool execution timed out after 1ms")},
		"nope":  {status: 504, body: coded("TIMEOUT", "Client tool execution timed out after 1ms")},
	} {
		r.json("POST /client-tools/execute", `{"toolID":"client_c_a","sessionID":"`+session+`","timeout":1}`).is(t, session, want.status, want.body)
	}
}

func TestADeniedCallIsSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, server.Config{Permissions: only(clienttools.Deny)})
		r.register("c", "a")
		bus := r.open("/event")
		bus.take()
		r.json("POST /client-tools/execute", `{"toolID":"client_c_a"}`).is(t, "execute", 403, coded("PERMISSION_DENIED", "Client tools are not allowed for this agent"))
		same(t, "events", []string(nil), bus.take())
	})
}

// asked returns the ID of the permission that an event asks for.
func asked(t *testing.T, frames []string) (id string) {
	t.Helper()
	found := regexp.MustCompile(`^data: \{"type":"permission.updated","properties":\{"id":"(per_[0-9a-z]{26})","type":"client_tool","sessionID":"s","messageID":"m","callID":"k",` +
		`"title":"client_c_a","metadata":\{"tool":"client_c_a","input":\{"x":1\}\},"time":\{"created":94668480[0-9]000\}\}\}\n\n$`).FindStringSubmatch(strings.Join(frames, ""))
	if found == nil {
		t.Fatalf("events %q, want one permission.updated", frames)
	}
	return found[1]
}

func replied(id, response string) string {
	return `data: {"type":"permission.replied","properties":{"sessionID":"s","permissionID":"` + id + `","response":"` + response + `"}}` + "\n\n"
}

const askedCall = `{"toolID":"client_c_a","requestID":"r","sessionID":"s","messageID":"m","callID":"k","input":{"x":1},"timeout":50}`

func TestAUserIsAsked(t *testing.T) {
	const timedOut = "Client tool execution timed out after 50ms"
	const rejected = "The user rejected permission to use this specific tool call. You may try again with different parameters."
	synctest.Test(t, func(t *testing.T) {
		r := start(t, server.Config{Permissions: only(clienttools.Ask)})
		r.register("c", "a")
		bus := r.open("/event?directory=/d")
		bus.take()
		execute := func() <-chan answer { return r.start(withJSON("POST /client-tools/execute?directory=/d", askedCall)) }
		reply := func(id, response string) {
			t.Helper()
			r.json("POST /session/other/permissions/"+id, `{"response":"`+response+`"}`).is(t, "answer", 200, "true")
		}
		first := execute()
		id := asked(t, bus.take())
		r.json("POST /client-tools/result", `{"requestID":"r","result":{"status":"error","error":""}}`).is(t, "result", 404, `{"error":"Unknown request ID"}`)
		r.json("POST /session/s/permissions/"+id, `{"response":"yes"}`).is(t, "bad answer", 400,
			`{"data":{"response":"yes"},"error":[{"code":"invalid_value","values":["once","always","reject"],"path":["response"],"message":"Invalid option: expected one of \"once\"|\"always\"|\"reject\""}],"success":false}`)
		reply("per_unknown", "reject")
		same(t, "events", []string(nil), bus.take())
		time.Sleep(time.Second) // does not count towards the timeout
		second := execute()
		later := asked(t, bus.take())
		reply(id, "reject")
		(<-first).is(t, "rejected", 403, coded("PERMISSION_DENIED", rejected))
		same(t, "events", []string{replied(id, "reject")}, bus.take())
		reply(id, "always") // the first answer counts
		same(t, "events", []string(nil), bus.take())

		third := execute()
		always := asked(t, bus.take())
		reply(always, "always")
		(<-third).is(t, "third", 504, coded("TIMEOUT", timedOut))
		events := bus.take()
		if len(events) != 4 || events[0] != replied(always, "always") || !strings.Contains(events[1], "executing") {
			t.Errorf("events %q, want replied before executing", events)
		}
		(<-execute()).is(t, "granted", 504, coded("TIMEOUT", timedOut))
		bus.take()
		reply(later, "once") // was not answered by "always"
		(<-second).is(t, "second", 504, coded("TIMEOUT", timedOut))
	})
}

func TestQuestionsEnd(t *testing.T) {
	for how, want := range map[string]answer{
		"the client disconnects": {status: 500, body: coded("INTERNAL_ERROR", "Client disconnected")},
		"the server stops":       {status: 500, body: coded("INTERNAL_ERROR", "Server is shutting down")},
		"the tool is removed":    {status: 404, body: coded("NOT_FOUND", "Tool not found")},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := start(t, server.Config{Permissions: only(clienttools.Ask)})
			r.register("c", "a")
			pending, bus := r.open("/client-tools/pending/c"), r.open("/event")
			bus.take()
			answered := r.start(withJSON("POST /client-tools/execute", askedCall))
			id := asked(t, bus.take())
			switch how {
			case "the client disconnects":
				pending.close()
			case "the server stops":
				r.stop()
			default:
				r.json("DELETE /client-tools/unregister", `{"clientID":"c"}`)
				r.json("POST /session/s/permissions/"+id, `{"response":"once"}`)
			}
			(<-answered).is(t, how, want.status, want.body)
		})
	}
	t.Run("the caller disconnects", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := start(t, server.Config{Permissions: only(clienttools.Ask)})
			r.register("c", "a")
			bus := r.open("/event")
			bus.take()
			c := r.connect(withJSON("POST /client-tools/execute", askedCall))
			id := asked(t, bus.take())
			c.Close()
			synctest.Wait()
			r.json("POST /session/s/permissions/"+id, `{"response":"once"}`).is(t, "answer", 200, "true")
			same(t, "events", []string(nil), bus.take())
		})
	})
}

func TestTheRateLimitOfAClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, server.Config{RateLimit: &clienttools.RateLimit{Calls: 2, Window: time.Minute}})
		r.register("c", "a")
		r.register("d", "a")
		call := func(client string) int {
			return r.json("POST /client-tools/execute", `{"toolID":"client_`+client+`_a","timeout":1000}`).status
		}
		r.json("POST /client-tools/execute", `{"toolID":"client_c_nope"}`) // does not count
		same(t, "statuses", []int{504, 504, 429, 504}, []int{call("c"), call("c"), call("c"), call("d")})
		r.open("/client-tools/pending/c").close()
		r.register("c", "a")
		r.json("POST /client-tools/execute", `{"toolID":"client_c_a"}`).is(t, "after a disconnect", 429, coded("RATE_LIMITED", "Rate limit exceeded for client tools"))
		time.Sleep(57*time.Second - time.Millisecond) // 60 s after the first call, without a millisecond
		same(t, "before the end", 429, call("c"))
		time.Sleep(time.Millisecond)
		same(t, "after the window", 504, call("c"))
	})
}

func TestInputsAreValidated(t *testing.T) {
	const unusable = "schema not usable"
	r := startTCP(t, server.Config{RateLimit: &clienttools.RateLimit{}})
	for _, tc := range []struct {
		schema, input string
		want          string // the details, or "" if the call runs
		log           bool
	}{
		{`{"type":"object","properties":{"n":{"type":"integer"}},"required":["q"]}`, `{"q":1,"n":2}`, "", false},
		{`{"type":"object","properties":{"n":{"type":"integer"}},"required":["q"]}`, `{"n":"x"}`, "input: missing property 'q'\n/n: got string, want integer", false},
		{`{}`, `{"a":` + strings.Repeat("[", 300) + strings.Repeat("]", 300) + `}`, "", false},
		{`{"properties":{"a":{"format":"email"}}}`, `{"a":"x"}`, "", false},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"a":{"format":"email","type":"string"}}}`, `{"a":"x"}`, "", false},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","items":false,"properties":{"a":{"items":[{"type":"string"}]}}}`, `{"a":[1]}`, "/a/0: got number, want string", false},
		{`{"$schema":"http://x.y/","type":"string"}`, `{}`, "", true},
		{`{"$ref":"http://x.y/"}`, `{}`, "", true},
		{`{"properties":{"a":{"pattern":"(?=x)"}}}`, `{"a":"y"}`, "", true},
		{`{"allOf":[` + strings.Repeat(`{},`, 1000) + `{}]}`, `{}`, "", true},
		{`{"properties":{"a":{"items":{"anyOf":[{"type":"string"},{"type":"integer"}]}}}}`, `{"a":[` + strings.Repeat("1,", 100_000) + `1]}`, "validation took too long", false},
	} {
		before := strings.Count(r.log.String(), unusable)
		r.json("POST /client-tools/register", `{"clientID":"c","tools":[{"id":"a","description":"","parameters":`+tc.schema+`}]}`)
		for range 2 {
			a := r.json("POST /client-tools/execute", `{"toolID":"client_c_a","timeout":1,"input":`+tc.input+`}`)
			if tc.want == "" {
				a.is(t, tc.schema, 504, coded("TIMEOUT", "Client tool execution timed out after 1ms"))
				continue
			}
			text := "The client_c_a tool was called with invalid arguments: " + tc.want + ".\nPlease rewrite the input so it satisfies the expected schema."
			a.is(t, tc.schema, 400, `{"error":{"code":"INVALID_REQUEST","message":`+string(quoted(t, text))+`}}`)
		}
		if got := strings.Count(r.log.String(), unusable) - before; (got == 1) != tc.log {
			t.Errorf("%.80s: logged %d times", tc.schema, got)
		}
	}
}

package clienttools_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstep-dev/lockstep/gen/api"
	"github.com/lockstep-dev/lockstep/internal/syncbuffer"
	"github.com/lockstep-dev/lockstep/server/domain/message"
	"github.com/lockstep-dev/lockstep/server/engine/toolbox"
	"github.com/lockstep-dev/lockstep/server/handlers/clienttools"
	"github.com/lockstep-dev/lockstep/server/handlers/events"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// turns returns the tools of the rig for turns, without guards, and their log.
func (r rig) turns() (*clienttools.Turns, *syncbuffer.Buffer) {
	log := new(syncbuffer.Buffer)
	return &clienttools.Turns{
		Guards: &clienttools.Guards{Registry: r.Registry, Log: slog.New(slog.NewTextHandler(log, nil))}, Directory: "/default", Timeout: 7 * time.Second,
		Log: slog.New(slog.NewTextHandler(log, nil)),
	}, log
}

func TestToolsAreOfferedInTheirOrderUnderNamesThatProvidersTake(t *testing.T) {
	r := newRig(t)
	long := strings.Repeat("x", 60)
	fits := strings.Repeat("y", 64-len("client_c_"))
	r.Register("/", "other", []api.ClientToolDefinition{tool("a", "{}")})
	r.Register("/", "c", []api.ClientToolDefinition{
		tool("z", `{"type":"object"}`), tool("tëst", "{}"), tool("a", "{}"), tool(long, "{}"), tool(fits, "{}"),
		tool("a\xed\xa0\x80b", `{"\ud800":"\ud801"}`), tool("a😀b c", "{}"), tool("傣乗", "{}"), tool("巵佫", "{}"),
	})
	turns, log := r.turns()
	var names, of []string
	tools := turns.Tools("c")
	for _, tool := range tools {
		names, of = append(names, tool.Name), append(of, tool.ID)
		if tool.ClientID != "c" {
			t.Errorf("%s belongs to %q", tool.Name, tool.ClientID)
		}
	}
	same(t, "names", []string{
		"client_c_z", "ct_9693ac5b96_t_st", "client_c_a", "ct_3b64764bf1_" + strings.Repeat("x", 50), "client_c_" + fits,
		"ct_c779d3d846_a_b", "ct_6c04cd357a_a_b_c", "ct_8ca0e64609___",
	}, names)
	same(t, "full IDs", []string{
		"client_c_z", "client_c_tëst", "client_c_a", "client_c_" + long, "client_c_" + fits, "client_c_a\xed\xa0\x80b", "client_c_a😀b c", "client_c_傣乗",
	}, of)
	same(t, "a tool", message.Tool{Name: "client_c_z", Description: "about z", Schema: json.RawMessage(`{"type":"object"}`)}, tools[0].Tool)
	same(t, "a tool with lone surrogates", message.Tool{Name: "ct_c779d3d846_a_b", Description: "about a\uFFFDb", Schema: json.RawMessage("{\"\uFFFD\":\"\uFFFD\"}")}, tools[5].Tool)
	if text := log.String(); !strings.Contains(text, "巵佫") || strings.Count(text, "\n") != 1 {
		t.Errorf("the log is %q, want one warning about the second tool of an alias", text)
	}
	same(t, "tools of an unknown client", 0, len(turns.Tools("nobody")))
}

func clientCall(tool, arguments string) toolbox.ClientCall {
	c := toolbox.ClientCall{Tool: toolbox.ClientTool{Tool: message.Tool{Name: "offered"}, ClientID: "c", ID: tool}, SessionID: "s", MessageID: "m", RequestID: "k"}
	if arguments != "" {
		c.Arguments = json.RawMessage(arguments)
	}
	return c
}

func TestTheGuardComesBeforeTheCall(t *testing.T) {
	r := newRig(t)
	r.Register("/", "c", []api.ClientToolDefinition{tool("a", "{}"), tool("b", "{}"), tool("d", `{"required":["x"]}`)})
	turns, _ := r.turns()
	turns.Guards.Permissions = clienttools.Permissions{{Pattern: "*_a", Permission: clienttools.Deny}, {Pattern: "*_b", Permission: clienttools.Ask}}
	offered := turns.Tools("c")
	if len(offered) != 2 || offered[0].ID != "client_c_b" {
		t.Errorf("%d tools are offered, the first is %s; want two without the denied one", len(offered), offered[0].ID)
	}
	for _, tc := range []struct {
		tool, input string
		ask         bool
		refusal     string
	}{
		{"client_c_a", "", false, "Client tools are not allowed for this agent"},
		{"client_c_b", "", true, ""},
		{"client_c_d", `{"x":1}`, false, ""},
		{"client_c_d", "", false, "The client_c_d tool was called with invalid arguments: input: "},
		{"client_c_gone", "", false, "-32603: -32002: offered"},
	} {
		ask, refused := turns.Check(clientCall(tc.tool, tc.input))
		got := ""
		if refused != nil {
			got = (*refused.Error)[:min(len(*refused.Error), len(tc.refusal))] // the reason of a violation is free
		}
		if ask != tc.ask || got != tc.refusal {
			t.Errorf("Check of %s: %t, %q; want %t, %q", tc.tool, ask, got, tc.ask, tc.refusal)
		}
	}
}

// run calls a tool in a turn. The result of a call that is not sent has the prefix "not sent: ".
func run(ctx context.Context, turns *clienttools.Turns, call toolbox.ClientCall) <-chan message.ToolResult {
	result := make(chan message.ToolResult, 1)
	go func() {
		wait, sent := turns.Start(call)
		got := wait(ctx)
		if !sent {
			got = message.FailedResult("not sent: " + *got.Error)
		}
		result <- got
	}()
	synctest.Wait()
	return result
}

func items(result message.ToolResult) (items []string) {
	if result.Error != nil {
		return []string{"error " + *result.Error}
	}
	for _, item := range result.Value {
		items = append(items, string(jsonwire.Of(item)))
	}
	return items
}

func TestACallOfATurnIsAnExecution(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.Register("/", "c", []api.ClientToolDefinition{tool("a", "{}")})
		turns, _ := r.turns()
		heard, requests := r.listen(events.InDirectory("/default")), r.listen(events.OfClient("/default", "c"))
		ended := run(t.Context(), turns, clientCall("client_c_a", ""))
		const id = "c_k_946684800000"
		request := `{"type":"client-tool-request","requestID":"` + id + `","sessionID":"s","messageID":"m","callID":"k","tool":"client_c_a","input":{}}`
		same(t, "requests", []string{request}, requests())
		same(t, "events", []string{executing, `{"type":"client-tool.request","properties":{"clientID":"c","request":` + request + `}}`}, heard())
		metadata := json.RawMessage(`{"b":"\ud800","a":1.0}`)
		r.Submit("/elsewhere", id, clienttools.Result{ClientToolResult: api.ClientToolResult{Title: "T\xed\xa0\x80", Output: "O\xed\xa0\x80", Metadata: &metadata}}, nil)
		same(t, "result", []string{"{\"type\":\"text\",\"text\":\"O\uFFFD\",\"_meta\":{\"clientTool\":{\"title\":\"T\uFFFD\",\"metadata\":{\"b\":\"\uFFFD\",\"a\":1.0}}}}"}, items(<-ended))

		ended = run(t.Context(), turns, clientCall("client_c_a", `{"x":1}`))
		text := "No\xed\xa0\x80"
		r.Submit("/", id, clienttools.Result{}, &text)
		same(t, "an error", []string{"error No\uFFFD"}, items(<-ended))

		began := time.Now()
		same(t, "too late", []string{"error Client tool execution timed out after 7000ms"}, items(<-run(t.Context(), turns, clientCall("client_c_a", "{}"))))
		same(t, "after", 7*time.Second, time.Since(began))

		heard()
		ctx, cancel := context.WithCancelCause(t.Context())
		ended = run(ctx, turns, clientCall("client_c_a", "{}"))
		heard()
		cancel(errors.New("over"))
		same(t, "a turn that has ended", []string{"error over"}, items(<-ended))
		same(t, "events of a withdrawn call", 0, len(heard()))

		ended = run(t.Context(), turns, clientCall("client_c_a", "{}"))
		r.Disconnect("/", "c")
		same(t, "a client that has left", []string{"error Client disconnected"}, items(<-ended))
		same(t, "a tool that is gone", []string{"error not sent: -32603: -32002: offered"}, items(<-run(t.Context(), turns, clientCall("client_c_a", "{}"))))
	})
}

func TestMetadataThatCannotBeKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.Register("/", "c", []api.ClientToolDefinition{tool("a", "{}")})
		turns, _ := r.turns()
		nested := func(levels int) string {
			return `{"a":` + strings.Repeat("[", levels-1) + `"]"` + strings.Repeat("]", levels-1) + `}`
		}
		for levels, want := range map[int]string{1000: nested(1000), 1001: "{}"} {
			ended := run(t.Context(), turns, clientCall("client_c_a", ""))
			metadata := json.RawMessage(nested(levels))
			r.Submit("/", "c_k_946684800000", clienttools.Result{ClientToolResult: api.ClientToolResult{Metadata: &metadata}}, nil)
			same(t, "result", []string{`{"type":"text","text":"","_meta":{"clientTool":{"title":"","metadata":` + want + `}}}`}, items(<-ended))
		}
	})
}

func TestAttachmentsOfAResult(t *testing.T) {
	const (
		first = `{"type":"text","text":"o","_meta":{"clientTool":{"title":"t","metadata":{}}}}`
		url   = `{"type":"text","text":"https://x.test/a,b"}`
	)
	resource := func(at, mime, content string) string {
		return `{"type":"resource","resource":{"uri":"attachment://` + at + `","mimeType":"` + mime + `",` + content + `}}`
	}
	for attachments, want := range map[string][]string{
		`null`: nil, `{}`: nil, `"x"`: nil, `[]`: nil, `[null,5,"data:,",[],{}]`: nil,
		`[{"mime":"image/png"},{"url":"https://x.test"},{"mime":1,"url":"https://x.test"},{"mime":"image/png","url":null}]`: nil,
		`[{"type":"file","mime":"IMAGE/PNG;x=1","url":"DATA:text/html;BASE64,aGk="}]`:                                       {`{"type":"image","data":"aGk=","mimeType":"IMAGE/PNG;x=1"}`},
		`[{"mime":"image/png","url":"https://x.test/a,b"}]`:                                                                 {url},
		`[{"mime":"","url":"no URL"},{"mime":"","url":""},{"mime":"","url":"1a:b"},{"mime":"","url":"https://x.test/a,b"}]`: {url},
		`[{"mime":"image/png","url":"data:image/png,aGk="},{"mime":"a/b","url":"data:;base64"},{"mime":"a/b","url":"data:a/b;base64,aGk"},` +
			`{"mime":"a/b","url":"data:a/b;base64,aG k="},{"mime":"a/b","url":"data:a/b;base64,aGk=\n"},{"mime":"a/b","url":"data:a/b;base64,_-8="},` +
			`{"mime":"a/b","url":"data:a/b;base64,aGk%3D"},{"mime":"a/b","url":"data:a/b;base64,aGk="}]`: {resource("7", "a/b", `"blob":"aGk="`)},
		`[{"mime":"text/plain; charset=utf-8","url":"data:;base64,aMO8"},{"mime":"Application/JSON","url":"data:;base64,e30="},` +
			`{"mime":"application/ld+json","url":"data:;base64,"},{"mime":"text/plain","url":"data:;base64,/w=="},{"mime":"application/jsonl","url":"data:;base64,e30="}]`: {
			resource("0", "text/plain; charset=utf-8", `"text":"hü"`), resource("1", "Application/JSON", `"text":"{}"`),
			resource("2", "application/ld+json", `"text":""`), resource("3", "text/plain", `"blob":"/w=="`), resource("4", "application/jsonl", `"blob":"e30="`),
		},
		`[{"mime":"a/b","url":"x:\ud800"}]`: {"{\"type\":\"text\",\"text\":\"x:\uFFFD\"}"},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t)
			r.Register("/", "c", []api.ClientToolDefinition{tool("a", "{}")})
			turns, _ := r.turns()
			ended := run(t.Context(), turns, clientCall("client_c_a", ""))
			canonical, err := jsonwire.Parse([]byte(attachments))
			if err != nil {
				t.Fatal(err)
			}
			result := success("o")
			result.Attachments = json.RawMessage(canonical)
			r.Submit("/", "c_k_946684800000", result, nil)
			same(t, attachments, append([]string{first}, want...), items(<-ended))
		})
	}
}

func TestReportsOfATurnReachTheReply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.Register("/", "c", []api.ClientToolDefinition{tool("a", "{}")})
		turns, _ := r.turns()
		var heard []string
		call := clientCall("client_c_a", "")
		call.Notify = func(n toolbox.Notification) { heard = append(heard, n.Method+" "+string(n.Params)) }
		ended := run(t.Context(), turns, call)
		total, text := 2.5, "half"
		for _, report := range []api.ProgressRequest{{Progress: 1}, {Progress: 2, Total: &total, Message: &text}} {
			report.RequestID = "c_k_946684800000"
			if !r.Progress(report) {
				t.Errorf("%+v is about an unknown request", report)
			}
		}
		r.Submit("/", "c_k_946684800000", success("o"), nil)
		<-ended
		same(t, "notifications", []string{
			`notifications/progress {"progressToken":"k","progress":1}`,
			`notifications/progress {"progressToken":"k","progress":2,"total":2.5,"message":"half"}`,
		}, heard)
	})
}

func TestCallsOfTurnsCountForTheRateLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bus := events.NewBus(nil)
		r := rig{clienttools.NewRegistry(bus, clienttools.Bounds{}, clienttools.RateLimit{Calls: 1, Window: time.Minute}), t, bus}
		r.Register("/", "c", []api.ClientToolDefinition{tool("a", "{}")})
		turns, _ := r.turns()
		ended := run(t.Context(), turns, clientCall("client_c_a", ""))
		same(t, "the second call", []string{"error not sent: Rate limit exceeded for client tools"}, items(<-run(t.Context(), turns, clientCall("client_c_a", ""))))
		r.Submit("/", "c_k_946684800000", success("o"), nil)
		<-ended
	})
}

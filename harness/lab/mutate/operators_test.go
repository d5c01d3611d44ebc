package mutate_test

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/uuid"

	"github.com/lockstep-dev/lockstep/harness/compare"
	"github.com/lockstep-dev/lockstep/harness/compare/jsondiff"
	"github.com/lockstep-dev/lockstep/harness/compare/streamdiff"
	"github.com/lockstep-dev/lockstep/harness/lab/mutate"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// A story is a conversation that both sides have, each with its own values.
type story struct {
	unique, first, second, third string    // ids, and a KSUID
	more                         [3]string // an ObjectID, a UUID without dashes, a nanoid
	started                      time.Time
}

var (
	reference = story{"uaaaaaaaaaaaa", "itm_0a1b2c3d4e5f6a7b8c9d", "itm_9f8e7d6c5b4a39281706", "2Gtv9hVbPcBrJ3Yf7X5Tq1mZs8K",
		[3]string{"65f0a1b2c3d4e5f60718293a", "0b3f9c1e7d2a4c559a605f1e2d3c4b5a", "V1StGXR8_Z5jdHi6B-myT"}, time.Date(2026, 11, 20, 9, 30, 0, 0, time.UTC)}
	candidate = story{"ubbbbbbbbbbbb", "itm_5d0e7a1c93b24f68e0a7", "itm_d4c3b2a190817263544f", "2Ht4WqLrNcYvD8Ke2B6Sx9jPf3M",
		[3]string{"65f0a1d39e8f7a6b5c4d3e2f", "7e1d4b8a9c0f4236b5d8e7f6a1b2c3d4", "k7Pq2-Wm9Xz_4RtLb8NvD"}, time.Date(2026, 11, 20, 9, 31, 30, 0, time.UTC)}
)

// rules are the rules of the story.
var rules = &compare.Rules{
	Headers: []string{"Content-Type", "Location", "Allow", "Cache-Control", "X-Request-Id"},
	Volatile: []jsondiff.Volatile{
		{At: "$..createdAt", Kind: jsondiff.Time, Stable: true}, {At: "$..updatedAt", Kind: jsondiff.Time, Stable: true}, {At: "$..day", Kind: jsondiff.Time, Stable: true},
		{At: "$..told", Kind: jsondiff.Time, Stable: true}, {At: "$..seen", Kind: jsondiff.Time, Stable: true, Digits: "9"},
		{At: "$.bag", Kind: jsondiff.List}, {At: "$.keyed", Kind: jsondiff.List, Key: "$.id"},
	},
	Streams: map[string]streamdiff.Rules{
		"bus":  {Exact: true, Heartbeat: &streamdiff.Heartbeat{Event: "ping", Every: time.Second, First: time.Second, Tolerance: 100 * time.Millisecond}},
		"feed": {OrderWithin: "$.client", Anchors: []string{"opened"}, Heartbeat: &streamdiff.Heartbeat{}},
		"log":  {Gap: &streamdiff.Gap{Max: 2 * time.Second}},
		"talk": {OrderWithin: "$.client", Collapse: []streamdiff.Collapse{{Event: "delta", By: []string{"$.type"}, Text: "$.delta"}}},
		"wire": {Exact: true},
		"tool": {Exact: true, Stderr: true},
		"rpc":  {JSONRPC: true},
	},
}

// encoded matches what expand writes in Base64.
var encoded = regexp.MustCompile(`‹[^›]*›`)

// expand inserts the values of a side into a text: {u}, {1}, {2}, times {ms}, {s} and {at}.
func (s story) expand(text string) string {
	text = encoded.ReplaceAllStringFunc(text, func(word string) string {
		return base64.RawURLEncoding.EncodeToString([]byte(s.expand(strings.Trim(word, "‹›"))))
	})
	return strings.NewReplacer(
		"{us}", fmt.Sprint(s.started.UnixMicro()+250_123), "{ns}", fmt.Sprint(s.started.UnixNano()+250_123_456), "{sum}", s.sum(), "{request}", s.request(),
		"{history}", s.history(), "{o}", s.more[0], "{c}", s.more[1], "{n}", s.more[2], "{3}", s.third, "{t}", s.third[18:], "{u}", s.unique, "{1}", s.first, "{2}", s.second,
		"{ms}", fmt.Sprint(s.started.UnixMilli()+250), "{s}", fmt.Sprint(s.started.Unix()), "{at}", s.started.Add(250*time.Millisecond+123456).Format(time.RFC3339Nano), "{later}", s.started.Add(2*time.Second+987654321).Format(time.RFC3339Nano),
	).Replace(text)
}

// sum looks like a signature, and request returns an id that the client generates.
func (s story) sum() string {
	sum := sha256.Sum256([]byte(s.unique))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

func (s story) request() string {
	return uuid.NewSHA1(uuid.NameSpaceURL, []byte(s.unique)).String()
}

// history is a list of six objects that differ only in their times.
func (s story) history() string {
	var all []string
	for i := range 6 {
		all = append(all, fmt.Sprintf(`{"at":%d,"by":%q}`, s.started.UnixMilli()+int64(i), s.first))
	}
	return "[" + strings.Join(all, ",") + "]"
}

// answer is an exchange; header has one "Name: value" per line.
func (s story) answer(request string, status int, header, text string, at time.Duration) *transcript.Exchange {
	method, target, _ := strings.Cut(request, " ")
	x := &transcript.Exchange{
		Request:  transcript.Request{Method: method, Target: s.expand(target)},
		Response: &transcript.Response{Proto: "HTTP/1.1", Status: status},
		Sent:     at, Head: at + 2*time.Millisecond, Done: at + 3*time.Millisecond,
	}
	for line := range strings.Lines(header) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		x.Response.Header = append(x.Response.Header, transcript.Field{Name: name, Value: s.expand(value)})
	}
	data := []byte(s.expand(text))
	x.Response.Body = transcript.Body{Bytes: data, Size: int64(len(data))}
	return x
}

func (s story) event(name, data string, at time.Duration) transcript.Event {
	return transcript.Event{Name: name, Type: name, Data: s.expand(data), Framing: "event: •\ndata: •\n\n", At: at}
}

// tell returns the story of a side.
func (s story) tell() *transcript.Transcript {
	const (
		json   = "Content-Type: application/json\nDate: Fri, 20 Nov 2026 09:30:00 GMT\nConnection: close"
		stream = "Content-Type: text/event-stream\nCache-Control: no-cache"
		thing  = `{"id":"{1}","ownerID":"c-{u}","createdAt":{ms},"updatedAt":{ms},"seen":"{at}","told":"{at}","day":{s},"name":"Grüße, an/alle","digits":"12","none":"","gone":null,` +
			`"size":3,"ratio":1.5,"price":2.0,"serial":9007199254740993,"on":true,"off":false,"tags":["b","a","a"],"parts":[{"id":"{1}"},{"id":"{2}"}],"nested":{"x":{"y":1}}}`
	)
	// An id from the client, ids in texts with JSON, and a temporary folder.
	const calls = `{"callID":"6f0c2a9e-1b7d-4e38-a5c4-2d9b8e7f6a10","traceID":"{3}","next":"‹{"id":"{3}","after":"{2}"}›","arguments":"{\"id\":\"{1}\",\"folder\":\"/tmp/run-{t}\"}",` +
		`"ids":["{o}","{c}","{n}"],"folder":"/tmp/run-{t}","of":["{o}","{c}","{n}"],"log":"/tmp/run-{t}/log.txt",` +
		`"request":"{request}","token":"‹{"alg":"HS256"}›.‹{"sub":"{1}"}›.{sum}","micros":{us},"nanos":"{ns}","history":{history},"bag":["p",2,{"q":[3,4]}],"keyed":[{"id":"k-1","n":1},{"id":"k-2","n":1},{"id":"k-3","n":2}]}`
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	comment := transcript.Event{Comment: true, Data: "alive", Framing: ": •\n\n", At: ms(1500)}
	asked, plain := s.answer("GET /calls/6f0c2a9e-1b7d-4e38-a5c4-2d9b8e7f6a10", 200, json+"\nX-Request-Id: {request}", calls, ms(65)), s.answer("GET /text", 200, "Content-Type: text/plain; charset=utf-8\nAllow: GET, HEAD", "all is well", ms(50))
	asked.Request.Header = transcript.Header{{Name: "X-Request-Id", Value: s.request()}}
	plain.Response.Trailer = transcript.Header{{Name: "X-Lines", Value: "1"}}
	bare := transcript.Event{Name: "message", Data: s.expand(`{"client":"b","n":1}`), Framing: "data: •\n\n", At: ms(1300)}
	return &transcript.Transcript{
		Scenario: "things", Target: "t", Unique: s.unique, Started: s.started, Took: 5 * time.Second,
		Steps: []transcript.Step{
			{ID: "1", Line: 1, Kind: "http", Exchanges: []*transcript.Exchange{s.answer("POST /things", 201, json+"\nLocation: /things/{1}", thing, ms(10))}},
			{ID: "2", Line: 2, Kind: "http", Exchanges: []*transcript.Exchange{s.answer("GET /things/{1}", 200, json, thing, ms(20))}},
			{ID: "3", Line: 3, Kind: "http", Exchanges: []*transcript.Exchange{s.answer("GET /nothing", 404, json, `{"error":{"code":"NOT_FOUND","message":"No \"such\" thing"}}`, ms(30))}},
			{ID: "4", Line: 4, Kind: "http", Exchanges: []*transcript.Exchange{s.answer("POST /things", 400, json, `{"error":{"code":"INVALID","message":"No name"}}`, ms(40))}},
			{ID: "5", Line: 5, Kind: "http", Exchanges: []*transcript.Exchange{plain}},
			{ID: "6", Line: 6, Kind: "http", Exchanges: []*transcript.Exchange{s.answer("DELETE /things/{2}", 204, "", "", ms(60))}},
			{ID: "13", Line: 6, Kind: "http", Exchanges: []*transcript.Exchange{asked}},
			{ID: "7", Line: 7, Kind: "http", Burst: true, Exchanges: []*transcript.Exchange{
				s.answer("POST /once", 200, json, `{"won":true}`, ms(70)), s.answer("POST /once", 404, json, `{"won":false}`, ms(70)),
			}},
			{ID: "8", Line: 8, Kind: "open", Stream: "bus", Exchanges: []*transcript.Exchange{opens("bus", s.answer("GET /bus", 200, stream, "", ms(80)))}},
			{ID: "9", Line: 9, Kind: "open", Stream: "feed", Exchanges: []*transcript.Exchange{opens("feed", s.answer("GET /feed", 200, stream, "", ms(90)))}},
			{ID: "11", Line: 9, Kind: "open", Stream: "log", Exchanges: []*transcript.Exchange{opens("log", s.answer("GET /log", 200, stream, "", ms(92)))}},
			{ID: "12", Line: 9, Kind: "open", Stream: "talk", Exchanges: []*transcript.Exchange{opens("talk", s.answer("GET /talk", 200, stream, "", ms(96)))}},
			{ID: "16", Line: 9, Kind: "open", Stream: "wire", Exchanges: []*transcript.Exchange{opens("wire", s.answer("GET /wire", 101, "Upgrade: websocket\nSec-WebSocket-Accept: "+s.first, "", ms(97)))}},
			{ID: "17", Line: 9, Kind: "open", Stream: "room", Exchanges: []*transcript.Exchange{opens("room", s.answer("GET /room", 101, "", "", ms(98)))}},
			{ID: "18", Line: 9, Kind: "open", Stream: "tool"}, {ID: "19", Line: 9, Kind: "open", Stream: "rpc"}, {ID: "20", Line: 9, Kind: "open", Stream: "shell"},
			{ID: "21", Line: 9, Kind: "do", Exchanges: []*transcript.Exchange{s.outcome("hello", `{"ok":{"greeting":"hi"}}`, ms(99)), s.outcome("fail", `{"error":{"kind":"Refused"}}`, ms(99))}},
			{ID: "10", Line: 10, Kind: "await", Stream: "bus", Events: []int{0}},
			{ID: "14", Line: 11, Kind: "restart", At: ms(4900), Took: ms(50), Process: &transcript.ProcessEnd{Signal: "SIGTERM", Status: "exit status 0", Took: ms(20)}},
			{ID: "15", Line: 12, Kind: "kill", At: ms(4960), Process: &transcript.ProcessEnd{Signal: "SIGKILL", Status: "signal: killed"}},
		},
		Streams: []*transcript.Stream{
			{Name: "bus", Step: "8", Operation: "GET /bus", Ended: transcript.EndedByClient, At: ms(82), Until: ms(4800), Events: []transcript.Event{
				s.event("created", `{"id":"{1}","client":"c-{u}"}`, ms(100)),
				s.event("changed", `{"id":"{1}","client":"c-{u}","callID":"c-{u}-7"}`, ms(200)),
				s.event("ping", "{}", ms(1082)),
				s.event("text", "plain words", ms(1200)),
				s.event("ping", "{}", ms(2082)), s.event("ping", "{}", ms(3082)), s.event("ping", "{}", ms(4082)),
			}},
			{Name: "feed", Step: "9", Operation: "GET /feed", Ended: transcript.EndedByServer, At: ms(92), Until: ms(4800), Events: []transcript.Event{
				s.event("added", `{"client":"a","n":1}`, ms(1100)), bare, s.event("added", `{"client":"b","n":2}`, ms(1400)), comment, s.event("opened", `{"n":3}`, ms(1600)),
			}},
			{Name: "log", Step: "11", Operation: "GET /log", Ended: transcript.EndedByClient, At: ms(94), Until: ms(4800), Events: []transcript.Event{
				{Name: "a", Data: `{"type":"a"}`, Framing: "data: •\n\n", At: ms(1100)}, {Name: "b", Data: `{"type":"b"}`, Framing: "data: •\n\n", At: ms(1200)},
				{Name: "c", Data: `{"type":"c"}`, Framing: "data: •\n\n", At: ms(1300)},
			}},
			{Name: "talk", Step: "12", Operation: "GET /talk", Ended: transcript.EndedByServer, At: ms(98), Until: ms(4800), Events: s.talk(ms(1000))},
			{Name: "wire", Step: "16", Wire: transcript.WireSocket, Ended: transcript.EndedByServer, At: ms(100), Until: ms(1700), Events: s.messages(ms(1500))},
			{Name: "room", Step: "17", Wire: transcript.WireSocket, Ended: transcript.EndedByServer, At: ms(100), Until: ms(1700), Events: []transcript.Event{
				s.item(transcript.ItemText, `{"to":"all"}`, "text 12", ms(1500)), s.item(transcript.ItemClose, `{"code":4000,"reason":"full"}`, "close 6", ms(1600)),
			}},
			{Name: "tool", Step: "18", Wire: transcript.WireProgram, Ended: transcript.EndedByServer, At: ms(100), Until: ms(1700), Events: s.lines(ms(1500))},
			{Name: "rpc", Step: "19", Wire: transcript.WireProgram, Ended: transcript.EndedByServer, At: ms(100), Until: ms(1700), Events: s.rpc(ms(1500))},
			{Name: "shell", Step: "20", Wire: transcript.WireProgram, Ended: transcript.EndedByServer, At: ms(100), Until: ms(1700), Events: []transcript.Event{
				s.item(transcript.ItemLine, "done", "•\n", ms(1500)), s.item(transcript.ItemStderr, "a log that differs: {1}", "•\n", ms(1550)), s.item(transcript.ItemExit, `{"signal":"SIGTERM"}`, "•", ms(1600)),
			}},
		},
		Upstream: []transcript.Step{{ID: "llm.talk", Line: 13, Kind: "upstream", Exchanges: []*transcript.Exchange{
			s.question(`{"model":"m","about":"{1}"}`, ms(300)), s.question(`{"model":"m","last":"It is {2}"}`, ms(400)),
		}}, {ID: "tools.tools/call", Line: 14, Kind: "upstream", Exchanges: []*transcript.Exchange{s.said("tools/call", `{"name":"echo","of":"{1}"}`)}}},
		Windows: []transcript.Window{{Step: "10", Line: 10, Stream: "bus", Match: &transcript.Pattern{Event: ptr("created")}, First: 4, From: ms(2000), To: ms(2500)}},
	}
}

// question is a request of a side to its upstream.
func (s story) question(text string, at time.Duration) *transcript.Exchange {
	x := s.answer("POST /v1/talk", 200, "", "", at)
	x.Request.Header = transcript.Header{{Name: "Content-Type", Value: "application/json"}, {Name: "Authorization", Value: "Bearer k"}}
	data := []byte(s.expand(text))
	x.Request.Body = transcript.Body{Bytes: data, Size: int64(len(data))}
	return x
}

// talk is a text that each side splits in other places.
func (s story) talk(at time.Duration) []transcript.Event {
	pieces := []string{"see {1}", "", " and ", "then"}
	if s.unique == reference.unique {
		pieces = []string{"see itm_", strings.TrimPrefix(s.first, "itm_") + " and then"}
	}
	var out []transcript.Event
	for i, p := range pieces {
		out = append(out, s.event("delta", `{"client":"a","type":"delta","delta":"`+p+`"}`, at+time.Duration(i)*time.Millisecond))
	}
	return append(out, s.event("told", `{"client":"a","words":"all of it","told":"{later}"}`, at+time.Second))
}

// item is a message of a socket, or a line of a program.
func (s story) item(item transcript.Item, data, framing string, at time.Duration) transcript.Event {
	return transcript.Event{Name: string(item), Item: item, Data: s.expand(data), Framing: framing, At: at}
}

// tells is what lockstep sends: one text for each side, which no operator may change.
func (s story) tells(item transcript.Item, data string, at time.Duration) transcript.Event {
	ev := s.item(item, data, "•\n", at)
	ev.Sent = true
	return ev
}

// messages are those of a socket whose frames matter.
func (s story) messages(at time.Duration) []transcript.Event {
	return []transcript.Event{
		s.tells(transcript.ItemText, `{"type":"hello","from":"c-{u}"}`, at),
		s.item(transcript.ItemText, `{"type":"welcome","id":"{1}","to":"c-{u}"}`, "text 66", at),
		s.tells(transcript.ItemText, `{"type":"ask"}`, at+1),
		s.item(transcript.ItemText, `{"type":"answer","id":"{1}","n":7}`, "text 58", at+2),
		s.item(transcript.ItemBinary, "bytes", "binary 5", at+3),
		s.item(transcript.ItemBinary, "\xff\x00", "binary 2", at+4),
		s.item(transcript.ItemPing, "still there?", "ping 12", at+5),
		s.item(transcript.ItemClose, `{"code":1000,"reason":""}`, "close 2", at+6),
	}
}

// lines are those of a program whose line ends and whose standard error are compared.
func (s story) lines(at time.Duration) []transcript.Event {
	return []transcript.Event{
		s.tells(transcript.ItemLine, "count", at),
		s.item(transcript.ItemLine, "one", "•\n", at), s.item(transcript.ItemStderr, "warning: two", "•\n", at+1), s.item(transcript.ItemLine, "three", "•\n", at+2),
		s.item(transcript.ItemExit, `{"status":3}`, "•", at+3),
	}
}

// rpc is JSON-RPC: the sides answer in different orders, and number their own requests in different ways.
func (s story) rpc(at time.Duration) []transcript.Event {
	own := "1"
	one, two := s.item(transcript.ItemLine, `{"jsonrpc":"2.0","id":1,"result":{"name":"first"}}`, "•\n", at+1), s.item(transcript.ItemLine, `{"jsonrpc":"2.0","id":2,"error":{"code":-32601}}`, "•\n", at+2)
	if s.unique == reference.unique {
		own, one, two = "100", two, one
	}
	return []transcript.Event{
		s.tells(transcript.ItemLine, `{"jsonrpc":"2.0","id":1,"method":"a"}`, at), s.tells(transcript.ItemLine, `{"jsonrpc":"2.0","id":2,"method":"b"}`, at),
		one, two,
		s.item(transcript.ItemLine, `{"jsonrpc":"2.0","id":`+own+`,"method":"ask"}`, "•\n", at+3),
		s.tells(transcript.ItemLine, `{"jsonrpc":"2.0","id":`+own+`,"result":true}`, at+3),
		s.item(transcript.ItemStderr, "a log that differs: {1}", "•\n", at+4), s.item(transcript.ItemLine, `{"jsonrpc":"2.0","method":"told"}`, "•\n", at+5),
		s.item(transcript.ItemExit, `{"status":0}`, "•", at+6),
	}
}

// outcome is what a driver was told to do, and did.
func (s story) outcome(name, outcome string, at time.Duration) *transcript.Exchange {
	x := s.answer(transcript.Do+" "+name, 200, "Content-Type: application/json", outcome, at)
	x.Response.Proto = "driver"
	return x
}

func ptr[T any](v T) *T { return &v }

func opens(stream string, x *transcript.Exchange) *transcript.Exchange {
	x.Stream = stream
	return x
}

func subject() *mutate.Subject {
	return &mutate.Subject{Reference: reference.tell(), Candidate: candidate.tell(), Rules: rules}
}

// found returns the first difference or shortfall of a candidate's transcript, judged without a contract.
func found(ref, cand *transcript.Transcript) string { return foundBy(rules, ref, cand) }

func foundBy(rules *compare.Rules, ref, cand *transcript.Transcript) string {
	result := compare.Transcripts(nil, ref, cand, rules)
	for _, d := range result.Differences {
		return fmt.Sprintf("%s %s: %s", d.Step, d.At, d.Text())
	}
	for _, f := range compare.AllUnmet(nil, cand, rules) {
		return fmt.Sprintf("%s %s: %s", f.Step, f.Place, f.Text)
	}
	return ""
}

func TestTheStoryItselfIsGreen(t *testing.T) {
	if got := found(reference.tell(), candidate.tell()); got != "" {
		t.Fatalf("found: %s", got)
	}
}

func TestEveryOperatorHasMutantsWhichAreFoundIfTheyMatter(t *testing.T) {
	ops := mutate.Operators()
	if len(ops) < 100 {
		t.Errorf("there are %d operators", len(ops))
	}
	s := subject()
	for _, op := range ops {
		t.Run(op.Name, func(t *testing.T) {
			n := 0
			for m := range op.Mutants(s, 1) {
				n++
				changed := m.Build()
				if reflect.DeepEqual(changed, s.Candidate) {
					t.Errorf("%s: nothing is changed", m.Place)
				}
				got := found(s.Reference, changed)
				switch {
				case op.Matters && got == "":
					t.Errorf("%s: %s → %s lives: %s", m.Place, m.Before, m.After, m.Explain(s))
				case !op.Matters && got != "":
					t.Errorf("%s: %s → %s is a false alarm: %s", m.Place, m.Before, m.After, got)
				}
				if m.Place == "" || m.Before == m.After {
					t.Errorf("a mutant does not say what it is: %+v", m)
				}
			}
			if n == 0 {
				t.Error("it has no mutant")
			}
		})
	}
	if diff := gocmp.Diff(candidate.tell(), s.Candidate, cmpopts.IgnoreUnexported(transcript.Body{})); diff != "" {
		t.Errorf("the original was changed (-want +got):\n%s", diff)
	}
}

func TestMutantsAreTheSameForTheSameSeed(t *testing.T) {
	s := subject()
	list := func(seed uint64) (all []string) {
		for _, op := range mutate.Operators() {
			for m := range op.Mutants(s, seed) {
				all = append(all, op.Name+" "+m.Place+" "+m.Before+" "+m.After)
			}
		}
		return all
	}
	once, again, other := list(1), list(1), list(2)
	if diff := gocmp.Diff(once, again); diff != "" {
		t.Errorf("the same seed gives others (-once +again):\n%s", diff)
	}
	if slices.Equal(once, other) || len(once) != len(other) {
		t.Errorf("another seed gives %d mutants, as many as before: %d; and they are equal: %t", len(other), len(once), slices.Equal(once, other))
	}
}

func TestMutantsAreYieldedOneByOne(t *testing.T) {
	s := subject()
	for _, op := range mutate.Operators() {
		n := 0
		for range op.Mutants(s, 1) {
			n++
			break
		}
		if n != 1 {
			t.Errorf("%s: %d", op.Name, n)
		}
	}
}

func TestOperatorsAreNamedAfterTheirFamily(t *testing.T) {
	seen := map[string]bool{}
	for _, op := range mutate.Operators() {
		family, name, ok := strings.Cut(op.Name, "/")
		if !ok || family != op.Family || name == "" || op.Doc == "" || strings.HasSuffix(op.Doc, ".") || seen[op.Name] {
			t.Errorf("operator %+v", op)
		}
		seen[op.Name] = true
	}
}

func TestTheRuleThatHidesAMutantIsNamed(t *testing.T) {
	lenient := *rules
	lenient.Headers = []string{"Content-Type"}
	lenient.Volatile = []jsondiff.Volatile{{At: "$..name", Kind: jsondiff.Text}, {At: "$..n", Kind: jsondiff.ID}}
	lenient.Streams = map[string]streamdiff.Rules{"feed": {}, "bus": {}}
	s := &mutate.Subject{Reference: reference.tell(), Candidate: candidate.tell(), Rules: &lenient}
	s.Reference.Steps[2].Uncompared, s.Candidate.Steps[2].Uncompared = true, true
	for _, tc := range []struct{ op, place, want string }{
		{"header/value", "step 1 header Location", "header field Location is not named in compare.headers"},
		{"string/other", "step 1 body /name", "volatile $..name, kind text"},
		{"status/class", "step 3 status", "the scenario does not compare step 3"},
		{"status/class", "step 4 status", mutate.Unexplained},
		{"event-drop/one", "stream feed event 1", "volatile $..n, kind id"},
	} {
		i := slices.IndexFunc(mutate.Operators(), func(op mutate.Operator) bool { return op.Name == tc.op })
		said := ""
		for m := range mutate.Operators()[i].Mutants(s, 1) {
			if m.Place == tc.place {
				said = cmp.Or(said, m.Explain(s))
			}
		}
		if said != tc.want {
			t.Errorf("%s at %s: %q, want %q", tc.op, tc.place, said, tc.want)
		}
	}
	s.Rules = rules
	for _, op := range mutate.Operators() {
		if op.Name != "heartbeat/text" {
			continue
		}
		for m := range op.Mutants(s, 1) {
			if got := m.Explain(s); !strings.HasPrefix(got, "heartbeat: ") {
				t.Errorf("%s: %q", m.Place, got)
			}
		}
	}
}

// A counter that has the same number on both sides by chance is not a fixed value. Nor is an id that both sides
// generated in the same millisecond.
func TestValuesThatAreEqualByChanceAreNotFixed(t *testing.T) {
	volatile := *rules
	volatile.Volatile = []jsondiff.Volatile{{At: "$.size", Kind: jsondiff.ID}}
	at := fmt.Sprint(candidate.started.UnixMilli())
	for _, tc := range []struct {
		name, operator string
		rules          *compare.Rules
		data           string
		want           int
	}{
		{"a value that both have", "number/tenfold", rules, `{"size":7}`, 1},
		{"one that a rule calls volatile", "number/tenfold", &volatile, `{"size":7}`, 0},
		{"a text that both have", "string/other", rules, `{"call":"call_7"}`, 1},
		{"a text with the time in it", "string/other", rules, `{"call":"call_` + at + `"}`, 0},
		{"a text with as long a number in it", "string/other", rules, `{"call":"call_1234567890123"}`, 1},
	} {
		s := &mutate.Subject{Reference: reference.tell(), Candidate: candidate.tell(), Rules: tc.rules}
		for _, tr := range []*transcript.Transcript{s.Reference, s.Candidate} {
			tr.Steps, tr.Streams, tr.Upstream = tr.Steps[:1], nil, nil
			tr.Steps[0].Exchanges[0].Response.Body = transcript.Body{Bytes: []byte(tc.data), Size: int64(len(tc.data))}
		}
		n := 0
		for _, op := range mutate.Operators() {
			if op.Name != tc.operator {
				continue
			}
			for range op.Mutants(s, 1) {
				n++
			}
		}
		if n != tc.want {
			t.Errorf("%s: %d mutants, want %d", tc.name, n, tc.want)
		}
	}
}

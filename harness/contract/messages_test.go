package contract

import (
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/harness/contract/internal/sample"
	"github.com/lockstep-dev/lockstep/harness/contract/spec"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

const chatDoc = `
        name: /type
        received:
          chat: {schema: {type: object, required: [text], properties: {type: {}, text: {type: string}}}}
          7: {schema: {type: object}}
          binary: {contentType: application/octet-stream, schema: {}}
          text: {contentType: text/plain, schema: {type: string, enum: [hi, "h\xE9"]}}
          close: {schema: {type: object, properties: {code: {enum: [1000, 1001]}, reason: {type: string}}}}
        sent:
          join: {schema: {type: object, required: [room], properties: {type: {}, room: {type: string}}}}
          chat: {schema: {type: object, required: [to], properties: {type: {}, to: {type: string}}}}`

func TestMessagesOfASocket(t *testing.T) {
	d := parse(t, sample.Messaging(chatDoc))
	const text, binary = transcript.ItemText, transcript.ItemBinary
	for _, tc := range []struct {
		ev         transcript.Event
		name, want string // the violations
	}{
		{sample.Received(text, `{"type":"chat","text":"a"}`), "chat", ""},
		{sample.Received(binary, `{"type":"chat","text":"a"}`), "chat", ""},
		{sample.Received(text, `{"type":"chat","text":1}`), "chat", "event data/text type"},
		{sample.Received(text, `{"type":"chat","text":"a","x":1}`), "chat", "event data/x undocumented-field"},
		{sample.Received(text, `{"type":"chat","to":"b"}`), "chat", "event data/text missing-field\nevent data/to undocumented-field"},
		{sample.Received(text, "{\"type\":\"chat\",\"text\":\"\xe9\"}"), "chat", "event data/text json-invalid-utf8"},
		{sample.Received(text, `{"type":"chat","text":"a"`), "text", "event data enum"},
		{sample.Received(text, `{"type":7}`), "7", ""},
		{sample.Received(text, `{"type":"join","room":"a"}`), "join", "event name undocumented-event"},
		{sample.Received(text, `hi`), "text", ""},
		{sample.Received(text, "\xe9"), "text", "event data text-invalid-utf8"},
		{sample.Received(binary, "\xff\x00"), "binary", ""},
		{sample.Received(transcript.ItemPing, "\xff"), "ping", ""},
		{sample.Received(transcript.ItemPong, `{"type":"chat"}`), "pong", ""},
		{sample.Received(transcript.ItemClose, `{"code":1000,"reason":"bye"}`), "close", ""},
		{sample.Received(transcript.ItemClose, `{"code":1011}`), "close", "event data/code enum"},

		{sample.Sent(text, `{"type":"join","room":"a"}`), "join", ""},
		{sample.Sent(text, `{"type":"join","room":"a","x":1}`), "join", ""}, // a server must accept it
		{sample.Sent(text, `{"type":"join"}`), "join", "event data/room missing-field"},
		{sample.Sent(text, `{"type":"chat","text":"a"}`), "chat", "event data/to missing-field"},
		{sample.Sent(text, `{"type":"joni"}`), "joni", "event name undocumented-event"},
		{sample.Sent(text, `hi`), "text", "event name undocumented-event"},
		{sample.Sent(transcript.ItemClose, `{"code":1011}`), "close", ""},
		{sample.Sent(transcript.ItemBytes, "\x81"), "bytes", ""},
	} {
		if got := d.EventNamer("GET /x")(&tc.ev); got != tc.name {
			t.Errorf("%+v is named %q, want %q", tc.ev, got, tc.name)
		}
		side := Event
		if tc.ev.Sent {
			side = Request
		}
		tr := sample.Socket(sample.Received(text, `hi`), tc.ev)
		vs := d.Check(tr)
		if got := short(vs); got != tc.want {
			t.Errorf("Check(%+v): %s, want %s", tc.ev, got, tc.want)
		}
		for _, v := range vs {
			if v.Side != side || v.Stream != "s" || v.Event != 1 || v.Step != "1" || v.Line == 0 {
				t.Errorf("%+v: %+v does not say where", tc.ev, v)
			}
		}
		tc.ev.Name = tc.name
		if got := short(d.CheckMessage("GET /x", &tc.ev)); tc.ev.Sent && got != tc.want {
			t.Errorf("CheckMessage(%+v): %s, want %s", tc.ev, got, tc.want)
		}
		ofTarget := tc.want
		if tc.ev.Sent { // it was checked before it was sent
			ofTarget = ""
		}
		if got := short(d.CheckResponses(nil, tr)); got != ofTarget {
			t.Errorf("CheckResponses(%+v): %s, want %s", tc.ev, got, ofTarget)
		}
		tr.Streams[0].Events[1].Malformed = true
		if got := short(d.Check(tr)); tc.ev.Sent && got != "" {
			t.Errorf("Check of the malformed %+v: %s", tc.ev, got)
		}
	}
}

func TestSchemasOfMessagesHaveTheVersionOfTheDocument(t *testing.T) {
	d := parse(t, sample.Programming("  received:\n    line: {schema: {type: [object, 'null'], properties: {a: {const: 1}}}}"))
	for data, want := range map[string]string{`{"a":1}`: "", `{"a":2}`: "event data/a enum", `null`: ""} {
		ev := sample.Received(transcript.ItemLine, data)
		if got := short(d.Check(sample.Program(ev))); got != want {
			t.Errorf("%s: %s, want %s", data, got, want)
		}
	}
}

func TestTextsAboutMessages(t *testing.T) {
	d := parse(t, sample.Messaging(chatDoc))
	onlySent := parse(t, sample.Messaging("        sent: {text: {schema: {}}}"))
	for _, tc := range []struct {
		doc  *Document
		ev   transcript.Event
		want string
	}{
		{d, sample.Sent(transcript.ItemText, `{"type":"joni"}`), `the message "joni" is not among "join", "chat"; did it mean "join"?`},
		{onlySent, sample.Received(transcript.ItemText, `{}`), `the message "text" stands here; the document has no messages of the server`},
	} {
		vs := tc.doc.Check(sample.Socket(tc.ev))
		if len(vs) != 1 || vs[0].Text != tc.want {
			t.Errorf("%s, want %s", long(vs), tc.want)
		}
	}
}

func TestMessagesOfAProgram(t *testing.T) {
	d := parse(t, sample.Programming(`
  received:
    line: {contentType: text/plain, schema: {type: string, maxLength: 3}}
    exit: {schema: {type: object, properties: {status: {enum: [0]}}}}
  sent:
    line: {schema: {type: integer}}`))
	const line, exit = transcript.ItemLine, transcript.ItemExit
	for _, tc := range []struct {
		events []transcript.Event
		want   string
	}{
		{[]transcript.Event{sample.Sent(line, "1"), sample.Received(line, "one"), sample.Sent(transcript.ItemEOF, ""), sample.Received(exit, `{"status":0}`)}, ""},
		{[]transcript.Event{sample.Received(line, "three")}, "event data length"},
		{[]transcript.Event{sample.Sent(line, "one")}, "event data json-syntax"},
		{[]transcript.Event{sample.Received(exit, `{"status":1}`)}, "event data/status enum"},
		{[]transcript.Event{sample.Received(exit, `{"signal":"SIGSEGV"}`)}, "event data/signal undocumented-field"},
		{[]transcript.Event{sample.Received(transcript.ItemStderr, "three"), sample.Sent(transcript.ItemSignal, "SIGTERM")}, ""},
	} {
		if got := short(d.Check(sample.Program(tc.events...))); got != tc.want {
			t.Errorf("%+v: %s, want %s", tc.events, got, tc.want)
		}
	}
	if vs := parse(t, sample.Returning("{}")).Check(sample.Program(sample.Received(line, "three"))); len(vs) > 0 {
		t.Errorf("a program that the document does not describe: %s", long(vs))
	}
}

func TestMessagesOfJSONRPC(t *testing.T) {
	d := parse(t, sample.Programming(`
  name: jsonrpc
  received:
    tools/list result: {schema: {type: object, properties: {jsonrpc: {}, id: {}, result: {type: object}}}}
    roots/list: {schema: {}}
  sent:
    tools/list: {schema: {type: object, required: [id]}}
    roots/list error: {schema: {type: object, required: [error]}}`))
	const line = transcript.ItemLine
	list := sample.Sent(line, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	for _, tc := range []struct {
		events []transcript.Event
		want   string
	}{
		{[]transcript.Event{list, sample.Received(line, `{"jsonrpc":"2.0","id":1,"result":{}}`)}, ""},
		{[]transcript.Event{list, sample.Received(line, `{"jsonrpc":"2.0","id":1,"result":[]}`)}, "event data/result type"},
		{[]transcript.Event{list, sample.Received(line, `{"jsonrpc":"2.0","id":1,"error":{}}`)}, "event name undocumented-event"},
		{[]transcript.Event{list, sample.Received(line, `{"jsonrpc":"2.0","id":2,"result":{}}`)}, "event name undocumented-event"},
		{[]transcript.Event{sample.Received(line, `[]`)}, "event name undocumented-event"},
		{[]transcript.Event{sample.Received(line, `{"id":1,"method":"roots/list"}`), sample.Sent(line, `{"id":1,"error":{}}`)}, ""},
		{[]transcript.Event{sample.Received(line, `{"id":1,"method":"roots/list"}`), sample.Sent(line, `{"id":1,"result":{}}`)}, "event name undocumented-event"},
		// A malformed request still has a response.
		{[]transcript.Event{{Item: line, Sent: true, Malformed: true, Data: `{"id":3,"method":"tools/list","id":3}`}, sample.Received(line, `{"id":3,"result":{}}`)}, ""},
	} {
		if got := short(d.Check(sample.Program(tc.events...))); got != tc.want {
			t.Errorf("%+v: %s, want %s", tc.events, got, tc.want)
		}
	}
	// A response that lockstep sends has the name that the stream's namer gave it.
	name := d.EventNamer(spec.Program)
	request, response := sample.Received(line, `{"id":"a","method":"roots/list"}`), sample.Sent(line, `{"id":"a","error":{}}`)
	name(&request)
	response.Name = name(&response)
	if vs := d.CheckMessage(spec.Program, &response); len(vs) > 0 {
		t.Errorf("CheckMessage of %q: %s", response.Name, long(vs))
	}
}

func TestASocketIsOpenedWithoutABody(t *testing.T) {
	for _, doc := range []string{sample.Messaging(chatDoc), strings.Split(sample.Messaging(chatDoc), "      x-messages")[0]} {
		d := parse(t, doc)
		tr := sample.Socket(sample.Received(transcript.ItemText, "hi"))
		if vs := d.Check(tr); len(vs) > 0 {
			t.Errorf("a described 101: %s", long(vs))
		}
		tr.Steps[0].Exchanges[0].Response.Status = 403
		if got, want := short(d.Check(tr)), "status undocumented-status"; got != want {
			t.Errorf("a refusal: %s, want %s", got, want)
		}
	}
}

func TestMistakesInMessages(t *testing.T) {
	socket := func(rest string) string { return sample.Messaging(rest) }
	for _, tc := range []struct {
		name, doc string
		want      []string
	}{
		{"keys", socket(`
        nmae: /type
        recieved: {}
        sent:
          text: {shcema: {}}`), []string{
			`api.yaml:8:9: unknown key "nmae" in x-messages` + "\n\tfix: did you mean \"name\"?",
			`api.yaml:9:9: unknown key "recieved" in x-messages` + "\n\tfix: did you mean \"received\"?",
			`api.yaml:11:11: the message "text" has no schema`,
			`api.yaml:11:18: unknown key "shcema" in the message text` + "\n\tfix: did you mean \"schema\"?"}},
		{"values", socket(`
        name: json-rpc
        received:
          a: {schema: {$ref: '#/components/schemas/Nope'}}
          b: {contentType: aplication/json, schema: {}}
          c: {contentType: application/octet-stream, schema: {type: string}}
          d: {contentType: text/plain, schema: {type: integer}}
        sent: 5`), []string{
			"api.yaml:8:9: name is json-rpc\n\tfix: write jsonrpc, or a JSON Pointer to a string or a number in the message: \"/type\"",
			`api.yaml:10:15: $ref points to "#/components/schemas/Nope", which does not exist`,
			"api.yaml:11:15: contentType is aplication/json\n\tfix: write application/json, text/plain or application/octet-stream",
			"api.yaml:12:54: no schema can describe application/octet-stream\n\tfix: write schema: {}",
			"api.yaml:13:11: the message is plain text, but its schema does not allow a string",
			"api.yaml:14:9: sent is not an object\n\tfix: list the messages of the stream by name"}},
		{"not an object", strings.Replace(socket("        -"), "x-messages:\n        -", "x-messages: 5", 1), []string{
			"api.yaml:7:7: x-messages is not an object\n\tfix: write the keys name, received and sent"}},
		{"no messages", socket("        name: /type"), []string{"api.yaml:7:7: x-messages has no messages"}},
		{"names that nothing has", socket("        received: {chat: {schema: {}}, text: {schema: {}}, close: {schema: {}}}"), []string{
			`api.yaml:8:20: no message has the name "chat", because x-messages has no name` + "\n\tfix: write where messages have it"}},
		{"misspelt", strings.Replace(socket(chatDoc), "x-messages", "x-mesages", 1), []string{
			`api.yaml:7:7: unknown key "x-mesages"` + "\n\tfix: did you mean \"x-messages\"?"}},
		{"of a program, misspelt", strings.Replace(sample.Programming("  sent: {line: {schema: {}}}"), "x-messages", "x-message", 1), []string{
			`api.yaml:3:1: unknown key "x-message"` + "\n\tfix: did you mean \"x-messages\"?"}},
		{"without the status", strings.Replace(socket(chatDoc), "'101'", "'200'", 1), []string{
			"api.yaml:7:7: x-messages needs the response 101, which opens the socket\n\tfix: add under responses: '101': {description: Switching Protocols}"}},
		{"of another method", strings.Replace(socket(chatDoc), "get:", "post:", 1), []string{"api.yaml:7:7: x-messages is not allowed for POST"}},
		{"in other places", sample.API(`
  /x:
    x-messages: {}
    get:
      responses:
        '200':
          description: ok
          x-messages: {}
          content:
            text/event-stream:
              x-events: {events: {}}
              x-messages: {}`), []string{
			"api.yaml:5:5: x-messages has no effect here\n\tfix: move it into the operation",
			"api.yaml:10:11: x-messages has no effect here", "api.yaml:14:15: x-messages has no effect here"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ps := problemsOf(t, tc.doc)
			if len(ps) != len(tc.want) {
				t.Fatalf("%d problems, want %d:\n%v\n\n%s", len(ps), len(tc.want), ps, sample.Numbered(tc.doc))
			}
			for i, p := range ps {
				if !strings.HasPrefix(p.Error(), tc.want[i]) {
					t.Errorf("problem %d: %v, want %s", i, p, tc.want[i])
				}
			}
		})
	}
}

func TestSocketsThatAreNotDescribedAreNoted(t *testing.T) {
	notes := func(doc string) (out []string) {
		for _, p := range parse(t, doc).Notes() {
			out = append(out, p.Error())
		}
		return out
	}
	silent := strings.Split(sample.Messaging(chatDoc), "      x-messages")[0]
	if got := notes(silent); len(got) != 1 || got[0] != "api.yaml:5:5: the messages of this socket are not checked: it has no x-messages" {
		t.Errorf("Notes: %q", got)
	}
	if got := notes(sample.Messaging(chatDoc)); len(got) > 0 {
		t.Errorf("Notes of a described socket: %q", got)
	}
	if got := notes(sample.Returning("{}") + "\nx-mesages: {}\n"); len(got) != 1 || !strings.Contains(got[0], `did you mean "x-messages"?`) {
		t.Errorf("Notes of an almost known key: %q", got)
	}
}

func TestEventsOfASocketAreItsMessagesAndWhatIsAlwaysAllowed(t *testing.T) {
	op, _ := parse(t, sample.Messaging(chatDoc)).Named("GET /x")
	names, ok := op.Events()
	if got := strings.Join(names, " "); !ok || !strings.HasPrefix(got, "chat 7 binary text close join chat close exit ping pong") {
		t.Errorf("Events: %s, %t", got, ok)
	}
}

// Inline schemas are read by the version of their document.
func TestInlineSchemasOfMessagesAreThoseOfTheDocument(t *testing.T) {
	d := parse(t, sample.Programming(`
  received:
    line: {schema: {type: object, properties: {a: {type: [integer, "null"]}, b: {const: 1}, c: {type: array}}}}`))
	for data, want := range map[string]string{`{"a":null,"b":1,"c":[1]}`: "", `{"a":"1"}`: "event data/a type", `{"b":2}`: "event data/b enum"} {
		if got := short(d.Check(sample.Program(sample.Received(transcript.ItemLine, data)))); got != want {
			t.Errorf("%s: %s, want %s", data, got, want)
		}
	}
}

package message_test

import (
	"encoding/json"
	"errors"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lockstep-dev/lockstep/internal/memnet/leak"
	"github.com/lockstep-dev/lockstep/server/domain/message"
	"github.com/lockstep-dev/lockstep/server/wire/decode"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

func TestMain(m *testing.M) { os.Exit(leak.Run(m)) }

func read(text string) (message.Message, error) {
	v, err := decode.Parse([]byte(text))
	if err != nil {
		return message.Message{}, err
	}
	return message.Decode(v)
}

func written(m message.Message) string {
	w := jsonwire.NewWriter(nil)
	m.Write(w)
	return string(w.Text())
}

// around returns a message with the given content items.
func around(items string) string {
	return `{"id":null,"role":"user","created":1765386000,"content":[` + items + `],"metadata":{"userVisible":true,"agentVisible":true}}`
}

// TestItemsSurviveTheRoundTrip reads and writes every item of GA 4.2 to 4.5, and compares the texts.
func TestItemsSurviveTheRoundTrip(t *testing.T) {
	result := func(item string) string {
		return `{"type":"toolResponse","id":"c","toolResult":{"status":"success","value":[` + item + `]}}`
	}
	for _, item := range []string{
		``,
		`{"type":"text","text":"hi"}`,
		`{"type":"text","text":"<&>\u0000 \"","annotations":{"audience":["user","assistant"],"priority":0.50,"lastModified":"2025-12-10T16:59:31.500Z"},"_meta":{"b":1,"a":[12345678901234567890,1.0]}}`,
		`{"type":"text","text":"","annotations":{"audience":[]}}`,
		`{"type":"text","text":"","annotations":{}}`,
		`{"type":"image","data":"iVBORw0","mimeType":"image/png"}`,
		`{"type":"image","data":"","mimeType":"","annotations":{"priority":1},"_meta":{}}`,
		`{"type":"toolRequest","id":"call_1","toolCall":{"status":"success","value":{"name":"developer__shell","arguments":{"command":"ls"}}}}`,
		`{"type":"toolRequest","id":"","toolCall":{"status":"success","value":{"name":"x"}},"thoughtSignature":"s"}`,
		`{"type":"toolRequest","id":"call_1","toolCall":{"status":"error","error":"-32602: bad"}}`,
		`{"type":"toolResponse","id":"call_1","toolResult":{"status":"success","value":[{"type":"text","text":"a.txt"}]}}`,
		`{"type":"toolResponse","id":"call_2","toolResult":{"status":"error","error":"-32603: boom"}}`,
		result(``),
		result(`{"type":"text","text":"a","_meta":{"k":1e2},"annotations":{"priority":0.1}},{"type":"image","data":"x","mimeType":"y","annotations":{"audience":["assistant"]}}`),
		result(`{"type":"resource","resource":{"uri":"file:///a","mimeType":"text/plain","text":"t","_meta":{"x":null}},"_meta":{},"annotations":{}}`),
		result(`{"type":"resource","resource":{"uri":"file:///a","blob":"AA=="}}`),
		result(`{"type":"audio","data":"AA==","mimeType":"audio/wav"}`),
		result(`{"type":"resource_link","uri":"u","name":"n"}`),
		result(`{"type":"resource_link","uri":"u","name":"n","title":"t","description":"d","mimeType":"m","size":12,"icons":[{"src":"s"},{"src":"","mimeType":"image/png","sizes":["48x48","any"]}]}`),
		result(`{"type":"resource_link","uri":"u","name":"n","icons":[]}`),
		`{"type":"toolConfirmationRequest","id":"1","toolName":"t","arguments":{"z":1,"a":2},"prompt":null}`,
		`{"type":"actionRequired","data":{"actionType":"toolConfirmation","id":"call_1","toolName":"developer__shell","arguments":{"command":"ls"},"prompt":null}}`,
		`{"type":"actionRequired","data":{"actionType":"toolConfirmation","id":"call_1","toolName":"x","arguments":{},"prompt":"sure?"}}`,
		`{"type":"actionRequired","data":{"actionType":"elicitation","id":"3f0c","message":"Your name?","requested_schema":{"type":"object","properties":{}}}}`,
		`{"type":"actionRequired","data":{"actionType":"elicitationResponse","id":"3f0c","user_data":{"name":"x"}}}`,
		`{"type":"actionRequired","data":{"actionType":"elicitationResponse","id":"3f0c","user_data":null}}`,
		`{"type":"frontendToolRequest","id":"call_3","toolCall":{"status":"success","value":{"name":"show_map","arguments":{}}}}`,
		`{"type":"thinking","thinking":"...","signature":"..."}`,
		`{"type":"redactedThinking","data":"..."}`,
		`{"type":"systemNotification","notificationType":"inlineMessage","msg":"Compaction complete"}`,
		`{"type":"systemNotification","notificationType":"thinkingMessage","msg":""}`,
	} {
		in := around(item)
		m, err := read(in)
		if err != nil {
			t.Errorf("Decode(%s): %v", in, err)
			continue
		}
		if got := written(m); got != in {
			t.Errorf("written again:\n got %s\nwant %s", got, in)
		}
	}
}

func TestDecodeNormalizes(t *testing.T) {
	for _, tc := range []struct{ name, in, want string }{
		{"absent and null are alike", `{"type":"text","text":"a","annotations":null,"_meta":null},{"type":"toolRequest","id":"1","toolCall":{"status":"success","value":{"name":"n","arguments":null}},"thoughtSignature":null}`,
			`{"type":"text","text":"a"},{"type":"toolRequest","id":"1","toolCall":{"status":"success","value":{"name":"n"}}}`},
		{"keys in any order, unknown ones ignored", `{"prompt":"p","text":1,"arguments":{},"toolName":"t","id":"i","type":"toolConfirmationRequest"}`,
			`{"type":"toolConfirmationRequest","id":"i","toolName":"t","arguments":{},"prompt":"p"}`},
		{"blanks go, free-form names keep their order and win last", "{ \"type\" : \"toolConfirmationRequest\",\n\"id\":\"i\",\"toolName\":\"t\",\"arguments\": { \"b\" : 1 , \"a\" : [ ] , \"b\" : 2 } }",
			`{"type":"toolConfirmationRequest","id":"i","toolName":"t","arguments":{"b":2,"a":[]},"prompt":null}`},
		{"texts are composed, then lose their tag characters", `{"type":"text","text":"e\u0301x\udb40\udc41\udb40\udc7f\udb40\udc80"}`, "{\"type\":\"text\",\"text\":\"éx\U000E0080\"}"},
		{"what a tag character stood between is not composed", `{"type":"text","text":"e\udb40\udc41\u0301"}`, "{\"type\":\"text\",\"text\":\"e\u0301\"}"},
		{"icons have their order and nothing more", `{"type":"toolResponse","id":"c","toolResult":{"status":"success","value":[{"type":"resource_link","uri":"u","name":"n","icons":[{"sizes":["1x1"],"x":1,"mimeType":null,"src":"s"}]}]}}`,
			`{"type":"toolResponse","id":"c","toolResult":{"status":"success","value":[{"type":"resource_link","uri":"u","name":"n","icons":[{"src":"s","sizes":["1x1"]}]}]}}`},
		{"no other text is", `{"type":"thinking","thinking":"e\u0301","signature":""}`, "{\"type\":\"thinking\",\"thinking\":\"e\u0301\",\"signature\":\"\"}"},
		{"an old kind of notice vanishes", `{"type":"conversationCompacted","msg":5},{"type":"text","text":"a"}`, `{"type":"text","text":"a"}`},
		{"times are UTC", `{"type":"text","text":"","annotations":{"lastModified":"2025-12-10T17:59:31.1200+01:00"}}`,
			`{"type":"text","text":"","annotations":{"lastModified":"2025-12-10T16:59:31.120Z"}}`},
		{"a resource with a text and a blob is a text", `{"type":"toolResponse","id":"c","toolResult":{"status":"success","value":[{"type":"resource","resource":{"uri":"u","blob":"b","text":"t"}}]}}`,
			`{"type":"toolResponse","id":"c","toolResult":{"status":"success","value":[{"type":"resource","resource":{"uri":"u","text":"t"}}]}}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m, err := read(around(tc.in))
			if err != nil {
				t.Fatal(err)
			}
			if got, want := written(m), around(tc.want); got != want {
				t.Errorf("written again:\n got %s\nwant %s", got, want)
			}
		})
	}
}

func TestDecodeReportsWhatIsWrongAndWhere(t *testing.T) {
	item := func(item string) string { return around("\n" + item) }
	for in, want := range map[string]string{
		`{}`:                            "missing field `role` at line 1 column 2",
		"{\"role\":\n\"\"}":             "role: unknown variant ``, expected one of `user`, `assistant` at line 2 column 2",
		`[]`:                            "invalid type: array, expected an object at line 1 column 2",
		`{"role":"user","created":1.0}`: "created: invalid type: number, expected an integer at line 1 column 28",
		`{"role":"user","created":9223372036854775808}`:                            "created: invalid value: integer out of range at line 1 column 44",
		`{"role":"user","created":"1"}`:                                            "created: invalid type: string, expected an integer at line 1 column 28",
		`{"role":"user","created":1,"content":null}`:                               "content: invalid type: null, expected an array at line 1 column 41",
		`{"role":"user","created":1,"content":[]}`:                                 "missing field `metadata` at line 1 column 40",
		`{"role":"user","role":"user"}`:                                            "duplicate field `role` at line 1 column 28",
		`{"role":"user","created":1,"content":[],"metadata":{"userVisible":true}}`: "metadata: missing field `agentVisible` at line 1 column 71",
		item(`1`):                               "content[0]: invalid type: number, expected an object at line 2 column 1",
		item(`{}`):                              "content[0]: missing field `type` at line 2 column 2",
		item(`{"type":"text"},{"type":"nope"}`): "content[0]: missing field `text` at line 2 column 15",
		item(`{"type":"nope"}`):                 "content[0].type: unknown variant `nope`, expected one of `text`, `image`, `toolRequest`, `toolResponse`, `toolConfirmationRequest`, `actionRequired`, `frontendToolRequest`, `thinking`, `redactedThinking`, `systemNotification` at line 2 column 14",
		item(`{"type":"toolRequest","id":"1","toolCall":{"status":"done"}}`):                               "content[0].toolCall.status: unknown variant `done`, expected one of `success`, `error` at line 2 column 58",
		item(`{"type":"toolResponse","id":"1","toolResult":{"status":"success","value":{}}}`):              "content[0].toolResult.value: invalid type: object, expected an array at line 2 column 75",
		item(`{"type":"toolResponse","id":"1","toolResult":{"status":"success","value":[{"text":"x"}]}}`):  "content[0].toolResult.value[0]: missing field `type` at line 2 column 86",
		item(`{"type":"toolConfirmationRequest","id":"1","toolName":"t","arguments":[]}`):                  "content[0].arguments: invalid type: array, expected an object at line 2 column 72",
		item(`{"type":"text","text":"","annotations":{"audience":["me"]}}`):                                "content[0].annotations.audience[0]: unknown variant `me`, expected one of `user`, `assistant` at line 2 column 56",
		item(`{"type":"text","text":"","annotations":{"lastModified":"yesterday"}}`):                       "content[0].annotations.lastModified: invalid value: not a date and time of RFC 3339 at line 2 column 66",
		item(`{"type":"actionRequired","data":{"actionType":"elicitation","id":"1","message":""}}`):        "content[0].data: missing field `requested_schema` at line 2 column 82",
		item(`{"type":"systemNotification","notificationType":"loud","msg":""}`):                           "content[0].notificationType: unknown variant `loud`, expected one of `thinkingMessage`, `inlineMessage` at line 2 column 54",
		item(`{"type":"frontendToolRequest","id":"1","toolCall":{"status":"success","value":{"name":1}}}`): "content[0].toolCall.value.name: invalid type: number, expected a string at line 2 column 87",
	} {
		_, err := read(in)
		shape := (*decode.ShapeError)(nil)
		if !errors.As(err, &shape) || err.Error() != want {
			t.Errorf("Decode(%s):\n got %v\nwant %s", in, err, want)
		}
	}
}

func TestPlainTextJoinsTheTexts(t *testing.T) {
	m := message.Message{Content: []message.Content{message.Text{Text: "a"}, message.Thinking{Thinking: "x"}, message.Text{Text: "b"}}}
	if got, ok := m.PlainText(); got != "a\nb" || !ok {
		t.Errorf("PlainText = %q, %t", got, ok)
	}
	if got, ok := (message.Message{Content: []message.Content{message.Image{}}}).PlainText(); ok {
		t.Errorf("PlainText without a text = %q, true", got)
	}
}

// TestMessagesSurviveTheRoundTrip writes messages of every kind, and reads them back.
func TestMessagesSurviveTheRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := messages.Draw(t, "message")
		text := written(want)
		got, err := read(text)
		if err != nil {
			t.Fatalf("Decode(%s): %v", text, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%s (-want +got):\n%s", text, diff)
		}
	})
}

// FuzzDecode checks that every accepted text has one form, which is JSON and is accepted again.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(around(`{"type":"text","text":"e\u0301"}`)))
	f.Add([]byte(around(`{"type":"toolResponse","id":"c","toolResult":{"status":"success","value":[{"type":"resource","resource":{"uri":"u","blob":""}}]}}`)))
	f.Add([]byte(around(`{"type":"actionRequired","data":{"actionType":"elicitation","id":"","message":"","requested_schema":[1.0,{"a":1,"a":2}]}}`)))
	f.Fuzz(func(t *testing.T, in []byte) {
		m, err := read(string(in))
		if err != nil {
			return
		}
		text := written(m)
		if !json.Valid([]byte(text)) {
			t.Fatalf("%q is written as %q, which is not JSON", in, text)
		}
		again, err := read(text)
		if err != nil {
			t.Fatalf("%q is written as %q, which is refused: %v", in, text, err)
		}
		for _, content := range m.Content {
			if c, ok := content.(message.Text); ok && message.Clean(c.Text) != c.Text {
				return // characters around a removed one may combine when the text is read again
			}
		}
		if twice := written(again); twice != text {
			t.Fatalf("%q is written as %q, and then as %q", in, text, twice)
		}
	})
}

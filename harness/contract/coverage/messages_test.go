package coverage

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/contract/internal/sample"
	"github.com/lockstep-dev/lockstep/harness/contract/spec"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

const messagesDoc = sample.Head + `x-messages:
  name: jsonrpc
  received:
    list result: {schema: {type: object, properties: {id: {}, result: {}}}}
    note: {schema: {}}
  sent:
    list: {schema: {type: object, properties: {id: {}, method: {}, cursor: {}}}}
paths:
  /x:
    get:
      responses: {'101': {description: ok}}
      x-messages:
        name: /type
        received:
          chat: {schema: {$ref: '#/components/schemas/Chat'}}
          gone: {schema: {}}
          close: {schema: {}}
        sent:
          chat: {schema: {$ref: '#/components/schemas/Chat'}}
          join: {schema: {type: object, properties: {type: {}, room: {type: string, enum: [a, b]}}}}
  /silent:
    get: {responses: {'101': {description: ok}}}
components:
  schemas:
    Chat: {type: object, properties: {type: {}, text: {}}}
`

// reachedOf lists the items of some measures, with "+" before those that were reached.
func reachedOf(c *Coverage, measures ...Measure) (out []string) {
	for _, it := range c.Items() {
		if slices.Contains(measures, it.Measure) {
			out = append(out, map[bool]string{true: "+ ", false: "- "}[it.Reached]+it.Name)
		}
	}
	return out
}

func TestMessagesOfBothSidesCountAsEvents(t *testing.T) {
	c := New(sample.Parse(t, messagesDoc))
	if got, want := c.Totals().String(), "operations 0/3 · statuses 0/2 · events 0/8 · streams not described 1"; got != want {
		t.Errorf("nothing reached: %s, want %s", got, want)
	}
	const text, line = transcript.ItemText, transcript.ItemLine
	malformed := sample.Sent(text, `{"type":"join","room":"b"}`)
	malformed.Malformed = true
	c.Add(sample.Socket(
		sample.Sent(text, `{"type":"chat","text":"a"}`), sample.Sent(text, `{"type":"join","room":"a"}`), malformed,
		sample.Received(transcript.ItemPing, ""), sample.Received(text, "hm"), sample.Received(transcript.ItemClose, "{}"), sample.Sent(transcript.ItemClose, "{}"),
	))
	c.Add(sample.Program(
		sample.Sent(line, `{"id":1,"method":"list"}`), sample.Received(line, `{"id":1,"result":1}`), sample.Received(line, `{"id":2,"result":1}`),
		sample.Received(transcript.ItemStderr, "x"), sample.Received(transcript.ItemExit, `{"status":0}`),
	))
	want := []string{
		"+ GET /x", "- GET /silent", "+ program",
		"- GET /x received chat", "- GET /x gone", "+ GET /x close", "+ GET /x sent chat", "+ GET /x join",
		"+ program list result", "- program note", "+ program list",
	}
	if diff := cmp.Diff(want, reachedOf(c, OperationsReached, EventsReached)); diff != "" {
		t.Errorf("items (-want +got):\n%s", diff)
	}
	inside := []string{ // Chat belongs to received messages too, and so counts only there
		"+ x-messages/received/list result/schema id", "+ x-messages/received/list result/schema result",
		"- x-messages/sent/list/schema cursor", "+ x-messages/sent/list/schema id", "+ x-messages/sent/list/schema method",
		"+ GET /x x-messages/sent/join room", "+ GET /x x-messages/sent/join type", "- Chat text", "- Chat type",
		`+ GET /x x-messages/sent/join properties/room "a"`, `- GET /x x-messages/sent/join properties/room "b"`,
	}
	if diff := cmp.Diff(inside, reachedOf(c, PropertiesSeen, EnumsSeen)); diff != "" {
		t.Errorf("schemas (-want +got):\n%s", diff)
	}
	undocumented := []Undocumented{
		{Kind: spec.UndocumentedEvent, What: "GET /x: text", Count: 1}, {Kind: spec.UndocumentedEvent, What: "program: result", Count: 1},
	}
	if diff := cmp.Diff(undocumented, c.Undocumented); diff != "" {
		t.Errorf("undocumented (-want +got):\n%s", diff)
	}
	for _, it := range c.Items() {
		if it.Line == 0 {
			t.Errorf("%s has no line", it.Name)
		}
	}
}

func TestAnExceptionForAMessage(t *testing.T) {
	c := New(sample.Parse(t, messagesDoc))
	d := Demand{Least: []Minimum{{EventsReached, 10_000}, {PropertiesSeen, 10_000}}, Except: []Exception{
		except(OperationsReached, "program"), except(EventsReached, "GET /x received chat"), except(EventsReached, "GET /x sent chat"),
	}}
	var got []string
	for _, m := range d.Judge(c).Measures {
		got = append(got, measured(m))
	}
	want := []string{
		"events 0% 0/3 of 100% missing GET /x gone missing GET /x close missing GET /x join",
		"properties 0% 0/2 of 100% missing GET /x x-messages/sent/join room missing GET /x x-messages/sent/join type",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%q, want %q", got, want)
	}
}

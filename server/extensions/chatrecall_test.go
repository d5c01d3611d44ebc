package extensions

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/server/extension"
	"github.com/lockstep-dev/lockstep/server/llm"
	"github.com/lockstep-dev/lockstep/server/message"
	"github.com/lockstep-dev/lockstep/server/session"
	"github.com/lockstep-dev/lockstep/server/store"
)

// remembered are sessions in memory, the youngest first.
type remembered []session.Session

func (r remembered) Session(ctx context.Context, id string) (session.Session, error) {
	return r.Load(ctx, id)
}

func (r remembered) Load(_ context.Context, id string) (session.Session, error) {
	for _, s := range r {
		if s.ID == id && s.Name == "broken" {
			return s, errors.New("message 0: no JSON")
		}
		if s.ID == id {
			return s, nil
		}
	}
	return session.Session{}, store.ErrNotFound
}

func (r remembered) Youngest(context.Context) (ids []string, err error) {
	for _, s := range r {
		ids = append(ids, s.ID)
	}
	return ids, nil
}

func (remembered) Update(context.Context, string, ...store.Change) (bool, error) {
	return false, errors.New("not in this test")
}

// talk is a session of texts that were said one minute after the other, by the user and the agent in turn.
func talk(id, name string, texts ...string) session.Session {
	s := session.Session{ID: id, Name: name, WorkingDir: "/w"}
	for i, text := range texts {
		m := message.Message{Role: message.User, Created: 1765386000 + 60*int64(i), Metadata: message.Visible}
		if i%2 == 1 {
			m.Role = message.Assistant
		}
		for part := range strings.SplitSeq(text, "|") {
			m.Content = append(m.Content, message.Text{Text: part})
		}
		s.Conversation = append(s.Conversation, m)
	}
	return s
}

func recalling(t *testing.T, all ...session.Session) *Set {
	c := newSet(t).connector
	c.Sessions = remembered(all)
	s := c.NewSet("own")
	t.Cleanup(s.Close)
	if err := s.Add(t.Context(), extension.Config{Type: "platform", Name: "Chat Recall"}); err != nil {
		t.Fatal(err)
	}
	return s
}

// said is the text of a result that has one.
func said(t *testing.T, r message.Result[[]message.ToolContent]) string {
	t.Helper()
	if r.Error != nil || len(r.Value) != 1 {
		return written(r)
	}
	return r.Value[0].(message.ToolText).Text
}

func TestASessionIsRecalled(t *testing.T) {
	long := strings.Repeat("ä", 1001)
	hidden := talk("hidden", "Hidden", "one", "two", "three")
	hidden.Conversation[1].Metadata.UserVisible = false
	hidden.Conversation[2].Content = []message.Content{message.Thinking{Thinking: "x"}}
	s := recalling(t, talk("own", "Mine", "a|b", " \n", "c"), talk("six", "Six", "1", "2", "3", "4", "5", "6"), talk("nine", "Nine", "1", "2", "3", "4", "5", "6", "7", "8", "9"),
		talk("long", "Long", long, long[:2000]), hidden, talk("none", "None"), session.Session{ID: "b", Name: "broken"})
	for id, want := range map[string]string{
		`"own"`:    "Session own: Mine\nWorking directory: /w\n\nuser: a\nb\n\nuser: c",
		`"six"`:    "Session six: Six\nWorking directory: /w\n\nuser: 1\n\nassistant: 2\n\nuser: 3\n\nassistant: 4\n\nuser: 5\n\nassistant: 6",
		`"nine"`:   "Session nine: Nine\nWorking directory: /w\n\nuser: 1\n\nassistant: 2\n\nuser: 3\n\n[3 more messages]\n\nuser: 7\n\nassistant: 8\n\nuser: 9",
		`"long"`:   "Session long: Long\nWorking directory: /w\n\nuser: " + long[:2*997] + "...\n\nassistant: " + long[:2000],
		`"hidden"`: "Session hidden: Hidden\nWorking directory: /w\n\nuser: one",
		`"none"`:   "Session none: None\nWorking directory: /w",
		`"b"`:      "Session cannot be read: b",
		`""`:       "Session not found: ",
		`"x"`:      "Session not found: x",
		`7`:        "Invalid argument: session_id",
	} {
		if got := said(t, s.Call(t.Context(), quiet("chatrecall__chatrecall", `{"limit":0,"session_id":`+id+`}`))); got != want {
			t.Errorf("%s:\n got %s\nwant %s", id, got, want)
		}
	}
}

func TestMessagesAreFound(t *testing.T) {
	var many []string
	for i := range 60 {
		many = append(many, fmt.Sprint("x", i))
	}
	s := recalling(t, talk("own", "Mine", "apple"), talk("c", "C", "Apple pie", "ÄPFEL", "no"), session.Session{ID: "b", Name: "broken"},
		talk("a", "A", "an|apple", "PEAR"), talk("m", "M", many...))
	const pear = "Session a: A, 2025-12-10T17:01:00Z\nassistant: PEAR"
	const apple = "Session a: A, 2025-12-10T17:00:00Z\nuser: an\napple"
	const pie = "Session c: C, 2025-12-10T17:00:00Z\nuser: Apple pie"
	for _, tc := range []struct{ name, arguments, want string }{
		{"the youngest session first, each from its end", `{"query":"pear  \n\tAPPLE","session_id":null}`, "Found 3 messages.\n\n" + pie + "\n\n" + pear + "\n\n" + apple},
		{"at most", `{"query":"pear apple","limit":2.0}`, "Found 2 messages.\n\n" + pie + "\n\n" + pear},
		{"only ASCII has two cases", `{"query":"äpfel"}`, "No messages found."},
		{"a part of a word", `{"query":"pp","limit":1}`, "Found 1 messages.\n\n" + pie},
		{"from a second on", `{"query":"apple pear","after_date":"2025-12-10T18:01:00.9+01:00"}`, "Found 1 messages.\n\n" + pear},
		{"up to a second", `{"query":"pear","before_date":"2025-12-10 17:01:00z"}`, "Found 1 messages.\n\n" + pear},
		{"before it", `{"query":"pear","before_date":"2025-12-10T17:00:59.9Z"}`, "No messages found."},
		{"behind it", `{"query":"pear","after_date":"2025-12-10T17:01:01Z"}`, "No messages found."},
		{"no words", `{"query":" \n"}`, "Missing argument: query"},
		{"no query", `{"limit":0}`, "Missing argument: query"},
		{"no text", `{"query":7,"limit":0}`, "Invalid argument: query"},
		{"nothing is wanted", `{"query":"x","limit":0}`, "Invalid argument: limit"},
		{"half of one", `{"query":"x","limit":1.5}`, "Invalid argument: limit"},
		{"a text", `{"query":"x","limit":"1","after_date":1}`, "Invalid argument: limit"},
		{"no time", `{"query":"x","after_date":"2025-12-10","before_date":""}`, "Invalid argument: after_date"},
		{"no other time", `{"query":"x","after_date":null,"before_date":""}`, "Invalid argument: before_date"},
	} {
		if got := said(t, s.Call(t.Context(), quiet("chatrecall__chatrecall", tc.arguments))); got != tc.want {
			t.Errorf("%s:\n got %s\nwant %s", tc.name, got, tc.want)
		}
	}
	for limit, want := range map[string]int{"null": 10, "50": 50, "51": 50, "1e300": 50, "1e999": 0} {
		got := said(t, s.Call(t.Context(), quiet("chatrecall__chatrecall", `{"query":"X","limit":`+limit+`}`)))
		if n := strings.Count(got, "Session m: M"); n != want {
			t.Errorf("limit %s: %d messages", limit, n)
		}
	}
}

func TestChatrecallIsOffered(t *testing.T) {
	s := recalling(t)
	snapshot, err := s.Snapshot(t.Context())
	if err != nil || names(snapshot.Tools) != "chatrecall__chatrecall" || !strings.HasPrefix(snapshot.Instructions[0].Text, "The tool chatrecall finds") {
		t.Errorf("%+v, %v", snapshot, err)
	}
	if got := written(s.Call(t.Context(), quiet("chatrecall__x", ""))); got != "error -32603: -32002: chatrecall__x" {
		t.Error(got)
	}
	s.connector.Sessions = failing{}
	broken := s.connector.NewSet("x")
	defer broken.Close()
	if err := broken.Add(t.Context(), extension.Config{Type: "platform", Name: "chatrecall"}); err != nil {
		t.Fatal(err)
	}
	if got := written(broken.Call(t.Context(), quiet("chatrecall__chatrecall", `{"query":"x"}`))); got != "error -32603: Sessions cannot be read" {
		t.Error(got)
	}
}

func TestToolsOfTheDecisions(t *testing.T) {
	described := decided(t)
	todo, _ := (&todo{}).tools(t.Context())
	recall, _ := (&chatrecall{}).tools(t.Context())
	for key, tools := range map[string][]llm.Tool{
		"todo": todo, "chatrecall": recall, "skills": {loadSkill}, "extensionmanager": slices.Concat(managing, reading),
	} {
		for _, tool := range tools {
			row := fmt.Sprintf("| `%s__%s` | `%s` | `%s` |", key, tool.Name, tool.Description, tool.Schema)
			if !slices.Contains(described, row) {
				t.Errorf("docs/decisions.md does not have\n%s", row)
			}
		}
	}
}

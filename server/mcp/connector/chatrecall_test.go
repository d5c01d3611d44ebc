package connector

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/server/domain/extension"
	"github.com/lockstep-dev/lockstep/server/domain/message"
	"github.com/lockstep-dev/lockstep/server/domain/session"
)

// remembered are sessions in memory, newest first.
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
	return session.Session{}, session.ErrNotFound
}

func (r remembered) Recent(context.Context) (ids []string, err error) {
	for _, s := range r {
		ids = append(ids, s.ID)
	}
	return ids, nil
}

// talk returns a session with texts of the user and the agent in turn, one minute apart.
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
	s.MessageCount = int64(len(texts))
	return s
}

func recalling(t *testing.T, all ...session.Session) *Set {
	c := newSet(t).connector
	c.Sessions = remembered(all)
	s := c.NewSet("own")
	t.Cleanup(s.Close)
	add(t, s, extension.Config{Type: "platform", Name: "Chat Recall"})
	return s
}

// said returns the text of a result that has only one.
func said(t *testing.T, r message.ToolResult) string {
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
	s := recalling(t, talk("own", "Mine", "a|b", " \n", "c"), talk("six", "Six", "1", "2", "3", "4", "5", "6"), talk("four", "Four", "1", "2", "3", "4"),
		talk("long", "Long", long, long[:2000]), hidden, talk("none", "None"), session.Session{ID: "b", Name: "broken"})
	for id, want := range map[string]string{
		`"own"`:    "Session: Mine (ID: own)\nWorking Dir: /w\nTotal Messages: 2\n\n--- First Few Messages ---\n\n1. [User] a\nb\n\n2. [User] c\n\n",
		`"six"`:    "Session: Six (ID: six)\nWorking Dir: /w\nTotal Messages: 6\n\n--- First Few Messages ---\n\n1. [User] 1\n\n2. [Assistant] 2\n\n3. [User] 3\n\n--- Last Few Messages ---\n\n4. [Assistant] 4\n\n5. [User] 5\n\n6. [Assistant] 6\n\n",
		`"long"`:   "Session: Long (ID: long)\nWorking Dir: /w\nTotal Messages: 2\n\n--- First Few Messages ---\n\n1. [User] " + long[:2*997] + "...\n\n2. [Assistant] " + long[:2000] + "\n\n",
		`"four"`:   "Session: Four (ID: four)\nWorking Dir: /w\nTotal Messages: 4\n\n--- First Few Messages ---\n\n1. [User] 1\n\n2. [Assistant] 2\n\n3. [User] 3\n\n--- Last Few Messages ---\n\n2. [Assistant] 2\n\n3. [User] 3\n\n4. [Assistant] 4\n\n",
		`"hidden"`: "Session: Hidden (ID: hidden)\nWorking Dir: /w\nTotal Messages: 1\n\n--- First Few Messages ---\n\n1. [User] one\n\n",
		`"none"`:   "Session none has no messages.",
		`"b"`:      "Error: Failed to load session: Session cannot be read",
		`""`:       "Error: Failed to load session: Session not found",
		`7`:        "Error: Invalid argument: session_id",
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
	head := func(i, shown, of int, name, id string) string {
		return fmt.Sprintf("%d. Session: %s (ID: %s)\n   Working Dir: /w\n   Last Activity: 2025-12-10\n   Showing %d of %d total message(s) in session:\n\n", i, name, id, shown, of)
	}
	found := func(n, sessions int, query string) string {
		return fmt.Sprintf("Found %d matching message(s) across %d session(s) for query: '%s'\n\n", n, sessions, query)
	}
	pie := head(1, 1, 3, "C", "c") + "   1.1 [user]\n   Apple pie\n\n"
	pear := func(i int) string { return fmt.Sprintf("   %d.1 [assistant]\n   PEAR\n\n", i) }
	const apple = "   2.2 [user]\n   an\n   apple\n\n"
	none := func(query string) string { return "No results found for query: '" + query + "'" }
	for _, tc := range []struct{ name, arguments, want string }{
		{"the most recent session first, each from its end", `{"query":"pear  \n\tAPPLE","session_id":null}`, found(3, 2, "pear  \n\tAPPLE") + pie + head(2, 2, 2, "A", "a") + pear(2) + apple},
		{"at most", `{"query":"pear apple","limit":2.0}`, found(2, 2, "pear apple") + pie + head(2, 1, 2, "A", "a") + pear(2)},
		{"only ASCII has two cases", `{"query":"äpfel"}`, none("äpfel")},
		{"a part of a word", `{"query":"pp","limit":-1}`, found(1, 1, "pp") + pie},
		{"from a second on", `{"query":"apple pear","after_date":"2025-12-10T18:01:00.9+01:00"}`, found(1, 1, "apple pear") + head(1, 1, 2, "A", "a") + pear(1)},
		{"up to a second", `{"query":"pear","before_date":"2025-12-10 17:01:00z"}`, found(1, 1, "pear") + head(1, 1, 2, "A", "a") + pear(1)},
		{"before it", `{"query":"pear","before_date":"2025-12-10T17:00:59.9Z"}`, none("pear")},
		{"behind it", `{"query":"pear","after_date":"2025-12-10T17:01:01Z"}`, none("pear")},
		{"no words", `{"query":" \n"}`, "Error: Missing required parameter: query or session_id"},
		{"no query", `{"limit":0}`, "Error: Missing required parameter: query or session_id"},
		{"no text", `{"query":7,"limit":0}`, "Error: Invalid argument: query"},
		{"half of one", `{"query":"x","limit":1.5}`, "Error: Invalid argument: limit"},
		{"a text", `{"query":"x","limit":"1","after_date":1}`, "Error: Invalid argument: limit"},
		{"no times", `{"query":"pp","limit":1,"after_date":"2025-12-10","before_date":5}`, found(1, 1, "pp") + pie},
	} {
		if got := said(t, s.Call(t.Context(), quiet("chatrecall__chatrecall", tc.arguments))); got != tc.want {
			t.Errorf("%s:\n got %s\nwant %s", tc.name, got, tc.want)
		}
	}
	for limit, want := range map[string]int{"null": 10, "0": 1, "50": 50, "51": 50, "1e300": 50, "1e999": 0} {
		got := said(t, s.Call(t.Context(), quiet("chatrecall__chatrecall", `{"query":"X","limit":`+limit+`}`)))
		if n := strings.Count(got, "\n   x"); n != want {
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
	add(t, broken, extension.Config{Type: "platform", Name: "chatrecall"})
	if got := written(broken.Call(t.Context(), quiet("chatrecall__chatrecall", `{"query":"x"}`))); got != "error -32603: Sessions cannot be read" {
		t.Error(got)
	}
}

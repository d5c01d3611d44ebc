package store_test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/server/domain/message"
	"github.com/lockstep-dev/lockstep/server/domain/session"
	"github.com/lockstep-dev/lockstep/server/store"
)

// shown returns the texts of a session's messages, with "-" after those that the agent does not see, and "!" after
// those that the user does not see.
func shown(t testing.TB, s *store.Store, id string) string {
	t.Helper()
	var texts []string
	for _, m := range must[session.Session](t)(s.Load(t.Context(), id)).Conversation {
		text, _ := m.PlainText()
		if !m.Metadata.UserVisible {
			text += "!"
		}
		if !m.Metadata.AgentVisible {
			text += "-"
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, " ")
}

// hidden returns the visibility that a compaction sets: the agent sees nothing of the old conversation, and the user
// does not see its last message.
func hidden(read session.Conversation) []message.Metadata {
	seen := slices.Repeat([]message.Metadata{{UserVisible: true}}, len(read.Messages))
	if len(seen) > 0 {
		seen[len(seen)-1].UserVisible = false
	}
	return seen
}

func TestCompact(t *testing.T) {
	say := func(text string) message.Message { return say(message.User, int64(text[0]), text) }
	add := func(texts ...string) func(t *testing.T, s *store.Store, id string) {
		return func(t *testing.T, s *store.Store, id string) {
			for _, text := range texts {
				addMessages(t, s, id, say(text))
			}
		}
	}
	cut := func(from byte) func(t *testing.T, s *store.Store, id string) {
		return func(t *testing.T, s *store.Store, id string) {
			if err := s.Truncate(t.Context(), id, int64(from)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, tc := range []struct {
		name   string
		before string
		since  []func(t *testing.T, s *store.Store, id string) // what others do between reading and compaction
		want   string
	}{
		{"nothing happens", "a b c", nil, "a- b- c!- S"},
		{"an empty conversation", "", nil, "S"},
		{"others add messages", "a b", []func(*testing.T, *store.Store, string){add("c", "d")}, "a- b!- S c d"},
		{"others begin a conversation", "", []func(*testing.T, *store.Store, string){add("c")}, "S c"},
		{"others cut the conversation off", "a b c", []func(*testing.T, *store.Store, string){cut('b')}, "a- S"},
		{"others go on from an earlier message", "a b c", []func(*testing.T, *store.Store, string){cut('b'), add("c", "x", "y")}, "a- S c x y"},
		{"others empty it and begin again", "a b c", []func(*testing.T, *store.Store, string){cut('a'), add("a")}, "S a"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := open(t, filepath.Join(t.TempDir(), "s.db"))
			other, id := create(t, s, "").ID, create(t, s, "").ID
			add("a", "b", "z")(t, s, other)
			add(strings.Fields(tc.before)...)(t, s, id)
			add("y")(t, s, other)
			read := must[session.Conversation](t)(s.Conversation(t.Context(), id))
			for _, do := range tc.since {
				do(t, s, id)
			}
			if err := s.Compact(t.Context(), id, read, hidden(read), []message.Message{say("S")}); err != nil {
				t.Fatal(err)
			}
			if got := shown(t, s, id); got != tc.want {
				t.Errorf("the session has %s\nwant %s", got, tc.want)
			}
			if got, want := shown(t, s, other), "a b z y"; got != want {
				t.Errorf("the other session has %s, want %s", got, want)
			}
		})
	}
}

func TestTwoCompactionsOfOneConversation(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "s.db"))
	id := create(t, s, "").ID
	addMessages(t, s, id, say(message.User, 1, "a"), say(message.User, 2, "b"))
	read := must[session.Conversation](t)(s.Conversation(t.Context(), id))
	for _, summary := range []string{"S", "T"} {
		if err := s.Compact(t.Context(), id, read, hidden(read), []message.Message{say(message.User, 3, summary)}); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := shown(t, s, id), "a- b!- T S"; got != want {
		t.Errorf("the session has %s, want %s", got, want)
	}
}

// TestTheOrderOfMessagesIsThatOfTheirInsertion checks that added messages come last, even if the clock was set back.
func TestTheOrderOfMessagesIsThatOfTheirInsertion(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	s := open(t, path)
	id := create(t, s, "").ID
	addMessages(t, s, id, say(message.User, 1, "a"))
	execute(t, path, `UPDATE messages SET timestamp = '2999-12-31 23:59:59'`)
	addMessages(t, s, id, say(message.User, 1, "b"))
	read := must[session.Conversation](t)(s.Conversation(t.Context(), id))
	addMessages(t, s, id, say(message.User, 1, "c"))
	if err := s.Compact(t.Context(), id, read, hidden(read), []message.Message{say(message.User, 1, "S")}); err != nil {
		t.Fatal(err)
	}
	if got, want := shown(t, s, id), "a- b!- S c"; got != want {
		t.Errorf("the session has %s, want %s", got, want)
	}
}

// TestNothingIsLostWhileConversationsAreCompacted checks that each message is there exactly once, wherever it is
// added among compactions by this process and another one.
func TestNothingIsLostWhileConversationsAreCompacted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	stores := []*store.Store{open(t, path), open(t, path)}
	id := create(t, stores[0], "").ID
	var wg sync.WaitGroup
	const each = 40
	for n, s := range stores {
		wg.Go(func() {
			for i := range each {
				if err := s.AddMessages(t.Context(), id, say(message.User, 1, fmt.Sprintf("%d-%d", n, i))); err != nil {
					t.Error(err)
				}
			}
		})
		wg.Go(func() {
			for range each / 4 {
				read, err := s.Conversation(t.Context(), id)
				if err == nil {
					err = s.Compact(t.Context(), id, read, hidden(read), []message.Message{say(message.Assistant, 1, "S")})
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	found := map[string]int{}
	for _, m := range must[session.Session](t)(stores[0].Load(t.Context(), id)).Conversation {
		text, _ := m.PlainText()
		found[text]++
	}
	want := map[string]int{"S": 2 * (each / 4)}
	for n := range stores {
		for i := range each {
			want[fmt.Sprintf("%d-%d", n, i)] = 1
		}
	}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
}

// TestMessagesThatMoveKeepTheirColumns checks that columns which this server does not read are kept for the program
// that wrote them.
func TestMessagesThatMoveKeepTheirColumns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	s := open(t, path)
	id := create(t, s, "").ID
	addMessages(t, s, id, say(message.User, 1, "a"))
	execute(t, path, `UPDATE messages SET tokens = 5, metadata_json = '{"userVisible":true,"agentVisible":true,"more":1}'`)
	if err := s.Compact(t.Context(), id, session.Conversation{}, nil, []message.Message{say(message.User, 1, "S")}); err != nil {
		t.Fatal(err)
	}
	db := must[*sql.DB](t)(sql.Open("sqlite", path))
	defer db.Close()
	var tokens, metadata string
	if err := db.QueryRow(`SELECT tokens, metadata_json FROM messages ORDER BY id DESC`).Scan(&tokens, &metadata); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(metadata, "more") || tokens != "5" {
		t.Errorf("a message that was moved has %s tokens and %s", tokens, metadata)
	}
}

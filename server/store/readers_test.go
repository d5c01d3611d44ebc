package store_test

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/server/domain/message"
	"github.com/lockstep-dev/lockstep/server/domain/session"
	"github.com/lockstep-dev/lockstep/server/store"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// written returns what WriteJSON writes.
func written(t testing.TB, s *store.Store, id string) string {
	t.Helper()
	w := jsonwire.NewWriter(nil)
	if err := s.WriteJSON(t.Context(), w, id); err != nil {
		t.Fatal(err)
	}
	return string(w.Text())
}

func TestTheJSONOfASessionIsThatOfWhatIsLoaded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	s := open(t, path)
	id := create(t, s, "n").ID
	request := message.ToolRequest{ID: "c", Call: message.Success(message.ToolCall{Name: "n", Arguments: json.RawMessage(`{"b":1.0,"a":[]}`)})}
	messages := []message.Message{
		say(message.User, 1, "hi\n\"\x01é"),
		{Role: message.Assistant, Created: 2, Content: []message.Content{message.Image{Data: "d", MIMEType: "m"}, request}, Metadata: message.Metadata{AgentVisible: true}},
	}
	check := func() {
		t.Helper()
		loaded, err := s.Load(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(jsonwire.Of(loaded)), written(t, s, id)); diff != "" {
			t.Errorf("(-loaded +written):\n%s", diff)
		}
	}
	check()
	addMessages(t, s, id, messages...)
	check()
	execute(t, path, `UPDATE messages SET metadata_json = '{"agentVisible": true, "userVisible": false}', content_json =
		'[ {"text":"\u0061", "x":1, "type":"text"}, {"type":"conversationCompacted"} ]' WHERE created_timestamp = 1`)
	check()
	for _, bad := range []string{`role = 'system'`, `content_json = '{'`, `content_json = '[{"type":"nope"}]'`, `content_json = 7`, `created_timestamp = 'x'`, `content_json = X'ff'`} {
		execute(t, path, `UPDATE messages SET role = 'user', content_json = '[]', created_timestamp = 1`, `UPDATE messages SET `+bad)
		_, loaded := s.Load(t.Context(), id)
		if err := s.WriteJSON(t.Context(), jsonwire.NewWriter(nil), id); err == nil || loaded == nil || errors.Is(err, session.ErrNotFound) {
			t.Errorf("with %s: Load %v, WriteJSON %v; want errors", bad, loaded, err)
		}
	}
	if err := s.WriteJSON(t.Context(), jsonwire.NewWriter(nil), "x"); !errors.Is(err, session.ErrNotFound) {
		t.Errorf("WriteJSON of no session: %v", err)
	}
}

func TestAReadIsASnapshot(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "s.db"))
	id := create(t, s, "n").ID
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var readers sync.WaitGroup
	for range 10 { // more than there are connections
		readers.Go(func() {
			for ctx.Err() == nil {
				var read struct {
					Count        int `json:"message_count"`
					Conversation []any
				}
				if err := json.Unmarshal([]byte(written(t, s, id)), &read); err != nil || read.Count != len(read.Conversation) {
					t.Errorf("%d messages, of which there are %d; %v", read.Count, len(read.Conversation), err)
				}
				if loaded, err := s.Load(context.WithoutCancel(ctx), id); err != nil || int(loaded.MessageCount) != len(loaded.Conversation) {
					t.Errorf("loaded %d messages, of which there are %d; %v", loaded.MessageCount, len(loaded.Conversation), err)
				}
			}
		})
	}
	for n := range 100 {
		addMessages(t, s, id, say(message.User, int64(n), "a"))
	}
	cancel()
	readers.Wait()
}

func TestACancelledReadDoesNotBegin(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "s.db"))
	id := create(t, s, "n").ID
	ctx, cancel := context.WithCancelCause(t.Context())
	gone := errors.New("the client has gone")
	cancel(gone)
	if _, err := s.Session(ctx, id); !errors.Is(err, gone) {
		t.Errorf("Session: %v, want %v", err, gone)
	}
}

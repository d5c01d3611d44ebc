package connector

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/server/domain/extension"
	"github.com/lockstep-dev/lockstep/server/domain/session"
	"github.com/lockstep-dev/lockstep/server/store"
)

func TestTheTodoListOfASession(t *testing.T) {
	sessions, err := store.Open(context.Background(), filepath.Join(t.TempDir(), "sessions.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer sessions.Close()
	made, err := sessions.Create(t.Context(), store.New{WorkingDir: "/", Type: session.User})
	if err != nil {
		t.Fatal(err)
	}
	c := newSet(t).connector
	c.Sessions, c.SetData, c.TodoLimit = sessions, setData(sessions), 5
	s := c.NewSet(made.ID)
	defer s.Close()
	if err := s.Add(t.Context(), extension.Config{Type: "platform", Name: "x"}); err == nil || err.Error() != "Unknown platform extension: x" {
		t.Errorf("x: %v", err)
	}
	add(t, s, extension.Config{Type: "platform", Name: "todo"})
	for _, tc := range []struct{ arguments, want, note, data string }{
		{`{"content":" "}`, "Updated (1 chars)", "", `{"todo.v0":{"content":" "}}`},
		{`{"content":"äöü12"}`, "Updated (5 chars)", "Current tasks and notes:\näöü12", `{"todo.v0":{"content":"äöü12"}}`},
		{`{"content":"123456"}`, "Error: Todo list too large: 6 chars (max: 5)", "Current tasks and notes:\näöü12", `{"todo.v0":{"content":"äöü12"}}`},
		{`{"content":1}`, "Error: Invalid argument: content", "Current tasks and notes:\näöü12", `{"todo.v0":{"content":"äöü12"}}`},
		{`{}`, "Error: Missing required parameter: content", "Current tasks and notes:\näöü12", `{"todo.v0":{"content":"äöü12"}}`},
	} {
		if got := written(s.Call(t.Context(), quiet("todo__todo_write", tc.arguments))); got != `{"type":"text","text":"`+tc.want+`"}` {
			t.Errorf("%s: %s", tc.arguments, got)
		}
		snapshot, err := s.Snapshot(t.Context())
		if err != nil || strings.Join(snapshot.Notes, "|") != tc.note || names(snapshot.Tools) != "todo__todo_write" {
			t.Errorf("%s: %+v, %v", tc.arguments, snapshot, err)
		}
		if now, _ := sessions.Session(t.Context(), made.ID); string(now.ExtensionData) != tc.data {
			t.Errorf("%s: %s", tc.arguments, now.ExtensionData)
		}
	}
	other := *c
	other.Sessions, other.SetData = failing{}, locked
	broken := other.NewSet("broken")
	defer broken.Close()
	add(t, broken, extension.Config{Type: "platform", Name: "todo"})
	if got := written(broken.Call(t.Context(), quiet("todo__todo_write", `{"content":"x"}`))); got != "error -32603: Session cannot be written" {
		t.Errorf("of a database that is broken: %s", got)
	}
	if err := sessions.Delete(t.Context(), made.ID); err != nil {
		t.Fatal(err)
	}
	if got := written(s.Call(t.Context(), quiet("todo__todo_write", `{"content":"x"}`))); got != `{"type":"text","text":"Error: Session not found"}` {
		t.Error(got)
	}
}

// failing are sessions whose database fails to store anything.
type failing struct{}

func (failing) Session(context.Context, string) (session.Session, error) {
	return session.Session{ExtensionData: json.RawMessage("{}")}, nil
}

func (f failing) Load(ctx context.Context, id string) (session.Session, error) {
	return f.Session(ctx, id)
}

func (failing) Recent(context.Context) ([]string, error) {
	return nil, errors.New("database is locked")
}

// setData returns what stores the extension data of sessions.
func setData(sessions *store.Store) func(context.Context, string, json.RawMessage) (bool, error) {
	return func(ctx context.Context, id string, data json.RawMessage) (bool, error) {
		return sessions.Update(ctx, id, store.SetExtensionData(data))
	}
}

// locked fails to store extension data.
func locked(context.Context, string, json.RawMessage) (bool, error) {
	return false, errors.New("database is locked")
}

package platform

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/internal/memnet/leak"
	"github.com/lockstep-dev/lockstep/internal/testfile"
	"github.com/lockstep-dev/lockstep/server/domain/session"
	"github.com/lockstep-dev/lockstep/server/llm"
	"github.com/lockstep-dev/lockstep/server/store"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

func TestMain(m *testing.M) { os.Exit(leak.Run(m)) }

func TestTheLastStoredValueWins(t *testing.T) {
	sessions, err := store.Open(context.Background(), filepath.Join(t.TempDir(), "sessions.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer sessions.Close()
	made, err := sessions.Create(t.Context(), store.New{WorkingDir: "/", Type: session.User})
	if err != nil {
		t.Fatal(err)
	}
	h := &Host{SessionID: made.ID, Sessions: sessions, SetData: func(ctx context.Context, id string, data json.RawMessage) (bool, error) {
		return sessions.Update(ctx, id, store.SetExtensionData(data))
	}}
	err = h.keep(t.Context(), "x", func() jsonwire.Text {
		if h.data.TryLock() {
			t.Error("what is kept is asked for while somebody else may keep something newer")
			h.data.Unlock()
		}
		return jsonwire.Text("1")
	})
	if err != nil {
		t.Fatal(err)
	}
	if now, err := sessions.Session(t.Context(), made.ID); err != nil || string(now.ExtensionData) != `{"x":1}` {
		t.Errorf("%s, %v", now.ExtensionData, err)
	}
}

// decided returns the lines of docs/behaviour/goose-api.md.
func decided(t *testing.T) []string {
	t.Helper()
	text := testfile.Text(t, "../../../docs/behaviour/goose-api.md")
	return strings.Split(text, "\n")
}

func TestToolsOfTheDecisions(t *testing.T) {
	described := decided(t)
	todo, _ := (&todo{}).Tools(t.Context())
	recall, _ := (&chatrecall{}).Tools(t.Context())
	for key, tools := range map[string][]llm.Tool{
		"todo": todo, "chatrecall": recall, "skills": {loadSkill}, "extensionmanager": slices.Concat(managing, reading),
	} {
		for _, tool := range tools {
			row := fmt.Sprintf("| `%s__%s` | `%s` | `%s` |", key, tool.Name, tool.Description, tool.Schema)
			if !slices.Contains(described, row) {
				t.Errorf("docs/behaviour/goose-api.md does not have\n%s", row)
			}
		}
	}
}

func TestOtherDataIsNotChanged(t *testing.T) {
	if got := string(with([]byte(`{"a":1,"todo.v0":2,"b":3}`), todoData, []byte("4"))); got != `{"a":1,"todo.v0":4,"b":3}` {
		t.Error(got)
	}
}

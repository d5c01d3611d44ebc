package store_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/lockstep-dev/lockstep/internal/testfile"
	"github.com/lockstep-dev/lockstep/server/domain/session"
	"github.com/lockstep-dev/lockstep/server/store"
)

// legacy opens a database next to some session files.
func legacy(t *testing.T, files map[string]string) *store.Store {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "a[b]*") // must not be read as a pattern
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		testfile.Write(t, filepath.Join(dir, name), content)
		if name == "huge.jsonl" {
			must[any](t)(nil, os.Truncate(filepath.Join(dir, name), 50<<20+1))
		}
		modified := time.Date(2024, 1, 2, 3, 4, 5, 0, time.UTC)
		if err := os.Chtimes(filepath.Join(dir, name), modified, modified); err != nil {
			t.Fatal(err)
		}
	}
	return open(t, filepath.Join(dir, "sessions.db"))
}

func TestSessionFilesOfOlderVersions(t *testing.T) {
	const said = `{"role":"user","created":7,"content":[{"type":"text","text":"é{}"}]}`
	s := legacy(t, map[string]string{
		"20240102_030405.jsonl": `{"name":"N"}` + "\r\n" + said + "\n" + said + "\r\n" + "{}\n" + said + "\xff\n" + said,
		"a.b.jsonl":             `{"name":"both","description":"old","id":"x","conversation":[1],"message_count":"many","updated_at":5}`,
		"no-utf8.jsonl":         "{\"name\":\"\xff\"}",
		"wrong.jsonl":           `{"name":5}`,
		"huge.jsonl":            `{"name":"N"}`,
		".jsonl":                "",
	})
	if len(s.LeftOut) != 4 {
		t.Errorf("left out: %v", s.LeftOut)
	}
	got := must[session.Session](t)(s.Load(t.Context(), "20240102_030405"))
	if len(got.Conversation) != 2 || !got.Conversation[0].Metadata.AgentVisible || got.UpdatedAt.Format(time.DateTime) != "2024-01-02 03:04:05" {
		t.Errorf("%+v", got)
	}
	if since := time.Since(got.CreatedAt); since > time.Hour && !got.CreatedAt.Equal(time.Date(2024, 1, 2, 3, 4, 5, 0, time.Local)) {
		t.Errorf("it was created at %s, neither when the file was made nor when its name says", got.CreatedAt)
	}
	if other := must[session.Session](t)(s.Load(t.Context(), "a.b")); other.Name != "both" || other.MessageCount != 0 {
		t.Errorf("%+v", other)
	}
}

func TestAnExistingDatabaseImportsNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sessions.db")
	first, err := store.Open(t.Context(), path)
	if err != nil || first.Close() != nil {
		t.Fatal(err)
	}
	testfile.Write(t, filepath.Join(filepath.Dir(path), "a.jsonl"), `{"name":"N"}`)
	if _, err := open(t, path).Session(t.Context(), "a"); err == nil {
		t.Error("a file was taken over into a database that was there")
	}
}

package server_test

import (
	"bytes"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/lockstep-dev/lockstep/server"
	"github.com/lockstep-dev/lockstep/server/settings"
)

// execute runs statements directly on a database.
func execute(t *testing.T, path string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, statement := range statements {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

// TestAnInvalidDatabaseFailsOnlySessions checks that the other operations work, and that the file is not changed
// (GA 17.4, decision S54).
func TestAnInvalidDatabaseFailsOnlySessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		places := settings.Below(t.TempDir())
		text := []byte(strings.Repeat("this is a text, ", 1000))
		if err := errors.Join(os.MkdirAll(filepath.Dir(places.Sessions()), 0o700), os.WriteFile(places.Sessions(), text, 0o600)); err != nil {
			t.Fatal(err)
		}
		r := start(t, server.Config{Directories: places})
		if said := r.log.String(); strings.Count(said, "\n") != 1 || !strings.Contains(said, places.Sessions()) {
			t.Errorf("logged: %q, want one line that names the file", said)
		}
		r.get("GET /status").is(t, "status", 200, "ok")
		r.register("c", "tool")
		for request, status := range map[string]int{
			"GET /sessions": 500, "GET /sessions/insights": 500, "GET /sessions/x": 404, "DELETE /sessions/x": 500, "GET /sessions/x/export": 404, "GET /diagnostics/x": 500,
		} {
			if got := r.get(request); got.status != status {
				t.Errorf("%s: %d %s, want %d", request, got.status, got.body, status)
			}
		}
		if got := r.post("POST /agent/start", `{"working_dir":"/w"}`); got.status != 400 {
			t.Errorf("start: %d %s", got.status, got.body)
		}
		if now, err := os.ReadFile(places.Sessions()); err != nil || !bytes.Equal(now, text) {
			t.Errorf("the file has changed: %v, %.99q", err, now)
		}
	})
}

// TestAnImportOfALostSessionIsABadRequest checks an import whose session is deleted before it can be read back, and one
// whose session cannot be stored (GA 9.6).
func TestAnImportOfALostSessionIsABadRequest(t *testing.T) {
	for _, tc := range []struct{ name, trigger, logged string }{
		{"deleted", "AFTER UPDATE ON sessions BEGIN DELETE FROM sessions WHERE id = NEW.id; END", "session not found"},
		{"not stored", "BEFORE INSERT ON sessions BEGIN SELECT RAISE(ABORT, 'disk full'); END", "disk full"},
	} {
		synctest.Test(t, func(t *testing.T) {
			places := settings.Below(t.TempDir())
			r := start(t, server.Config{Directories: places})
			r.newSession("/w") // creates the tables
			execute(t, places.Sessions(), "CREATE TRIGGER lose "+tc.trigger)
			a := r.post("POST /sessions/import", importing(""))
			if a.is(t, tc.name, 400, ""); a.header.Get("Content-Type") != "" {
				t.Errorf("%s: Content-Type %q, want none", tc.name, a.header.Get("Content-Type"))
			}
			if said := r.log.String(); !strings.Contains(said, tc.logged) {
				t.Errorf("%s: the log does not have %q: %s", tc.name, tc.logged, said)
			}
		})
	}
}

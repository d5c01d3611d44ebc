package server_test

import (
	"database/sql"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"testing/synctest"

	"github.com/lockstep-dev/lockstep/server"
	"github.com/lockstep-dev/lockstep/server/settings"
)

// TestALargeArchiveTakesNoMemory also checks that the archive's file is removed after it was sent.
func TestALargeArchiveTakesNoMemory(t *testing.T) {
	d, temporary := settings.Below(t.TempDir()), t.TempDir()
	t.Setenv("TMPDIR", temporary)
	synctest.Test(t, func(t *testing.T) {
		r := start(t, server.Config{Directories: d})
		id := r.newSession("/w")
		if err := os.MkdirAll(d.Logs(), 0o700); err != nil {
			t.Fatal(err)
		}
		log := make([]byte, 4<<20) // cannot be compressed
		rand.NewChaCha8([32]byte{}).Read(log)
		if err := os.WriteFile(filepath.Join(d.Logs(), "a.jsonl"), log, 0o600); err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		a := r.get("HEAD /diagnostics/" + id)
		runtime.ReadMemStats(&after)
		if allocated := after.TotalAlloc - before.TotalAlloc; a.status != 200 || allocated > 4<<20 {
			t.Errorf("status %d and %d MiB, want 200 and 4 MiB at most", a.status, allocated>>20)
		}
		left, err := os.ReadDir(temporary)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range left {
			t.Errorf("%s is left", file.Name())
		}
	})
}

// TestASessionWhoseIDNoHeaderCanHoldHasNoArchive: another program may have stored such a session, but its ID is part
// of a header field of the archive (GA 5.2).
func TestASessionWhoseIDNoHeaderCanHoldHasNoArchive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := settings.Below(t.TempDir())
		r := start(t, server.Config{Directories: d})
		id := r.newSession("/w")
		if err := os.MkdirAll(d.Logs(), 0o700); err != nil {
			t.Fatal(err)
		}
		db, err := sql.Open("sqlite", d.Sessions())
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if _, err := db.ExecContext(t.Context(), "UPDATE sessions SET id = 'a' || char(1) WHERE id = ?", id); err != nil {
			t.Fatal(err)
		}
		for path, want := range map[string]int{"/diagnostics/a%01": 400, "/diagnostics/a%02": 500} {
			if a := r.get("GET " + path); a.status != want || a.body != "" {
				t.Errorf("%s: %d %q, want %d without a body", path, a.status, a.body, want)
			}
		}
	})
}

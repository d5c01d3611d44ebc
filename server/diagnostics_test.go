package server_test

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"

	"github.com/lockstep-dev/lockstep/internal/ratio"
	"github.com/lockstep-dev/lockstep/internal/testfile"
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
		testfile.Write(t, filepath.Join(d.Logs(), "a.jsonl"), log)
		var a answer
		allocated := ratio.Allocated(func() { a = r.get("HEAD /diagnostics/" + id) })
		if a.status != 200 || allocated > 4<<20 {
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

// TestTheIDOfASessionIsInTheNameOfItsArchive stores sessions with IDs that only another program can have stored. An ID is
// written as UTF-8, but a header field cannot hold control characters (GA 5.2).
func TestTheIDOfASessionIsInTheNameOfItsArchive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := settings.Below(t.TempDir())
		r := start(t, server.Config{Directories: d})
		if err := os.MkdirAll(d.Logs(), 0o700); err != nil {
			t.Fatal(err)
		}
		for id, want := range map[string]int{"\u017c\u0085\U0001f4a9": 200, "a\x01b": 400, "\r\n": 400, "\t": 400, "\x1f": 400, "\x7f": 400} {
			path := "GET /diagnostics/" + url.PathEscape(id)
			if a := r.get(path); a.status != 500 || a.body != "" {
				t.Errorf("%s without a session: %d %q, want 500 without a body", path, a.status, a.body)
			}
			execute(t, d.Sessions(), fmt.Sprintf("UPDATE sessions SET id = CAST(x'%x' AS TEXT) WHERE id = '%s'", id, r.newSession("/w")))
			a := r.get(path)
			if a.status != want || (a.body == "") != (want == 400) {
				t.Errorf("%s: %d with %d bytes, want %d", path, a.status, len(a.body), want)
			}
			if name := `attachment; filename="diagnostics_` + id + `.zip"`; want == 200 && a.header.Get("Content-Disposition") != name {
				t.Errorf("%s: Content-Disposition %q, want %q", path, a.header.Get("Content-Disposition"), name)
			}
		}
	})
}

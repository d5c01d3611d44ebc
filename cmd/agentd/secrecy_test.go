package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	pathsettings "github.com/lockstep-dev/lockstep/server/settings"
)

// once starts a server that stops as soon as it listens, and returns its standard error.
func once(t *testing.T, s settings, env map[string]string) string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s.directory, s.defaultTimeout, s.keepaliveInterval, s.maxBody = "/project", time.Second, time.Second, 1
	var stdout, stderr bytes.Buffer
	if err := serve(ctx, s, environment(t, env), &stdout, &stderr); err != nil {
		t.Fatal(err)
	}
	return stderr.String()
}

func TestTheDefaultSecretCausesAWarning(t *testing.T) {
	for secret, want := range map[string]bool{"test": true, "other": false} {
		d := pathsettings.Below(t.TempDir())
		said := once(t, settings{host: "127.0.0.1", secretKey: secret, directories: d}, nil)
		if got := strings.HasPrefix(said, "warning: GOOSE_SERVER__SECRET_KEY is "); got != want || strings.Count(said, "\n") > 1 {
			t.Errorf("secret %q: stderr %q", secret, said)
		}
		logs, _ := filepath.Glob(filepath.Join(d.State, "logs/server/*/*-*.log"))
		if len(logs) != 1 {
			t.Fatalf("logs of the server: %q, want one", logs)
		}
		if logged, err := os.ReadFile(logs[0]); err != nil || string(logged) != said {
			t.Errorf("the log has %q, %v; want %q", logged, err, said)
		}
	}
}

// TestOtherUsersCannotReadTheFiles uses a folder that everybody may enter, and a umask that removes no permission.
func TestOtherUsersCannotReadTheFiles(t *testing.T) {
	d := pathsettings.Below(t.TempDir())
	db := d.Sessions()
	if err := os.MkdirAll(filepath.Dir(db), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Dir(db), 0o777); err != nil {
		t.Fatal(err)
	}
	defer syscall.Umask(syscall.Umask(0))
	modes := map[string]os.FileMode{}
	look := func() {
		_ = filepath.Walk(filepath.Dir(d.Config), func(path string, info os.FileInfo, err error) error {
			if err == nil && info.Mode().IsRegular() {
				modes[filepath.Base(path)] = info.Mode().Perm()
			}
			return nil
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	var stderr bytes.Buffer
	err := serve(ctx, settings{host: "127.0.0.1", directory: "/project", directories: d, defaultTimeout: time.Second, keepaliveInterval: time.Second, maxBody: 1}, environment(t, nil),
		writerFunc(func(p []byte) (int, error) { look(); cancel(); return len(p), nil }), &stderr)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"sessions.db", "sessions.db-wal", "sessions.db-shm", "config.yaml"} {
		if _, ok := modes[name]; !ok {
			t.Errorf("there is no %s among %v", name, modes)
		}
	}
	for name, mode := range modes {
		if mode != 0o600 {
			t.Errorf("%s has mode %o, want 600", name, mode)
		}
	}
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

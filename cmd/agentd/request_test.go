//go:build unix

package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-dev/lockstep/internal/testfile"
)

// atMost is how long the tests wait for an event. It is generous, because the machine may be busy.
const atMost = 30 * time.Second

// askEvery is the pause between two requests.
const askEvery = 10 * time.Millisecond

// A request is sent to a server, which answers with a status.
type request struct {
	method, path string
	body         any
	status       int
	logged       string // the file of which its line in the log speaks
}

// check sends requests and checks the statuses.
func (s *served) check(t *testing.T, requests ...request) {
	t.Helper()
	api := s.api()
	defer api.close()
	for _, r := range requests {
		_, err := api.do(r.method, r.path, r.body)
		status := 200
		if no := (*refused)(nil); errors.As(err, &no) {
			status, err = no.status, nil
		}
		if err != nil || status != r.status {
			t.Errorf("%s %s: %d, %v; want %d", r.method, r.path, status, err, r.status)
		}
	}
}

// checkLog ends the server, and checks that the log has a line with the reason for each request that has one, in order.
func (s *served) checkLog(t *testing.T, reason string, requests ...request) {
	t.Helper()
	s.kill() // all it has said is known then
	var lines, want []string
	for line := range strings.Lines(s.stderr.String()) {
		if strings.Contains(line, reason) {
			lines = append(lines, line)
		}
	}
	for _, r := range requests {
		if r.logged != "" {
			want = append(want, r.logged)
		}
	}
	if !slices.EqualFunc(lines, want, strings.Contains) {
		t.Errorf("the log has %d lines about %q, want one about each of %q:\n%s", len(lines), reason, want, s.stderr)
	}
}

func upsert(key string, value any, secret bool) object {
	return object{"key": key, "value": value, "is_secret": secret}
}

func allow(tool string) object {
	return object{"tool_permissions": []object{{"tool_name": tool, "permission": "always_allow"}}}
}

// contents returns the files of a directory and those below it, by their paths in it.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			all[path] = testfile.Text(t, filepath.Join(dir, path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// eventually waits for a condition, and fails after atMost.
func eventually(t *testing.T, what string, isSo func() bool) {
	t.Helper()
	for deadline := time.Now().Add(atMost); !isSo(); time.Sleep(askEvery) {
		if time.Now().After(deadline) {
			t.Errorf("after %s it is not so that %s", atMost, what)
			return
		}
	}
}

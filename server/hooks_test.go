//go:build unix

package server_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstep-dev/lockstep/internal/testfile"
	"github.com/lockstep-dev/lockstep/server"
	"github.com/lockstep-dev/lockstep/server/engine/hooks"
	"github.com/lockstep-dev/lockstep/server/handlers/clienttools"
)

// sh returns a hook that runs a script for the tools that match.
func sh(match, script string) hooks.Hook {
	return hooks.Hook{Match: match, Command: []string{"/bin/sh", "-c", script}, Timeout: time.Minute}
}

// withHooks returns a configuration with hooks that can find their programs.
func withHooks(before, after []hooks.Hook) server.Config {
	return server.Config{Hooks: hooks.Lists{Before: before, After: after}, Environment: os.Environ()}
}

func TestHooksDecideAboutAnExecution(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := withHooks([]hooks.Hook{
			sh("client_c_denied", `echo '{"decision":"deny","reason":"Not today"}'`),
			sh("client_c_broken", `exit 1`),
			sh("client_c_z", `grep -q '"tool":"client_c_z","input":{"n":1},"sessionID":"s","callID":"k","clientID":"c"}' && echo '{"decision":"allow","input":{"n":2}}'`),
			sh("client_c_typed", `echo '{"decision":"allow","input":{"n":2}}'`),
		}, []hooks.Hook{sh("client_c_z", `sed -n '/"input":{"n":2},/s/.*"result":{"status":"\([a-z]*\)","[a-z]*":"\(.*\)"}}/{"output":"\1 \2!"}/p'`)})
		config.Permissions = clienttools.Permissions{{Pattern: "client_c_denied", Permission: clienttools.Deny}}
		r := start(t, config)
		r.register("c", "z", "denied", "broken")
		r.json("POST /client-tools/register", `{"clientID":"c","tools":[{"id":"typed","description":"","parameters":{"properties":{"n":{"type":"string"}}}}]}`)
		bus := r.open("/event")
		bus.take()
		execute := func(tool, id string) <-chan answer {
			answered := r.start(withJSON("POST /client-tools/execute", `{"toolID":"client_c_`+tool+`","requestID":"`+id+`","sessionID":"s","callID":"k","input":{"n":1}}`))
			synctest.Wait()
			return answered
		}
		(<-execute("denied", "1")).is(t, "the hook comes before the permission", 403, coded("PERMISSION_DENIED", "Not today"))
		(<-execute("broken", "1")).is(t, "broken", 403, coded("PERMISSION_DENIED", "Hook failed: /bin/sh"))
		if a := <-execute("typed", "1"); a.status != 400 || !strings.Contains(a.body, "/n: ") {
			t.Errorf("the input of the hook is not validated: %d %s", a.status, a.body)
		}
		(<-execute("nope", "1")).is(t, "unknown", 404, coded("NOT_FOUND", "Tool not found"))
		same(t, "events", 0, len(bus.take()))

		for _, tc := range []struct {
			result string
			status int
			want   string
		}{
			{`{"status":"success","title":"T","output":"out","metadata":{}}`, 200, `{"status":"success","title":"T","output":"success out!","metadata":{}}`},
			{`{"status":"error","error":"E"}`, 500, coded("INTERNAL_ERROR", "error E!")},
		} {
			answered := execute("z", "2")
			if frames := strings.Join(bus.take(), ""); !strings.Contains(frames, `"input":{"n":2}`) {
				t.Fatalf("the client gets no call with the input of the hook: %s", frames)
			}
			r.json("POST /client-tools/result", `{"requestID":"2","result":`+tc.result+`}`).is(t, "result", 200, `{"success":true}`)
			(<-answered).is(t, "execute", tc.status, tc.want)
			if frames := strings.Join(bus.take(), ""); strings.Contains(frames, "!") {
				t.Errorf("the events have what the hook said: %s", frames)
			}
		}
	})
}

func TestAStopEndsTheHooks(t *testing.T) {
	started := filepath.Join(t.TempDir(), "started")
	if err := syscall.Mkfifo(started, 0o600); err != nil {
		t.Fatal(err)
	}
	r := startTCP(t, withHooks([]hooks.Hook{sh("*", "echo >"+started+"; sleep 600")}, nil))
	r.register("c", "z")
	answered := r.start(withJSON("POST /client-tools/execute", `{"toolID":"client_c_z"}`))
	testfile.Read(t, started) // waits
	r.stop()
	(<-answered).is(t, "execute", 500, coded("INTERNAL_ERROR", "Server is shutting down"))
}

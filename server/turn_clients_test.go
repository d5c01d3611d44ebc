package server_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/lockstep-dev/lockstep/server"
	"github.com/lockstep-dev/lockstep/server/settings"
)

func TestAStartNamesTheClientOfASession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := settings.Below(t.TempDir())
		r := start(t, server.Config{Directories: d})
		const owned = `"extension_data":{"client_tools.v0":{"clientID":"c/1 \"x\""}}`
		r.post("POST /agent/start", `{"clientID":"c/1 \"x\"","working_dir":"/w"}`).is(t, "start", 200, with(fresh, `"extension_data":{}`, owned))
		for body, want := range map[string]string{
			`{"working_dir":"/w","clientID":null}`:               "clientID: invalid type: null, expected a string at line 1 column 35",
			`{"working_dir":"/w","clientID":7}`:                  "clientID: invalid type: number, expected a string at line 1 column 32",
			`{"working_dir":"/w","clientID":""}`:                 "clientID: invalid value: empty string at line 1 column 33",
			`{"clientID":""}`:                                    "missing field `working_dir` at line 1 column 15",
			`{"clientID":"a","clientID":"a","working_dir":"/w"}`: "duplicate field `clientID` at line 1 column 30",
		} {
			r.post("POST /agent/start", body).is(t, body, 422, "Failed to deserialize the JSON body into the target type: "+want)
		}
		var exported string
		if err := json.Unmarshal([]byte(r.get("GET /sessions/20000101_1/export").body), &exported); err != nil {
			t.Fatal(err)
		}
		r.stop()

		r = start(t, server.Config{Directories: d})
		for what, a := range map[string]answer{
			"after a restart": r.get("GET /sessions/20000101_1"),
			"imported":        r.post("POST /sessions/import", `{"json":`+string(must(json.Marshal(exported)))+`}`),
		} {
			if a.status != 200 || !strings.Contains(a.body, owned) {
				t.Errorf("%s: %d %s, want %s in it", what, a.status, a.body, owned)
			}
		}
	})
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

package server_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/internal/testfile"
	"github.com/lockstep-dev/lockstep/server"
	"github.com/lockstep-dev/lockstep/server/settings"
)

const frontendConfig = `{"type":"frontend","name":"ui","description":"","tools":[{"name":"show","inputSchema":{"type":"object"}}]}`

func TestExtensionsOverHTTP(t *testing.T) {
	r := start(t, server.Config{})
	add := func(config string) answer {
		return r.post("POST /agent/add_extension", `{"session_id":"x","config":`+config+`}`)
	}
	add(frontendConfig).is(t, "the client's tools", 200, "")
	add(`{"type":"stdio","name":"x","cmd":"there-is-none","args":[]}`).is(t, "no command", 500, `{"message":"Failed to add extension: Command not found: there-is-none"}`)
	add(`{"type":"stdio","name":"x"}`).is(t, "no command at all", 422, "Failed to deserialize the JSON body into the target type: config: missing field `cmd` at line 1 column 54")
	add(`{"type":"builtin","name":"developer"}`).is(t, "no executable in this test", 500, `{"message":"Failed to add extension: Command not found: "}`)
	add(`{"type":"platform","name":"todo","description":""}`).is(t, "todo", 200, "")
	r.get("GET /agent/tools?session_id=x&extension_name=todo").is(t, "its tools", 200, `[{"name":"todo__todo_write","description":"Replaces the todo list of this session.","parameters":["content"],"permission":null}]`)
	r.post("POST /agent/remove_extension", `{"name":"TODO","session_id":"x"}`).is(t, "removed", 200, "")
	for _, name := range []string{"ui", "nope"} {
		r.post("POST /agent/remove_extension", `{"name":"`+name+`","session_id":"x"}`).is(t, name, 200, "")
	}
	r.get("GET /agent/tools?session_id=x").is(t, "tools", 200, "["+taskTool+","+scheduleTool+","+subagentTool+"]")
}

func TestResumeLoadsExtensions(t *testing.T) {
	d := settings.Below(t.TempDir())
	r := start(t, server.Config{Directories: d})
	config := "extensions:\n  none: {enabled: true, type: stdio, name: none, cmd: there-is-none, args: []}\n  off: {enabled: false, type: stdio, name: off, cmd: off-is-none, args: []}\n"
	testfile.Write(t, filepath.Join(d.Config, "config.yaml"), config)
	id := r.newSession("/w")
	r.post("POST /agent/resume", `{"session_id":"`+id+`","load_model_and_extensions":true}`).is(t, "resume", 500, `{"message":"Could not configure agent: missing provider"}`)
	r.get("GET /agent/tools?extension_name=chatrecall&session_id="+id).is(t, "what the settings do not name", 200,
		`[{"name":"chatrecall__chatrecall","description":"Finds messages of other sessions, or shows the beginning and the end of one.",`+
			`"parameters":["query","session_id","limit","after_date","before_date"],"permission":null}]`)
	if !strings.Contains(r.log.String(), "there-is-none") || strings.Contains(r.log.String(), "off-is-none") {
		t.Errorf("the log: %s", r.log.String())
	}
}

package server_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/lockstep-dev/lockstep/internal/testfile"
	"github.com/lockstep-dev/lockstep/server"
	"github.com/lockstep-dev/lockstep/server/settings"
)

const (
	taskTool     = `{"name":"dynamic_task__create_task","description":"Creates tasks that sub-agents can run.","parameters":["task_parameters"],"permission":null}`
	scheduleTool = `{"name":"platform__manage_schedule","description":"Manages the scheduled recipes of this server.","parameters":["action","job_id","recipe_path","cron_expression","limit","session_id"],"permission":null}`
	subagentTool = `{"name":"subagent__execute_task","description":"Runs tasks in sub-agents and returns their results.","parameters":["task_ids","execution_mode"],"permission":null}`
)

func TestToolsOfAFreshAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := settings.Below(t.TempDir())
		r := start(t, server.Config{Directories: d})
		all := "[" + taskTool + "," + scheduleTool + "," + subagentTool + "]"
		r.get("GET /agent/tools?session_id=nope").is(t, "all", 200, all)
		r.get("GET /agent/tools?session_id=&x=%ZZ").is(t, "of the empty id", 200, all)
		r.get("GET /agent/tools?session_id=x&extension_name=platform").is(t, "platform", 200, "["+taskTool+","+scheduleTool+"]")
		for _, name := range []string{"nope", "", "Platform", "dynamic_task"} {
			r.get("GET /agent/tools?session_id=x&extension_name="+name).is(t, name, 200, "[]")
		}

		id := field(t, r.post("POST /agent/start", `{"working_dir":"/w","recipe":{"title":"t","description":"d","prompt":"p","response":{"json_schema":{"type":"object","properties":{"z":{},"a":{}}}},"sub_recipes":[{"name":"sub","path":"/"}]}}`).body, "id")
		r.get("GET /agent/tools?session_id="+id).is(t, "before the session was looked at", 200, all)
		r.post("POST /agent/update_from_session", `{"session_id":"`+id+`"}`).is(t, "update", 200, "")
		r.get("GET /agent/tools?session_id="+id).is(t, "with a recipe", 200, "["+taskTool+","+scheduleTool+","+
			`{"name":"recipe__final_output","description":"Gives the final output of the conversation. Call it once, when the work is done. The output has to match this schema:\n{\n  \"type\": \"object\",\n  \"properties\": {\n    \"z\": {},\n    \"a\": {}\n  }\n}","parameters":["z","a"],"permission":null},`+
			subagentTool+`,{"name":"subrecipe__create_task_sub","description":"Creates tasks that run the recipe sub.","parameters":["task_parameters"],"permission":null}]`)

		r.post("POST /agent/stop", `{"session_id":"`+id+`"}`).is(t, "stop", 200, "")
		r.get("GET /agent/tools?session_id="+id).is(t, "of a new agent", 200, all)
		r.post("POST /agent/stop", `{"session_id":"`+id+`"}`).is(t, "stop", 200, "")
		r.post("POST /agent/stop", `{"session_id":"`+id+`"}`).is(t, "stop again", 404, `{"message":"Failed to stop agent for session `+id+`: Session `+id+` not found"}`)
	})
}

func TestPermissionsOfTools(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := settings.Below(t.TempDir())
		mode := "auto"
		r := start(t, server.Config{Directories: d, Env: func(name string) (string, bool) { return mode, name == "GOOSE_MODE" }})
		levels := func(task, schedule, subagent string) string {
			set := func(tool, level string) string {
				return strings.Replace(tool, `"permission":null`, `"permission":`+level, 1)
			}
			return "[" + set(taskTool, task) + "," + set(scheduleTool, schedule) + "," + set(subagentTool, subagent) + "]"
		}
		path := filepath.Join(d.Config, "permission.yaml")
		testfile.Write(t, path, "user: {always_allow: [platform__manage_schedule], ask_before: [], never_allow: []}\n"+
			"smart_approve: {always_allow: [], ask_before: [], never_allow: [subagent__execute_task, platform__manage_schedule]}\n")
		r.get("GET /agent/tools?session_id=x").is(t, "auto", 200, levels("null", `"always_allow"`, "null"))
		mode = "approve"
		r.get("GET /agent/tools?session_id=x").is(t, "approve", 200, levels(`"ask_before"`, `"always_allow"`, `"ask_before"`))
		mode = "smart_approve"
		r.get("GET /agent/tools?session_id=x").is(t, "smart_approve", 200, levels("null", `"always_allow"`, `"never_allow"`))
		testfile.Write(t, path, "[\n")
		r.get("GET /agent/tools?session_id=x").is(t, "an unreadable file", 200, levels("null", "null", "null"))
	})
}

func TestTheLeastUsedAgentIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, server.Config{MaxActiveAgents: 2})
		use := func(id string) {
			r.get("GET /agent/tools?session_id="+id).is(t, "tools", 200, "["+taskTool+","+scheduleTool+","+subagentTool+"]")
		}
		for _, id := range []string{"a", "b", "a", "c"} {
			use(id)
		}
		for id, status := range map[string]int{"a": 200, "b": 404, "c": 200} {
			if got := r.post("POST /agent/stop", `{"session_id":"`+id+`"}`); got.status != status {
				t.Errorf("stop %s: %d, want %d", id, got.status, status)
			}
		}
	})
}

func TestResumeLoadsTheModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		env := map[string]string{}
		r := start(t, server.Config{Env: func(name string) (string, bool) { value, ok := env[name]; return value, ok }})
		id := r.newSession("/w")
		resume := func() answer {
			return r.post("POST /agent/resume", `{"session_id":"`+id+`","load_model_and_extensions":true}`)
		}
		problem := func(name, text string) {
			t.Helper()
			resume().is(t, name, 500, `{"message":"`+text+`"}`)
		}
		problem("nothing", "Could not configure agent: missing provider")
		env["GOOSE_PROVIDER"] = "7"
		problem("a number", "Could not configure agent: missing provider")
		env["GOOSE_PROVIDER"] = "openai"
		problem("no model", "Could not configure agent: missing model")
		env["GOOSE_MODEL"], env["GOOSE_CONTEXT_LIMIT"] = "gpt-4o", "5"
		problem("a bad limit", `Could not configure agent: invalid model Value for 'GOOSE_CONTEXT_LIMIT' is out of valid range: must be greater than 4K`)
		delete(env, "GOOSE_CONTEXT_LIMIT")
		problem("no key", "Could not create provider: Configuration value not found: OPENAI_API_KEY")
		env["GOOSE_PROVIDER"] = "x"
		problem("no such provider", "Could not create provider: Unknown provider: x")
		r.get("GET /sessions/"+id).is(t, "nothing was stored", 200, with(fresh, `"conversation":null`, `"conversation":[]`))

		env["GOOSE_PROVIDER"], env["OPENAI_API_KEY"] = "openai", "sk-1"
		resume().is(t, "the first resume", 200, with(fresh, `"conversation":null`, `"conversation":[]`)) // the failed resume has changed nothing
		loaded := with(fresh, `"conversation":null`, `"conversation":[]`, `"provider_name":null,"model_config":null`,
			`"provider_name":"openai","model_config":{"model_name":"gpt-4o","context_limit":128000,"temperature":null,"max_tokens":null,"toolshim":false,"toolshim_model":null,"fast_model":"gpt-4o-mini"}`)
		r.get("GET /sessions/"+id).is(t, "what was stored", 200, loaded)
		env["GOOSE_PROVIDER"], env["GOOSE_MODEL"] = "y", "other"
		resume().is(t, "the session's own provider wins", 200, loaded)
	})
}

func TestDiagnosticsAreAnArchive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := settings.Below(t.TempDir())
		r := start(t, server.Config{Directories: d})
		id := r.newSession("/w")
		for name, content := range map[string]string{
			"logs/llm_request.0.jsonl": "{}\n", "logs/other.txt": "x", "logs/server/in.jsonl": "x",
			"../data/schedule.json": "[]", "../data/scheduled_recipes/a.yaml": "title: a", "../data/scheduled_recipes/deep/b.yaml": "title: b",
		} {
			testfile.Write(t, filepath.Join(d.State, name), content)
		}
		a := r.get("GET /diagnostics/" + id)
		if a.status != 200 || a.header.Get("Content-Type") != "application/zip" || a.header.Get("Content-Disposition") != `attachment; filename="diagnostics_`+id+`.zip"` {
			t.Fatalf("%d %v", a.status, a.header)
		}
		names, contents := testfile.Unzip(t, a.body)
		same(t, "entries", []string{"logs/llm_request.0.jsonl", "session.json", "config.yaml", "system.txt", "schedule.json", "scheduled_recipes/a.yaml"}, names)
		if want := field(t, r.get("GET /sessions/"+id).body, "id"); !strings.Contains(contents["session.json"], `"id": "`+want+`"`) {
			t.Errorf("session.json: %s", contents["session.json"])
		}
		if contents["config.yaml"] != "{}\n" || contents["schedule.json"] != "[]" || contents["logs/llm_request.0.jsonl"] != "{}\n" {
			t.Errorf("contents: %q", contents)
		}
		var keys []string
		for line := range strings.SplitSeq(strings.TrimSuffix(contents["system.txt"], "\n"), "\n") {
			key, value, _ := strings.Cut(line, ": ")
			keys = append(keys, key)
			if key == "App Version" && value != "1.16.0" || key == "Timestamp" && value != "2000-01-01T00:00:00Z" {
				t.Errorf("system.txt: %s", line)
			}
		}
		same(t, "system.txt", []string{"App Version", "OS", "OS Version", "Architecture", "Timestamp"}, keys)

		if err := os.RemoveAll(d.Logs()); err != nil {
			t.Fatal(err)
		}
		r.get("GET /diagnostics/"+id).is(t, "without a directory of logs", 500, "")
	})
}

func TestDiagnosticsOpenPlainFilesOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := settings.Below(t.TempDir())
		r := start(t, server.Config{Directories: d})
		id := r.newSession("/w")
		for _, path := range []string{filepath.Join(d.Data, "schedule.json"), filepath.Join(d.Data, "scheduled_recipes", "a.yaml"), filepath.Join(d.Logs(), "x.jsonl")} {
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := syscall.Mkfifo(path, 0o600); err != nil {
				t.Skip(err)
			}
		}
		if err := os.Symlink("/etc/passwd", filepath.Join(d.Data, "schedules.json")); err != nil {
			t.Fatal(err)
		}
		a := r.get("GET /diagnostics/" + id)
		if a.status != 200 {
			t.Fatalf("status %d, want 200", a.status)
		}
		names, _ := testfile.Unzip(t, a.body)
		same(t, "entries", []string{"session.json", "config.yaml", "system.txt"}, names)
	})
}

package gen

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A change replaces the matches of a pattern in the contract. The output of the compiler must contain want.
type change struct{ name, pattern, with, want string }

// changes are grouped by packages that do not import each other, because the compiler skips packages that import a broken
// one.
var changes = map[string][]change{
	"handlers": {
		{"a field of a response may be missing", `(    EditMessageResponse:\n.*\n +required: )\[sessionId\]`, `${1}[]`, "cannot use id (variable of string type"},
		{"a field of a request may be missing", `(    StopAgentRequest:\n.*\n +required: )\[session_id\]`, `${1}[]`, `cannot use o.String("session_id")`},
		{"a field has another type", `(?s)(    ResumeAgentRequest:.*?load_model_and_extensions:.*?)type: boolean`, `${1}type: string`, `cannot use o.Bool("load_model_and_extensions")`},
		{"a request has no recipe", `(?s)(    StartAgentRequest:.*?        )recipe:`, `${1}script:`, "unknown field Recipe in struct literal of type api.StartAgentRequest"},
		{"a request has no values", `(?s)(    UpdateSessionUserRecipeValuesRequest:.*?        )userRecipeValues:`, `${1}values:`, "request.Body.UserRecipeValues undefined"},
		{"a request has no extension", `(?s)(    AddExtensionRequest:.*?        )config:`, `${1}extension:`, "request.Body.Config undefined"},
		{"a parameter has another name", `(?s)(operationId: getTools.*?)name: extension_name`, `${1}name: extension`, "request.Params.ExtensionName undefined"},
		{"a status is gone", `(?s)(operationId: getSessionInsights.*?)        '500':\n.*?\n`, `${1}`, "does not implement server.GetSessionInsightsResponseObject"},
		{"an operation has another name", `operationId: stopAgent`, `operationId: endAgent`, "undefined: gen.StopAgentRequestObject"},
	},
	"session": {
		{"a field has another type", `(        working_dir: {type: )string(, x-order: 2})`, `${1}boolean${2}`, "cannot use s.WorkingDir (variable of type string)"},
		{"a field is gone", `        schedule_id: {type: string, nullable: true, x-order: 15}\n`, ``, "unknown field ScheduleID in struct literal of type api.Session"},
		{"a field may be missing", `(?s)(    Session:.*?total_tokens,\n +input_tokens, .*?), message_count`, `${1}`, "cannot use s.MessageCount (variable of type int64)"},
	},
	"recipe, message": {
		{"a field has another name", `(?s)(    Recipe:\n.*?        )activities:`, `${1}actions:`, "unknown field Activities in struct literal of type Recipe"},
		{"a field may be missing", `(    SubRecipe:\n.*\n +required: \[name, )path, `, `${1}`, `cannot use o.String("path") (value of type string)`},
		{"a field has another type", `(In seconds since 1970.\n +type: )integer\n +format: int64`, `${1}string`, "cannot use m.Created (variable of type int64)"},
		{"an item has another name", `(?s)(    TextContent:.*?enum: \[)text`, `${1}words`, "undefined: api.TextContentTypeText"},
		{"a field of an item is gone", `(?s)(    ToolRequest:\n.*?)\n        thoughtSignature:.*?\n`, "${1}\n", "unknown field ThoughtSignature in struct literal of type api.ToolRequest"},
	},
	"extension": {
		{"a field has another name", `        cmd: {type: string, x-order: 4}`, `        command: {type: string, x-order: 4}`, "unknown field Cmd in struct literal of type api.StdioExtension"},
		{"a type is gone", `(?s)    PlatformExtension:.*?\n\n|[^\n]*/PlatformExtension'\n`, ``, "undefined: api.PlatformExtension"},
	},
}

// TestAChangedContractBreaksTheBuild changes a copy of the contract, generates code from it, and compiles the server
// with that. The compiler must find every place that no longer conforms.
func TestAChangedContractBreaksTheBuild(t *testing.T) {
	for name, changes := range changes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out := build(t, changes)
			for _, c := range changes {
				if !strings.Contains(out, c.want) {
					t.Errorf("%s: the compiler does not say %s:\n%s", c.name, c.want, out)
				}
			}
		})
	}
}

// build applies changes to a copy of the contract, and returns the output of the compiler.
func build(t *testing.T, changes []change) string {
	t.Helper()
	text := string(read(t, "../openapi.yaml"))
	for _, c := range changes {
		changed := regexp.MustCompile(c.pattern).ReplaceAllString(text, c.with)
		if changed == text {
			t.Fatalf("%s: the contract has no %s", c.name, c.pattern)
		}
		text = changed
	}
	dir := t.TempDir()
	contract := filepath.Join(dir, "openapi.yaml")
	write(t, contract, []byte(text))
	replaced := map[string]string{}
	for _, name := range []string{"api", "server"} {
		inputs(t, name+".yaml", "overlay.yaml", "../go.sum")
		file, err := filepath.Abs(name + "/" + name + ".gen.go")
		if err != nil {
			t.Fatal(err)
		}
		replaced[file] = filepath.Join(dir, name+".go")
		command(t, ".", nil, "go", "tool", "oapi-codegen", "--config", name+".yaml", "-o", replaced[file], contract)
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replaced})
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "overlay.json"), overlay)
	build := exec.CommandContext(t.Context(), "go", "build", "-gcflags=-e", "-overlay", filepath.Join(dir, "overlay.json"), "./server/...")
	build.Dir = ".."
	out, err := build.CombinedOutput()
	if err == nil {
		t.Fatal("the server compiles with a contract that it does not obey")
	}
	return string(out)
}

func write(t *testing.T, file string, data []byte) {
	t.Helper()
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

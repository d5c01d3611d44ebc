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

// TestAChangedContractBreaksTheBuild changes a copy of the contract, generates code from it, and compiles the server
// with that. The compiler must find every place that no longer conforms.
func TestAChangedContractBreaksTheBuild(t *testing.T) {
	t.Parallel()
	changes := []struct{ name, pattern, with, want string }{
		{"a field of a response may be missing", `(    EditMessageResponse:\n.*\n +required: )\[sessionId\]`, `${1}[]`, "cannot use id (variable of string type"},
		{"a field of a request may be missing", `(    StopAgentRequest:\n.*\n +required: )\[session_id\]`, `${1}[]`, `cannot use o.String("session_id")`},
		{"a field has another type", `(?s)(    ResumeAgentRequest:.*?load_model_and_extensions:.*?)type: boolean`, `${1}type: string`, `cannot use o.Bool("load_model_and_extensions")`},
		{"a parameter has another name", `(?s)(operationId: getTools.*?)name: extension_name`, `${1}name: extension`, "request.Params.ExtensionName undefined"},
		{"a status is gone", `(?s)(operationId: getSessionInsights.*?)        '500':\n.*?\n`, `${1}`, "does not implement server.GetSessionInsightsResponseObject"},
		{"an operation has another name", `operationId: stopAgent`, `operationId: endAgent`, "undefined: gen.StopAgentRequestObject"},
	}
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
		inputs(t, name+".yaml", "../go.sum")
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
	for _, c := range changes {
		if !strings.Contains(string(out), c.want) {
			t.Errorf("%s: the compiler does not say %s:\n%s", c.name, c.want, out)
		}
	}
}

func write(t *testing.T, file string, data []byte) {
	t.Helper()
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

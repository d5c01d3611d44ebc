package connector

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/server/domain/extension"
	"github.com/lockstep-dev/lockstep/server/domain/session"
	"github.com/lockstep-dev/lockstep/server/store"
	"github.com/lockstep-dev/lockstep/server/wire/decode"
)

// preset is the setting extensions in a test. If it is empty, it cannot be read.
type preset string

func (p preset) Setting(key string) (json.RawMessage, error) {
	if key != "extensions" || p == "" {
		return nil, errors.New("not in this test")
	}
	return json.RawMessage(p), nil
}

// managed returns the set of a stored session, with only the extension manager.
func managed(t *testing.T, setting string) (s *Set, kept func() string) {
	t.Helper()
	sessions, err := store.Open(context.Background(), filepath.Join(t.TempDir(), "sessions.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { sessions.Close() })
	made, err := sessions.Create(t.Context(), store.New{WorkingDir: "/", Type: session.User})
	if err != nil {
		t.Fatal(err)
	}
	c := *newSet(t).connector
	c.Sessions, c.SetData, c.Settings, c.TodoLimit = sessions, setData(sessions), preset(setting), 10
	s = c.NewSet(made.ID)
	t.Cleanup(s.Close)
	add(t, s, extension.Config{Type: "platform", Name: "Extension Manager"})
	return s, func() string {
		now, err := sessions.Session(t.Context(), made.ID)
		if err != nil {
			t.Fatal(err)
		}
		return string(now.ExtensionData)
	}
}

func add(t *testing.T, s *Set, config extension.Config) {
	t.Helper()
	if err := s.Add(t.Context(), config); err != nil {
		t.Fatal(err)
	}
}

// manager returns the extension manager of a set, even if it is not connected.
func manager(t *testing.T, s *Set) provider {
	t.Helper()
	m, err := s.host.Open(extension.Config{Name: "extensionmanager"})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestExtensionsAreSearched(t *testing.T) {
	s, _ := managed(t, `{
		"b":{"enabled":false,"type":"stdio","name":"My B","description":" two\n lines ","cmd":"x","args":[]},
		"b2":{"enabled":true,"type":"stdio","name":"myb","description":"hidden by the first","cmd":"x","args":[]},
		"a":{"enabled":true,"type":"builtin","name":"A-1","description":" "},
		"bad":{"enabled":true,"type":"x"},"chatrecall":0}`)
	search := func(want string) {
		t.Helper()
		if got := said(t, s.Call(t.Context(), quiet("extensionmanager__search_available_extensions", `{"x":1}`))); got != want {
			t.Errorf("got %q\nwant %q", got, want)
		}
	}
	const none = "Extensions available to enable:\n- A-1 - \n- My B - two lines\n- skills - Loads skills.\n- todo - Keeps a todo list.\n\n\nExtensions available to disable:\n"
	search(none + "- Extension Manager\n")
	add(t, s, extension.Config{Type: "frontend", Name: "MY\tb"})
	add(t, s, extension.Config{Type: "platform", Name: "To Do"})
	search("Extensions available to enable:\n- A-1 - \n- skills - Loads skills.\n\n\nExtensions available to disable:\n- Extension Manager\n- To Do\n")
	s.host.Settings = preset("{}")
	search("No extensions available to enable.\n\n\nExtensions available to disable:\n- Extension Manager\n- To Do\n")
	call := quiet("extensionmanager__search_available_extensions", "")
	m := manager(t, s)
	s.Remove("todo")
	s.Remove("extensionmanager")
	s.host.Settings = preset("")
	if got := said(t, m.Call(t.Context(), "search_available_extensions", call)); got != "No extensions available to enable.\n\n\nExtensions available to disable:\n" {
		t.Error(got)
	}
}

func TestExtensionsAreManaged(t *testing.T) {
	s, kept := managed(t, `{"none":{"enabled":true,"type":"stdio","name":"None","cmd":"there-is-none","args":[]},"skills":0,"todo":0,
		"shut":{"enabled":false,"type":"platform","name":"To do","description":"d"}}`)
	add(t, s, extension.Config{Type: "frontend", Name: "ui", Tools: []extension.Tool{}})
	manage := func(arguments, want string) {
		t.Helper()
		if got := said(t, s.Call(t.Context(), quiet("extensionmanager__manage_extensions", arguments))); got != want {
			t.Errorf("%s: %s, want %s", arguments, got, want)
		}
	}
	for _, tc := range []struct{ arguments, want string }{
		{`{}`, "Error: Missing required parameter: action"},
		{`{"action":"x"}`, "Error: Invalid argument: action"},
		{`{"action":1,"extension_name":1}`, "Error: Invalid argument: action"},
		{`{"action":"enable","extension_name":null}`, "Error: Missing required parameter: extension_name"},
		{`{"action":"disable","extension_name":1}`, "Error: Invalid argument: extension_name"},
		{`{"action":"enable","extension_name":"x"}`, "Error: Extension operation failed: Extension 'x' not found. Please check the extension name and try again."},
		{`{"action":"enable","extension_name":"NONE"}`, "Error: Extension operation failed: Command not found: there-is-none"},
		{`{"action":"enable","extension_name":"UI"}`, "Error: Extension operation failed: Extension 'UI' not found. Please check the extension name and try again."},
		{`{"action":"disable","extension_name":"U I"}`, "Error: Extension operation failed: Extension cannot be disabled: U I"},
	} {
		manage(tc.arguments, tc.want)
	}
	if got := kept(); got != "{}" {
		t.Errorf("nothing was managed, and the session has %s", got)
	}
	manage(`{"action":"enable","extension_name":"TODO"}`, "The extension 'TODO' has been installed successfully")
	manage(`{"action":"enable","extension_name":"TODO"}`, "The extension 'TODO' has been installed successfully")
	const boss = `{"type":"platform","name":"Extension Manager","description":"","bundled":null,"available_tools":[]}`
	const list = `{"type":"platform","name":"To do","description":"d","bundled":null,"available_tools":[]}`
	const ui = `{"type":"frontend","name":"ui","description":"","tools":[],"instructions":null,"bundled":null,"available_tools":[]}`
	if got, want := kept(), `{"enabled_extensions.v0":{"extensions":[`+boss+","+list+","+ui+`]}}`; got != want {
		t.Errorf("kept %s\nwant %s", got, want)
	}
	if got := said(t, s.Call(t.Context(), quiet("todo__todo_write", `{"content":"x"}`))); got != "Updated (1 chars)" {
		t.Error(got)
	}
	manage(`{"action":"disable","extension_name":"todo"}`, "The extension 'todo' has been disabled successfully")
	if got, want := kept(), `{"enabled_extensions.v0":{"extensions":[`+boss+","+ui+`]},"todo.v0":{"content":"x"}}`; got != want {
		t.Errorf("kept %s\nwant %s", got, want)
	}
	manage(`{"action":"disable","extension_name":"Extension Manager"}`, "The extension 'Extension Manager' has been disabled successfully")
	if got := written(s.Call(t.Context(), quiet("extensionmanager__manage_extensions", ""))); got != "error -32603: -32002: extensionmanager__manage_extensions" {
		t.Error(got)
	}
}

func TestWithoutASessionNothingIsStored(t *testing.T) {
	s, _ := managed(t, `{"x":0}`)
	nobody := s.connector.NewSet("nobody")
	defer nobody.Close()
	m := manager(t, nobody)
	call := quiet("", `{"action":"enable","extension_name":"todo"}`)
	if got := said(t, m.Call(t.Context(), "manage_extensions", call)); got != "The extension 'todo' has been installed successfully" {
		t.Error(got)
	}
	c := *s.connector
	c.Sessions, c.SetData = failing{}, locked
	broken := c.NewSet("x")
	defer broken.Close()
	m = manager(t, broken)
	if got := written(m.Call(t.Context(), "manage_extensions", call)); got != "error -32603: Session cannot be written" {
		t.Error(got)
	}
	if got := written(m.Call(t.Context(), "x", quiet("extensionmanager__x", ""))); got != "error -32603: -32002: extensionmanager__x" {
		t.Error(got)
	}
}

// TestConfigsAreStoredCompletely compares the configuration that the session stores with the one that a client has
// sent.
func TestConfigsAreStoredCompletely(t *testing.T) {
	s, kept := managed(t, `{"todo":{"enabled":false,"type":"platform","name":"todo","description":"d"}}`)
	const config = `{"type":"stdio","name":"T","description":"d","cmd":"CMD","args":["a"],"envs":{"A":"b"},"env_keys":["TOKEN"],"timeout":5,"bundled":false,"available_tools":["x"]}`
	c, err := decode.Text([]byte(config), extension.Decode)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.put("t", member{&frontend{}, c}); err != nil {
		t.Fatal(err)
	}
	_ = s.Call(t.Context(), quiet("extensionmanager__manage_extensions", `{"action":"enable","extension_name":"todo"}`))
	if got := kept(); !strings.Contains(got, config) {
		t.Errorf("%s does not have %s", got, config)
	}
}

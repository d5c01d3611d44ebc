package connector

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/internal/testfile"
	"github.com/lockstep-dev/lockstep/server/domain/extension"
)

// python returns a set, its directory for temporary files, and the only directory in its PATH.
func python(t *testing.T) (s *Set, temporary, commands string) {
	t.Helper()
	temporary, commands = t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", temporary)
	t.Setenv("PATH", commands)
	return newSet(t), temporary, commands
}

var inline = extension.Config{Type: "inline_python", Name: "Py", Code: "print('ä')\n", Dependencies: []string{"numpy", "x>=1"}}

func left(t *testing.T, directory string) string {
	t.Helper()
	entries, err := os.ReadDir(directory)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return strings.Join(names, " ")
}

func TestInlinePython(t *testing.T) {
	s, temporary, commands := python(t)
	self := testfile.Program(t)
	// This command records its arguments and its directory, and then becomes this test binary.
	note := filepath.Join(t.TempDir(), "note")
	script := "#!/bin/sh\n{ pwd; printf '%s\\n' \"$@\"; } > " + note + "\nexec /usr/bin/env " + role + "=server " + self + "\n"
	if err := os.WriteFile(filepath.Join(commands, "uvx"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	add(t, s, inline)
	directory := filepath.Join(temporary, left(t, temporary))
	if !strings.HasPrefix(filepath.Base(directory), "goose-") || len(filepath.Base(directory)) != len("goose-")+36 {
		t.Errorf("the directory is %s", directory)
	}
	file := filepath.Join(directory, "main.py")
	for path, want := range map[string]os.FileMode{directory: 0o700, file: 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info, err)
		}
	}
	if code, err := os.ReadFile(file); err != nil || string(code) != inline.Code {
		t.Errorf("the code: %q, %v", code, err)
	}
	noted, err := os.ReadFile(note)
	if want := s.connector.Directory + "\n--with\nmcp\n--with\nnumpy\n--with\nx>=1\npython\n" + file + "\n"; err != nil || string(noted) != want {
		t.Errorf("called with %q, %v; want %q", noted, err, want)
	}
	if got := written(s.Call(t.Context(), quiet("py__env", `{"names":["INHERITED","GOOSE_SERVER__SECRET_KEY"]}`))); got != `{"type":"text","text":"i,"}` {
		t.Errorf("its environment: %s", got)
	}
	s.Remove("py")
	if got := left(t, temporary); got != "" {
		t.Errorf("%s is left", got)
	}
}

func TestInlinePythonThatDoesNotStart(t *testing.T) {
	s, temporary, commands := python(t)
	refused := func(want string) {
		t.Helper()
		if err := s.Add(t.Context(), inline); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
		if got := left(t, temporary); got != "" {
			t.Errorf("%s: %s is left", want, got)
		}
	}
	refused("Command not found: uvx")
	if err := os.WriteFile(filepath.Join(commands, "uvx"), []byte("#!/bin/sh\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	refused("Connection closed")
	t.Setenv("TMPDIR", filepath.Join(temporary, "none"))
	refused("Temporary file cannot be written")
	t.Setenv("TMPDIR", temporary)
	broken := inline
	broken.Name = " "
	if err := s.Add(t.Context(), broken); err == nil || left(t, temporary) != "" {
		t.Errorf("%v, and there is %q", err, left(t, temporary))
	}
	if all := s.All(); len(all) > 0 {
		t.Errorf("loaded: %v", all)
	}
}

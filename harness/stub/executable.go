package stub

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// An executable is the file that a target starts instead of a program. It becomes a lockstep process that passes
// everything on to the stub.
type executable struct {
	path string
	own  string // the directory that was made for it; "" without one
}

func (s *Server) makeExecutable() (*executable, error) {
	e, dir := &executable{}, filepath.Join(s.opts.Dir, "stubs")
	if s.opts.Dir == "" {
		made, err := os.MkdirTemp("", "lockstep-stub-")
		if err != nil {
			return nil, err
		}
		e.own, dir = made, made
	}
	e.path = filepath.Join(dir, s.name)
	script := "#!/bin/sh\nexec " + quote(s.opts.Program) + " stub program --url " + quote(s.url+s.token)
	for _, name := range s.opts.Env {
		script += " --env " + quote(name)
	}
	err := os.MkdirAll(dir, 0o700)
	if err == nil {
		err = os.WriteFile(e.path, []byte(script+" -- \"$@\"\n"), 0o700)
	}
	if err != nil {
		e.remove()
		return nil, err
	}
	return e, nil
}

// remove removes what was made. What lies in a target's directory is removed with that.
func (e *executable) remove() {
	if e.own != "" {
		_ = os.RemoveAll(e.own) // a temporary directory that is left behind does no harm
	}
}

// quote quotes a word for a shell.
func quote(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }

// asStart makes the request of a started program what is recorded of it. It reports whether the request has the token
// that only the executable knows.
func (s *Server) asStart(r *transcript.Request) bool {
	if r.Target != s.token {
		return false
	}
	r.Method, r.Target = transcript.Start, s.name
	r.Header = transcript.Header{{Name: "Content-Type", Value: "application/json"}}
	return true
}

package developer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
)

// maxFile is how large a file may be (decision X17).
const maxFile = 1 << 20

// An editor changes files, and can take its changes back.
type editor struct {
	directory string

	mu     sync.Mutex // over the files, too: one change after the other
	former former
}

func newEditor(directory string) *editor { return &editor{directory: directory} }

// commands are what the editor can do to a file.
var commands = map[string]func(e *editor, f file, a arguments) (string, error){
	"view":        (*editor).view,
	"write":       (*editor).write,
	"str_replace": (*editor).replace,
	"insert":      (*editor).insert,
	"undo_edit":   (*editor).undo,
}

// A file is one that is named in a call.
type file struct {
	given string // as the model has named it
	path  string
}

func (e *editor) run(_ context.Context, a arguments) (string, error) {
	name, err := a.text("command")
	if err != nil {
		return "", err
	}
	command, known := commands[name]
	if !known {
		return "", invalid("command")
	}
	f := file{}
	if f.given, err = a.text("path"); err != nil {
		return "", err
	}
	if f.path = filepath.Clean(f.given); !filepath.IsAbs(f.path) {
		f.path = filepath.Join(e.directory, f.path)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return command(e, f, a)
}

// content returns what is in a file. It is nil, without an error, if there is no such file.
func (f file) content() ([]byte, error) {
	info, err := os.Stat(f.path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return nil, nil
	case err != nil:
		return nil, fault("Cannot read " + f.given)
	case !info.Mode().IsRegular():
		return nil, fault("Not a file: " + f.given)
	case info.Size() > maxFile:
		return nil, f.tooLarge()
	}
	content, err := os.ReadFile(f.path)
	if err != nil {
		return nil, fault("Cannot read " + f.given)
	}
	return append([]byte{}, content...), nil
}

func (f file) tooLarge() error { return fault("File is too large: " + f.given) }

// existing returns what is in a file that must be there.
func (f file) existing() ([]byte, error) {
	content, err := f.content()
	if err == nil && content == nil {
		return nil, fault("No such file: " + f.given)
	}
	return content, err
}

// save replaces the content of a file, and remembers the old one.
func (e *editor) save(f file, old, content []byte) error {
	if len(content) > maxFile {
		return f.tooLarge()
	}
	if err := os.WriteFile(f.path, content, 0o644); err != nil {
		return fault("Cannot write " + f.given)
	}
	e.former.push(f.path, old)
	return nil
}

func (e *editor) write(f file, a arguments) (string, error) {
	text, err := a.text("file_text")
	if err != nil {
		return "", err
	}
	old, err := f.content()
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(f.path), 0o755); err != nil {
		return "", fault("Cannot write " + f.given)
	}
	return "Wrote " + f.given, e.save(f, old, []byte(text))
}

func (e *editor) replace(f file, a arguments) (string, error) {
	from, err := a.text("old_str")
	if err != nil {
		return "", err
	}
	if from == "" {
		return "", invalid("old_str")
	}
	to, err := a.text("new_str")
	if err != nil {
		return "", err
	}
	old, err := f.existing()
	if err != nil {
		return "", err
	}
	switch n := bytes.Count(old, []byte(from)); n {
	case 0:
		return "", fault("No such text in " + f.given)
	case 1:
		return "Changed " + f.given, e.save(f, old, bytes.Replace(old, []byte(from), []byte(to), 1))
	default:
		return "", fault(fmt.Sprintf("%d such texts in %s, there must be one", n, f.given))
	}
}

func (e *editor) insert(f file, a arguments) (string, error) {
	if _, err := a.need("insert_line", "number"); err != nil {
		return "", err
	}
	text, err := a.text("new_str")
	if err != nil {
		return "", err
	}
	old, err := f.existing()
	if err != nil {
		return "", err
	}
	lines := strings.SplitAfter(string(old), "\n")
	if last := len(lines) - 1; lines[last] == "" {
		lines = lines[:last]
	}
	line, err := a.integer("insert_line", 0, len(lines))
	if err != nil {
		return "", err
	}
	before, after := strings.Join(lines[:line], ""), strings.Join(lines[line:], "")
	if before != "" {
		before = ended(before)
	}
	return "Changed " + f.given, e.save(f, old, []byte(before+ended(text)+after))
}

// ended returns a text with a line feed at its end.
func ended(text string) string { return strings.TrimSuffix(text, "\n") + "\n" }

func (e *editor) undo(f file, _ arguments) (string, error) {
	old, ok := e.former.last(f.path)
	if !ok {
		return "", fault("Nothing to undo in " + f.given)
	}
	var err error
	if old == nil {
		err = os.Remove(f.path)
	} else {
		err = os.WriteFile(f.path, old, 0o644)
	}
	if err != nil && !(old == nil && errors.Is(err, fs.ErrNotExist)) {
		return "", fault("Cannot write " + f.given)
	}
	e.former.pop(f.path)
	return "Undid the last change of " + f.given, nil
}

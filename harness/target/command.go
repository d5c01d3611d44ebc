package target

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A command is a Spec's command after all expressions and paths have been resolved.
type command struct {
	path string // the executable; relative to dir unless absolute
	argv []string
	dir  string
	env  []string
	stop Stop
	log  int // how many lines to keep
	// program gets the output of a program, see process.program.
	program *handover
}

// values returns the values of the expressions in a spec.
func (s Spec) values(port int, directory string) map[string]string {
	values := map[string]string{"host": loopback, "port": strconv.Itoa(port), "directory": directory}
	maps.Copy(values, s.Values)
	return values
}

func (s Spec) command(values map[string]string, environ []string) (command, error) {
	c := command{dir: fill(s.Dir, values), stop: s.Stop, log: s.LogLines}
	for _, arg := range s.Command {
		c.argv = append(c.argv, fill(arg, values))
	}
	env := inherited(environ, s.Inherit)
	for name, value := range s.Env {
		env[name] = fill(value, values)
	}
	path := env["PATH"]
	for name, value := range s.Over {
		env[name] = fill(value, values)
	}
	for _, name := range slices.Sorted(maps.Keys(env)) {
		c.env = append(c.env, name+"="+env[name])
	}
	if err := checkDirectory(c.dir); err != nil {
		return command{}, err
	}
	var err error
	c.path, err = lookUp(c.argv[0], path)
	return c, err
}

// checkDirectory reports why a process cannot start in a directory. After a fork, a failed chdir and a missing
// executable are the same error.
func checkDirectory(dir string) error {
	if dir == "" {
		return nil
	}
	if info, err := os.Stat(dir); err != nil {
		return fmt.Errorf("directory %q: %w", dir, withoutPath(err))
	} else if !info.IsDir() {
		return fmt.Errorf("directory %q is not a directory", dir)
	}
	return nil
}

// lookUp finds an executable by its name in the target's PATH, which can differ from the harness's. It ignores entries
// that are not absolute, because they depend on the working directory.
func lookUp(name, path string) (string, error) {
	if strings.ContainsRune(name, filepath.Separator) {
		return name, nil
	}
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		file := filepath.Join(dir, name)
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return file, nil
		}
	}
	if path == "" {
		return "", fmt.Errorf("command %q: not found: PATH is empty", name)
	}
	return "", fmt.Errorf("command %q: not found in PATH", name)
}

// Find reports why Start would not find the command. It returns nil when Start would find it, or when the spec has a
// URL.
func (s Spec) Find(environ []string) error {
	if len(s.Command) == 0 {
		return nil
	}
	if len(namesIn(s.Dir)) > 0 {
		if strings.ContainsRune(s.Command[0], filepath.Separator) && !filepath.IsAbs(s.Command[0]) {
			return nil // the command is in a directory that does not exist yet
		}
		s.Dir = ""
	}
	c, err := s.command(s.values(0, ""), environ)
	if err != nil {
		return err
	}
	if _, err := os.Stat(c.file()); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("command %q: there is no %s", c.argv[0], c.file())
	}
	return nil // Start finds all other mistakes
}

// file returns the path of the executable as seen from the harness.
func (c command) file() string {
	if filepath.IsAbs(c.path) {
		return c.path
	}
	return filepath.Join(c.dir, c.path)
}

// execFailed says why the command could not be executed.
func (c command) execFailed(err error) error {
	file := c.file()
	if errors.Is(err, fs.ErrNotExist) {
		if _, statErr := os.Stat(file); statErr == nil {
			return fmt.Errorf("command %q: the interpreter that %q names does not exist", c.argv[0], file)
		}
	}
	return fmt.Errorf("command %q: execute %q: %w", c.argv[0], file, withoutPath(err))
}

// withoutPath returns the cause of an error without the operation and the path, because the message around it has them.
func withoutPath(err error) error {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		return path.Err
	}
	return err
}

// passed are the variables of the harness that every target inherits: for programs, home, temporary files and language.
var passed = []string{"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "TZ", "LANG", "LANGUAGE"}

// inherited returns the part of the harness's environment that a target inherits.
func inherited(environ, more []string) map[string]string {
	env := map[string]string{}
	for _, setting := range environ {
		name, value, ok := strings.Cut(setting, "=")
		if ok && (slices.Contains(passed, name) || strings.HasPrefix(name, "LC_") || slices.Contains(more, name)) {
			env[name] = value
		}
	}
	return env
}

// placeholder is an expression in a text, with the name inside.
var placeholder = regexp.MustCompile(`(?s)\$\{\{(.*?)\}\}`)

// Names are the names that may be used between ${{ and }} in a command, its environment, its working directory and its
// files.
var Names = []string{"directory", "host", "port"}

// An UnknownError reports a name between ${{ and }} that is not one of Names.
type UnknownError struct {
	Expression, Name string
	Program          bool // the text belongs to a program, which has no port
	more             []string
}

func (e *UnknownError) Error() string {
	known := "${{ port }}, ${{ host }} and ${{ directory }}"
	if e.Program {
		known = "${{ directory }}"
	}
	for _, name := range slices.Sorted(slices.Values(e.more)) {
		known += ", ${{ " + name + " }}"
	}
	return e.Expression + " is unknown; there are " + known
}

// Placeholders returns the names between ${{ and }} in text. The error is an UnknownError when a name is neither in
// Names nor in more. An expression that is not closed is an error too.
func Placeholders(text string, more ...string) (names []string, err error) {
	rest := text
	for _, found := range placeholder.FindAllStringSubmatch(text, -1) {
		name := strings.TrimSpace(found[1])
		if !slices.Contains(Names, name) && !slices.Contains(more, name) {
			return names, &UnknownError{Expression: found[0], Name: name, more: more}
		}
		names = append(names, name)
		_, rest, _ = strings.Cut(rest, found[0])
	}
	if i := strings.Index(rest, "${{"); i >= 0 {
		return names, fmt.Errorf("%q is not closed by }}", rest[i:])
	}
	return names, nil
}

// namesIn returns the names between ${{ and }} in text, known or not.
func namesIn(text string) (names []string) {
	for _, found := range placeholder.FindAllStringSubmatch(text, -1) {
		names = append(names, strings.TrimSpace(found[1]))
	}
	return names
}

// fill replaces the placeholders in text by values. Validate has checked the placeholders before.
func fill(text string, values map[string]string) string {
	return placeholder.ReplaceAllStringFunc(text, func(p string) string {
		return values[strings.TrimSpace(p[len("${{"):len(p)-len("}}")])]
	})
}

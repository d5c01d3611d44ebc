package target

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A command is a Spec's command with everything decided: what the kernel gets.
type command struct {
	path string // of the executable; relative to dir unless absolute
	argv []string
	dir  string
	env  []string
	stop Stop
	log  int // lines to keep
}

// values are what stands for the expressions of a spec when the target is to listen on port.
func (s Spec) values(port int, directory string) map[string]string {
	values := map[string]string{"host": loopback, "port": strconv.Itoa(port), "directory": directory}
	maps.Copy(values, s.Values)
	return values
}

// command decides what to execute.
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
	if c.dir != "" {
		// A failed chdir and a missing executable are one and the same error after a fork.
		if info, err := os.Stat(c.dir); err != nil {
			return command{}, fmt.Errorf("directory %q: %w", c.dir, bare(err))
		} else if !info.IsDir() {
			return command{}, fmt.Errorf("directory %q is not a directory", c.dir)
		}
	}
	var err error
	c.path, err = lookUp(c.argv[0], path)
	return c, err
}

// lookUp returns the executable that name stands for. The PATH is the target's, which need not be the harness's;
// entries that are not absolute are passed over, for they would mean another file in every directory.
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

// Find reports why the command cannot be there for Start, which looks for it in the same environment; nil when it is
// there, or when the spec is that of a server that runs.
func (s Spec) Find(environ []string) error {
	if len(s.Command) == 0 {
		return nil
	}
	if len(namesIn(s.Dir)) > 0 {
		if strings.ContainsRune(s.Command[0], filepath.Separator) && !filepath.IsAbs(s.Command[0]) {
			return nil // it is below a directory that is not there yet
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
	return nil // what else may be wrong with it shows when it is started
}

// file returns where the executable is, as seen from the harness.
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
	return fmt.Errorf("command %q: execute %q: %w", c.argv[0], file, bare(err))
}

// bare is what went wrong, without the operation and the path that the message around it has said already.
func bare(err error) error {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		return path.Err
	}
	return err
}

// passed are the variables of the harness that every target gets: to find programs, to have a home and a place for
// temporary files, and to speak the same language.
var passed = []string{"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "TZ", "LANG", "LANGUAGE"}

// inherited picks what a target gets of the harness's environment.
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

const (
	opening = "${{"
	closing = "}}"
)

// Names are what may stand between ${{ and }} in a command, its environment, its working directory and its files.
var Names = []string{"directory", "host", "port"}

// An UnknownError is a name between ${{ and }} that is none of Names.
type UnknownError struct {
	Expression, Name string
	more             []string
}

func (e *UnknownError) Error() string {
	there := "${{ port }}, ${{ host }} and ${{ directory }}"
	for _, name := range slices.Sorted(slices.Values(e.more)) {
		there += ", ${{ " + name + " }}"
	}
	return e.Expression + " is unknown; there are " + there
}

// Placeholders returns the names between ${{ and }} in text, and an error for one that is neither of Names nor of more: an
// UnknownError, or that one is not closed.
func Placeholders(text string, more ...string) (names []string, err error) {
	for {
		_, rest, found := strings.Cut(text, opening)
		if !found {
			return names, nil
		}
		inside, after, closed := strings.Cut(rest, closing)
		if !closed {
			return names, fmt.Errorf("%q is not closed by %s", opening+rest, closing)
		}
		name := strings.TrimSpace(inside)
		if !slices.Contains(Names, name) && !slices.Contains(more, name) {
			return names, &UnknownError{opening + inside + closing, name, more}
		}
		names = append(names, name)
		text = after
	}
}

// namesIn returns the names between ${{ and }} in text, whatever they mean.
func namesIn(text string) (names []string) {
	for {
		_, rest, found := strings.Cut(text, opening)
		if !found {
			return names
		}
		inside, after, _ := strings.Cut(rest, closing)
		names, text = append(names, strings.TrimSpace(inside)), after
	}
}

// fill puts values in the place of the placeholders in text, which Validate has looked at.
func fill(text string, values map[string]string) string {
	var filled strings.Builder
	for {
		before, rest, found := strings.Cut(text, opening)
		filled.WriteString(before)
		if !found {
			return filled.String()
		}
		inside, after, _ := strings.Cut(rest, closing)
		filled.WriteString(values[strings.TrimSpace(inside)])
		text = after
	}
}

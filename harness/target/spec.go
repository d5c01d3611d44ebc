package target

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"
)

// A Spec describes a target: a command to start, or the URL of a server that already runs.
type Spec struct {
	Name string // name in reports; required

	// Program means that the command is a program that talks over standard input and output, see [StartProgram]. It has
	// no port and no address, and Ready must be empty.
	Program bool

	// URL is the address of a server that already runs: http or https, with a path if all its operations are under one.
	// Then nothing is started or stopped, and the fields about processes must be empty. Readiness is checked all the
	// same.
	URL string

	// Command is the argument vector, run without a shell. These expressions can be used in an argument and in a value
	// of Env: "${{ port }}" is the free port to listen on, "${{ host }}" the address, 127.0.0.1, and "${{ directory }}"
	// the target's Directory. The port of a server must occur in one of them, or in a file. A name without a slash is looked up in
	// the PATH that the target itself gets, without Over. "./agentd" is relative to Dir.
	Command []string
	// Dir is the working directory, in which "${{ directory }}" may occur. Default: that of the harness.
	Dir string
	// Files are written into the target's Directory before it starts.
	Files []File
	// Env is set in the target's environment and replaces inherited variables.
	Env map[string]string
	// Over replaces variables of Env. The command is looked up without it: with another PATH, the server finds other
	// programs, but it is the same server.
	Over map[string]string
	// Inherit names variables of the harness that the target gets in addition to the usual ones: PATH, HOME, USER,
	// LOGNAME, SHELL, TMPDIR, TZ, LANG, LANGUAGE and LC_*. A target gets nothing else of the harness's environment. A
	// key that is set on only one machine could show up in a log, and cause differences that are hard to explain.
	Inherit []string
	// Values are further names between ${{ and }}, such as the addresses of servers that the target calls.
	Values map[string]string

	Ready    Ready
	Stop     Stop
	LogLines int // how many of the last lines are kept. Default: 200
}

// Ready says when a target counts as ready.
type Ready struct {
	Path   string        // the path to GET; may have a query. Default: "/status"
	Status int           // the expected status. Default: any 2xx
	Within time.Duration // limit for the whole start. Default: 30 s, for busy machines
	Probe  time.Duration // limit for one request. Default: 2 s
	// AnyOwner accepts responses of processes that the target has not started, such as one that publishes the port of a
	// container, or a service manager. Default: only the target's own processes count, if the system can tell.
	AnyOwner bool
	// Place is where a file describes all this, for errors: "lockstep.yaml:7". It may be empty.
	Place string
}

// Stop has the limits for stopping a target.
type Stop struct {
	Grace time.Duration // time between SIGTERM and SIGKILL. Default: 5 s
	Kill  time.Duration // time for killed processes to disappear. Default: 5 s; the kernel needs milliseconds
}

// withDefaults returns a copy with every default filled in.
func (s Spec) withDefaults() Spec {
	s.Ready.Path = cmp.Or(s.Ready.Path, "/status")
	s.Ready.Within = cmp.Or(s.Ready.Within, 30*time.Second)
	s.Ready.Probe = cmp.Or(s.Ready.Probe, 2*time.Second)
	s.Stop.Grace = cmp.Or(s.Stop.Grace, 5*time.Second)
	s.Stop.Kill = cmp.Or(s.Stop.Kill, 5*time.Second)
	s.LogLines = cmp.Or(s.LogLines, 200)
	return s
}

// UsesDirectory reports whether the target needs a Directory to start.
func (s Spec) UsesDirectory() bool {
	return len(s.Files) > 0 || slices.Contains(s.Names(), "directory")
}

// Names returns the names between ${{ and }} in all texts of the spec, in any order.
func (s Spec) Names() (names []string) {
	texts := append([]string{s.Dir}, s.Command...)
	texts = slices.AppendSeq(texts, maps.Values(s.Env))
	texts = slices.AppendSeq(texts, maps.Values(s.Over))
	for _, f := range s.Files {
		if f.Text {
			texts = append(texts, string(f.Data))
		}
	}
	for _, text := range texts {
		names = append(names, namesIn(text)...)
	}
	return names
}

// ErrNoPort is returned by Validate when no part of a command contains the port.
var ErrNoPort = errors.New("no argument, env value or file contains ${{ port }}, so the server cannot know where to listen")

// ErrPort is returned by Validate when a program has the port or the address of a server.
var ErrPort = errors.New("it uses ${{ port }} or ${{ host }}, but a program has neither: it talks over standard input and output")

// Validate returns all mistakes in the spec, joined. The times must not be negative. It does not look at the
// machine: Start finds out whether the command exists. Start calls Validate.
func (s Spec) Validate() error {
	var mistakes []error
	mistake := func(format string, args ...any) {
		mistakes = append(mistakes, fmt.Errorf(format, args...))
	}
	if s.Name == "" {
		mistake("it has no name")
	}
	switch {
	case s.URL != "" && len(s.Command) > 0:
		mistake("it has a command and a URL: give the command that starts a server, or the URL of a running one")
	case s.URL != "":
		mistakes = append(mistakes, s.validateURL()...)
	case len(s.Command) > 0:
		mistakes = append(mistakes, s.validateCommand()...)
	default:
		mistake("it has neither a command nor a URL")
	}
	if s.Program && (s.URL != "" || s.Ready != Ready{}) {
		mistake("it is a program: it has a command, and is never ready")
	}
	if p := s.Ready.Path; p != "" {
		if _, err := url.ParseRequestURI(p); err != nil || !strings.HasPrefix(p, "/") {
			mistake("ready path %q is not a path such as %q", p, "/status")
		}
	}
	if c := s.Ready.Status; c != 0 && (c < 200 || c > 599) {
		mistake("ready status %d is not a final HTTP status", c)
	}
	return errors.Join(mistakes...)
}

func (s Spec) validateURL() (mistakes []error) {
	u, err := url.Parse(s.URL)
	switch {
	case err != nil:
		mistakes = append(mistakes, fmt.Errorf("url: %w", err))
	case u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		mistakes = append(mistakes, fmt.Errorf("url %q is not of the form http://host:port", s.URL))
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		mistakes = append(mistakes, fmt.Errorf("url %q may only have a host and a path", u.Redacted()))
	}
	if s.Dir != "" || len(s.Files) > 0 || len(s.Env) > 0 || len(s.Over) > 0 || len(s.Inherit) > 0 || s.Stop != (Stop{}) || s.LogLines != 0 {
		mistakes = append(mistakes, errors.New("directory, files, environment, stop and log are only allowed for a server that lockstep starts, not for a URL"))
	}
	return mistakes
}

func (s Spec) validateCommand() (mistakes []error) {
	check := func(what, text string) {
		if strings.ContainsRune(text, 0) {
			mistakes = append(mistakes, fmt.Errorf("%s has a NUL byte", what))
		}
		if _, err := Placeholders(text, slices.Collect(maps.Keys(s.Values))...); err != nil {
			mistakes = append(mistakes, fmt.Errorf("%s: %w", what, err))
		}
	}
	if s.Command[0] == "" {
		mistakes = append(mistakes, errors.New("the name of its command is empty"))
	}
	for i, arg := range s.Command {
		check(fmt.Sprintf("command[%d]", i), arg)
	}
	for _, env := range []map[string]string{s.Env, s.Over} {
		for _, name := range slices.Sorted(maps.Keys(env)) {
			if name == "" || strings.ContainsAny(name, "=\x00") {
				mistakes = append(mistakes, fmt.Errorf("env: %q is not the name of a variable", name))
			}
			check("env "+name, env[name])
		}
	}
	if names, err := Placeholders(s.Dir); err != nil {
		mistakes = append(mistakes, fmt.Errorf("dir: %w", err))
	} else if slices.Contains(names, "port") {
		mistakes = append(mistakes, errors.New("dir: a working directory cannot contain the port"))
	}
	mistakes = append(mistakes, checkFiles(s.Files, slices.Collect(maps.Keys(s.Values))...)...)
	s.Dir = ""
	names := s.Names()
	switch {
	case s.Program && (slices.Contains(names, "port") || slices.Contains(names, "host")):
		mistakes = append(mistakes, ErrPort)
	case !s.Program && !slices.Contains(names, "port"):
		mistakes = append(mistakes, ErrNoPort)
	}
	return mistakes
}

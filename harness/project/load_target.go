package project

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/target"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/problem"
	"github.com/lockstep-dev/lockstep/internal/regular"
	"github.com/lockstep-dev/lockstep/internal/yamldoc"
)

type targetLoader struct {
	*reader
	p    *Project
	root *yamldoc.Node

	kind      kind   // of the target that is being read
	first     string // the first target
	firstKind kind
}

func (l *targetLoader) load() {
	var names []string
	for k, n := range l.root.Get("targets").Entries() {
		names = append(names, k.Text)
		unique := l.findKind(k, n)
		t := l.target(k, n)
		for v, h := range n.Get("headers").Entries() {
			l.checkVariables(h)
			t.Header = append(t.Header, transcript.Field{Name: v.Text, Value: h.Text})
		}
		if unique {
			l.validate(k, n, &t.Spec)
		}
		l.p.Targets = append(l.p.Targets, t)
	}
	if !slices.Contains(names, l.p.Reference) {
		l.problem(l.root.Get("reference"), fmt.Sprintf("reference %q is not a target", l.p.Reference), problem.OneOf(l.p.Reference, names))
	}
}

func (l *targetLoader) target(k, n *yamldoc.Node) Target {
	t := Target{Driver: l.kind.key == "driver", Spec: target.Spec{
		Name: k.Text, Program: l.kind.program, URL: n.Get("url").Str(), Values: l.p.placeholderValues(),
		Stop: target.Stop{Grace: l.duration(n.Get("stop"))},
	}}
	if !t.Spec.Program {
		t.Spec.Ready = l.ready(n)
	}
	if t.Spec.URL == "" || n.Get("dir") != nil {
		t.Spec.Dir = l.workingDir(n.Get("dir"))
	}
	t.Spec.Files = l.files(n)
	l.p.targetSettings[k.Text] = settingsOfTarget(k.Text, n, t.Spec.Files)
	if l.kind.key != "url" {
		for i, item := range n.Get(l.kind.key).Elements() {
			t.Spec.Command = append(t.Spec.Command, l.placeholderText(item))
			if i == 0 {
				t.Line, t.Column = item.Line, item.Column
			}
		}
	}
	l.makeProgramAbsolute(&t.Spec)
	t.Watch = l.patterns(n.Get("watch"))
	l.p.declaresCapabilities = l.p.declaresCapabilities || n.Get("capabilities") != nil
	for _, item := range n.Get("capabilities").Elements() {
		t.Capabilities = append(t.Capabilities, item.Text)
	}
	for _, item := range n.Get("inherit").Elements() {
		t.Spec.Inherit = append(t.Spec.Inherit, item.Text)
	}
	for name, v := range n.Get("env").Entries() {
		if t.Spec.Env == nil {
			t.Spec.Env = map[string]string{}
		}
		t.Spec.Env[name.Text] = l.placeholderText(v)
	}
	if file := n.Get("version").Get("file").Str(); file != "" {
		t.VersionFile = l.path(file)
	}
	t.VersionText = n.Get("version").Get("text").Str()
	return t
}

func (l *targetLoader) ready(n *yamldoc.Node) target.Ready {
	r := n.Get("ready")
	return target.Ready{
		Path: r.Get("get").Str(), Status: l.integer(r.Get("status")), Within: l.duration(r.Get("within")), AnyOwner: r.Get("owner").Str() == "any",
		Place: fmt.Sprintf("%s:%d", filepath.Base(l.reader.file), cmp.Or(r, n).Line),
	}
}

// placeholderText returns a text of a command or its environment. If the text has an unknown name, it reports that. It then
// returns a text without mistakes, so that nothing else is reported: for a server, one with its port.
func (l *targetLoader) placeholderText(n *yamldoc.Node) string {
	if l.placeholders(n) {
		return n.Text
	}
	if l.kind.program {
		return "${{ directory }}"
	}
	return "${{ port }}"
}

// placeholders reports whether all expressions of a text are known, and reports a mistake otherwise.
func (l *targetLoader) placeholders(n *yamldoc.Node) bool {
	names := slices.Collect(maps.Keys(l.p.placeholderValues()))
	used, err := target.Placeholders(n.Text, names...)
	if err == nil {
		return l.checkPort(n, used)
	}
	known, fix := target.Names, "write ${{ port }}, ${{ host }} or ${{ directory }}"
	if l.kind.program {
		known, fix = []string{"directory"}, "write ${{ directory }}"
	}
	if unknown, ok := errors.AsType[*target.UnknownError](err); ok {
		unknown.Program = l.kind.program
		fix = cmp.Or(problem.DidYouMean(unknown.Name, append(names, known...)), fix)
		if variable, ok := strings.CutPrefix(unknown.Name, EnvPrefix); ok {
			fix = fmt.Sprintf("add %s to secrets: {env: […]}, so that no report shows its value; or pass the variable to the target with inherit: [%[1]s]", variable)
		}
	}
	l.problem(n, err.Error(), fix)
	return false
}

// validate reports mistakes that would keep the target from starting or being reached.
func (l *targetLoader) validate(k, n *yamldoc.Node, spec *target.Spec) {
	err := spec.Validate()
	if err == nil {
		return
	}
	for mistake := range strings.Lines(err.Error()) { // a joined error has a line for each mistake
		mistake = strings.TrimSpace(mistake)
		if mistake == target.ErrNoPort.Error() {
			l.problem(n.Get("command"), fmt.Sprintf("target %q: %s", k.Text, mistake), "use ${{ port }}, or write url: for a running server")
			continue
		}
		l.problem(k, fmt.Sprintf("target %q: %s", k.Text, mistake), "docs/project.md has an example of each key")
	}
}

// checkVariables checks the variables in a target's header field.
func (l *targetLoader) checkVariables(n *yamldoc.Node) {
	_, err := expandVariables(n.Text, func(name string) (string, error) {
		if !slices.Contains(l.p.Secrets.Env, name) {
			return "", fmt.Errorf("the variable %s is not listed under secrets in this file", name)
		}
		return "", nil
	})
	if err != nil {
		l.problem(n, err.Error(), "add it to secrets: {env: […]}, so that no report shows its value, and write ${{ env.NAME }}; "+problem.OneOf("", l.p.Secrets.Env))
	}
}

// maxFile limits a file that is written into a target's directory, because it is in memory as long as the project is.
const maxFile = 16 << 20

// files returns the files for the directory of a target that lockstep starts: the target's own, and those of the
// project with other paths.
func (l *targetLoader) files(n *yamldoc.Node) []target.File {
	var out []target.File
	own := map[string]bool{}
	for k, v := range n.Get("files").Entries() {
		own[k.Text] = true
		out = l.file(out, k, v)
	}
	if n.Get("url") != nil {
		return out
	}
	for k, v := range l.root.Get("files").Entries() {
		if !own[k.Text] {
			out = l.file(out, k, v)
		}
	}
	return out
}

// file appends a file, or reports why it cannot be used.
func (l *targetLoader) file(out []target.File, k, v *yamldoc.Node) []target.File {
	f := target.File{Path: k.Text}
	if err := f.CheckPath(); err != nil {
		l.problemOnce(k, err.Error(), "write a path below the directory, with slashes and without ..")
		return out
	}
	if text := v.Get("text"); text != nil {
		if !l.placeholders(text) {
			return out
		}
		f.Data, f.Text = []byte(text.Text), true
		return append(out, f)
	}
	info, err := os.Stat(l.path(v.Text))
	switch {
	case err == nil && !info.Mode().IsRegular():
		l.problemOnce(v, v.Text+" is not a regular file", "name each file separately")
		return out
	case err == nil && info.Size() > maxFile:
		l.problemOnce(v, fmt.Sprintf("%s has %d bytes", v.Text, info.Size()), fmt.Sprintf("name a file of at most %d MiB", maxFile>>20))
		return out
	case err == nil:
		f.Data, err = regular.Read(l.path(v.Text))
		if !slices.Contains(l.p.addedFiles, l.path(v.Text)) {
			l.p.addedFiles = append(l.p.addedFiles, l.path(v.Text))
		}
	}
	if err != nil {
		l.problemOnce(v, err.Error(), "name a file, relative to this one, or give its text: {text: …}")
		return out
	}
	return append(out, f)
}

// workingDir returns the target's working directory.
func (l *targetLoader) workingDir(n *yamldoc.Node) string {
	dir := n.Str()
	if !strings.Contains(dir, "${{") {
		return l.path(dir)
	}
	l.placeholders(n)
	if !strings.HasPrefix(dir, "${{") {
		l.problem(n, fmt.Sprintf("dir is %q", dir), "begin it with ${{ directory }}, or write a folder relative to this file")
	}
	return dir
}

// makeProgramAbsolute makes the path of a program absolute when the target has its own working directory. That
// directory contains no program, and all paths in lockstep.yaml are relative to its folder.
func (l *targetLoader) makeProgramAbsolute(spec *target.Spec) {
	if !strings.Contains(spec.Dir, "${{") || len(spec.Command) == 0 || !strings.ContainsRune(spec.Command[0], filepath.Separator) {
		return
	}
	if abs, err := filepath.Abs(l.path(spec.Command[0])); err == nil && !strings.Contains(spec.Command[0], "${{") {
		spec.Command[0] = abs
	}
}

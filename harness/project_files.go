package harness

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/target"
	"github.com/lockstep-dev/lockstep/internal/regular"
	"github.com/lockstep-dev/lockstep/internal/yamldoc"
)

// maxFile bounds a file that is put into a target's directory: it is kept for as long as the project is.
const maxFile = 16 << 20

// files are what is put into the directory of a target that is started: the target's own, and those of the project that
// it does not have itself.
func (l *loader) files(n, root *yamldoc.Node) []target.File {
	var out []target.File
	own := map[string]bool{}
	for k, v := range n.Get("files").Entries() {
		own[k.Text] = true
		out = l.file(out, k, v)
	}
	if n.Get("url") != nil {
		return out
	}
	for k, v := range root.Get("files").Entries() {
		if !own[k.Text] {
			out = l.file(out, k, v)
		}
	}
	return out
}

// file appends a file, or reports why it cannot be put there.
func (l *loader) file(out []target.File, k, v *yamldoc.Node) []target.File {
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
		l.problemOnce(v, v.Text+" is no file", "name each file by itself")
		return out
	case err == nil && info.Size() > maxFile:
		l.problemOnce(v, fmt.Sprintf("%s has %d bytes", v.Text, info.Size()), fmt.Sprintf("name a file of %d MiB at most", maxFile>>20))
		return out
	case err == nil:
		f.Data, err = regular.Read(l.path(v.Text))
		if !slices.Contains(l.p.files, l.path(v.Text)) {
			l.p.files = append(l.p.files, l.path(v.Text))
		}
	}
	if err != nil {
		l.problemOnce(v, err.Error(), "name a file, relative to this one, or give its text: {text: …}")
		return out
	}
	return append(out, f)
}

// problemOnce reports a mistake of the project's own files, which every target would report.
func (l *loader) problemOnce(n *yamldoc.Node, what, fix string) {
	for _, p := range l.problems {
		if p.Line == n.Line && p.Column == n.Column && p.What == what {
			return
		}
	}
	l.problem(n, what, fix)
}

// workingDir returns the directory that a target works in.
func (l *loader) workingDir(n *yamldoc.Node) string {
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

// anchor makes a program that is named by a path one that is found from anywhere, when the target works in a directory of
// its own: nothing is in there to be executed, and it counts from the folder of lockstep.yaml as all paths do.
func (l *loader) anchor(spec *target.Spec) {
	if !strings.Contains(spec.Dir, "${{") || len(spec.Command) == 0 || !strings.ContainsRune(spec.Command[0], filepath.Separator) {
		return
	}
	if abs, err := filepath.Abs(l.path(spec.Command[0])); err == nil && !strings.Contains(spec.Command[0], "${{") {
		spec.Command[0] = abs
	}
}

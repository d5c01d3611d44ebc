package scenario

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/lockstep-dev/lockstep/internal/yamldoc"
)

// A fragment is a list of steps that several scenarios use. It has been checked on its own.
type fragment struct {
	File
	parameters *yamldoc.Node
	steps      *yamldoc.Node
	captures   map[string]bool
}

// A library has the fragments in a folder. It reads each fragment when a scenario first uses it. It does not change
// after all scenarios have been read.
type library struct {
	root      string
	fragments map[string]*fragment // nil for a file that has mistakes or is not a fragment
}

func newLibrary(root string) *library { return &library{root, map[string]*fragment{}} }

// get returns a fragment. It returns nil and true if its file has mistakes, which are reported for that file.
func (l *library) get(name string) (f *fragment, exists bool) {
	if l == nil {
		return nil, false
	}
	f, known := l.fragments[name]
	if known {
		return f, true
	}
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return nil, false
	}
	file := filepath.Join(l.root, filepath.FromSlash(name)+".yaml")
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, false
	}
	root, problems := yamldoc.Parse(file, data)
	if len(problems) == 0 && root.Get("fragment") == nil {
		return nil, false // the file is a scenario
	}
	if len(problems) == 0 {
		f, _ = parseFragment(file, name, root, data)
	}
	l.fragments[name] = f
	return f, true
}

// names returns the names of all fragments, for a message.
func (l *library) names() (out []string) {
	if l == nil {
		return nil
	}
	_ = filepath.WalkDir(l.root, func(file string, _ os.DirEntry, err error) error {
		if name, ok := strings.CutSuffix(file, ".yaml"); ok && err == nil {
			name, _ = filepath.Rel(l.root, name)
			if f, _ := l.get(filepath.ToSlash(name)); f != nil {
				out = append(out, filepath.ToSlash(name))
			}
		}
		return nil
	})
	return out
}

// parseFragment checks a fragment on its own: its shape, its syntax, and that it uses only names that it defines.
func parseFragment(file, id string, root *yamldoc.Node, text []byte) (*fragment, Problems) {
	f := &fragment{File: File{file, text}, parameters: root.Get("parameters"), steps: root.Get("steps"), captures: map[string]bool{}}
	d := newDecoder(file, nil)
	if name := root.Get("fragment"); name.Text != id {
		d.values.problem(name, fmt.Sprintf("the fragment is called %q", name.Text), fmt.Sprintf("call it %q like its file, or move the file", id))
	}
	s := newScope()
	for k := range f.parameters.Entries() {
		s.values[k.Text] = true
	}
	d.names.checkSteps(f.steps, s, true) // the scenario decides whether its targets are its own
	d.names.checkJoined(f.steps, finishedNames(f.steps))
	for k := range f.parameters.Entries() {
		if !d.names.named[k.Text] {
			d.values.problem(k, fmt.Sprintf("no step uses the parameter %s", k.Text), fmt.Sprintf("write ${{ %s }} where its value is needed, or remove it", k.Text))
		}
	}
	if problems := fragmentSchema().Check(file, root); len(problems) > 0 {
		return nil, append(problems, d.values.problems...).Sort()
	}
	for k, p := range f.parameters.Entries() {
		if value := p.Get("default"); value != nil {
			d.unfolder.checkType(k.Text, p.Get("type").Str(), value)
		}
	}
	d.unfolder.checkNoUse(f.steps)
	if len(d.values.problems) == 0 {
		d.step.steps("", f.steps) // only to check the syntax
	}
	if len(d.values.problems) > 0 {
		return nil, d.values.problems.Sort()
	}
	for name := range d.names.given {
		f.captures[name] = true
	}
	return f, nil
}

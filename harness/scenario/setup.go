package scenario

import (
	"encoding/json"
	"maps"

	"github.com/lockstep-dev/lockstep/internal/yamldoc"
)

// A Setup is what the targets of a fresh scenario are started with, beside what the project says of them.
type Setup struct {
	Env   []Setting // environment variables
	Files []Setting // texts of files, by their path below the directory of the target
}

// A Setting is one of them. Its Text may still name what only a target knows, as in the project's file: ${{ port }},
// ${{ directory }}. The row's values and repeated texts are in it.
type Setting struct {
	Name, Text   string
	Line, Column int // of the name
}

// targetNames are what a target itself replaces in its environment and its files.
var targetNames = []string{"directory", "host", "port"}

// checkSetup checks what the targets of a scenario are started with: that they are its own, and the names it uses. It may name the
// row's columns and repeated texts.
func (d *decoder) checkSetup(root *yamldoc.Node, named map[string]bool) {
	s := scope{values: maps.Clone(named), doings: doings{}}
	for _, name := range targetNames {
		s.values[name] = true
	}
	for _, key := range [...]string{"env", "files"} {
		k, n := root.Entry(key)
		if n == nil {
			continue
		}
		if root.Get("isolate").Str() != "fresh" {
			d.problem(k, key+" in a scenario that shares its targets", "add isolate: fresh to the scenario")
		}
		d.uses(n, s)
	}
}

// setup decodes it for a row; nil is that of a scenario without a table.
func (d *decoder) setup(root *yamldoc.Node, texts []Var, row map[string]Value) Setup {
	known := settled{}
	for _, v := range texts {
		known.add(v.Name, v.Value)
	}
	for name, v := range row {
		known.add("row."+name, v)
	}
	for _, name := range targetNames {
		delete(known, name)
	}
	return Setup{d.settings(root.Get("env"), known), d.settings(root.Get("files"), known)}
}

func (d *decoder) settings(n *yamldoc.Node, known settled) []Setting {
	var out []Setting
	for k, v := range n.Entries() {
		if text := v.Get("text"); text != nil {
			v = text
		}
		t := d.template(v)
		text, err := t.Filled(known)
		if err != nil {
			d.problem(v, err.Error(), "use no expressions in the column but repeated texts: targets start with it")
		}
		out = append(out, Setting{k.Text, text, k.Line, k.Column})
	}
	return out
}

// settled are values that need no other values of the run, by the names that expressions have for them.
type settled map[string]json.RawMessage

// Lookup returns such a value.
func (s settled) Lookup(name string) (json.RawMessage, bool) {
	raw, ok := s[name]
	return raw, ok
}

func (s settled) add(name string, v Value) {
	if raw, err := v.Resolve(s); err == nil {
		s[name] = raw
	}
}

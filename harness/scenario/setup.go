package scenario

import (
	"encoding/json"
	"maps"
	"strings"

	"github.com/lockstep-dev/lockstep/internal/yamldoc"
)

// A Setup is what the targets of a fresh scenario are started with, beside what the project says of them.
type Setup struct {
	Env   []Setting // environment variables
	Files []Setting // texts of files, by their path below the directory of the target
}

// A Setting is one of them. Its Text may still name what only a target knows, as in the project's file: ${{ port }},
// ${{ directory }}. The row's values are in it.
type Setting struct {
	Name, Text   string
	Line, Column int // of the name
}

// targetNames are what a target itself replaces in its environment and its files.
var targetNames = []string{"directory", "host", "port"}

// checkSetup checks what the targets of a scenario are started with: that they are its own, and the names it uses.
func (d *decoder) checkSetup(root *yamldoc.Node, row map[string]bool) {
	s := scope{values: maps.Clone(row), doings: doings{}}
	for _, name := range targetNames {
		s.values[name] = true
	}
	delete(s.values, "unique") // which is drawn when the targets are up
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
func (d *decoder) setup(root *yamldoc.Node, row map[string]Value) Setup {
	return Setup{d.settings(root.Get("env"), row), d.settings(root.Get("files"), row)}
}

func (d *decoder) settings(n *yamldoc.Node, row map[string]Value) []Setting {
	var out []Setting
	for k, v := range n.Entries() {
		if text := v.Get("text"); text != nil {
			v = text
		}
		t := d.template(v)
		text, err := t.Filled(columns(row))
		if err != nil {
			d.problem(v, err.Error(), "give the column a value without expressions: it is needed before anything has a value")
		}
		out = append(out, Setting{k.Text, text, k.Line, k.Column})
	}
	return out
}

// columns are the values of a row, by the names that expressions have for them.
type columns map[string]Value

// Lookup returns a column's value, if it has one without being told others.
func (c columns) Lookup(name string) (json.RawMessage, bool) {
	column, ok := strings.CutPrefix(name, "row.")
	if !ok {
		return nil, false
	}
	raw, err := c[column].Resolve(nothing{})
	return raw, err == nil
}

type nothing struct{}

func (nothing) Lookup(string) (json.RawMessage, bool) { return nil, false }

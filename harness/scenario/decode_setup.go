package scenario

import (
	"encoding/json"

	"github.com/lockstep-dev/lockstep/internal/yamldoc"
)

// setup decodes the setup for a row. row is nil for a scenario without a table.
func (d *decoder) setup(root *yamldoc.Node, texts []Var, row map[string]Value) Setup {
	known := constants{}
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

func (d *decoder) settings(n *yamldoc.Node, known constants) []Setting {
	var out []Setting
	for k, v := range n.Entries() {
		if text := v.Get("text"); text != nil {
			v = text
		}
		t := d.values.template(v)
		text, err := t.Filled(known)
		if err != nil {
			d.values.problem(v, err.Error(), "use no expressions in the column except repeated texts, because targets start with its value")
		}
		out = append(out, Setting{k.Text, text, k.Line, k.Column})
	}
	return out
}

// constants are values that do not depend on the run, by the names of their expressions.
type constants map[string]json.RawMessage

func (s constants) Lookup(name string) (json.RawMessage, bool) {
	raw, ok := s[name]
	return raw, ok
}

func (s constants) add(name string, v Value) {
	if raw, err := v.Resolve(s); err == nil {
		s[name] = raw
	}
}

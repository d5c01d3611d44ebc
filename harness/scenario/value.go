package scenario

import (
	"bytes"
	"encoding/json"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/lockstep-dev/lockstep/internal/yamldoc"
)

// A Value is JSON with expressions in it. The zero Value is unset.
type Value struct {
	kind  yamldoc.Kind
	set   bool
	plain string   // the text of a number or boolean
	str   Template // of a string
	keys  []Template
	items []Value
}

// IsSet reports whether the file has the value.
func (v Value) IsSet() bool { return v.set }

// Constant returns the text of a string value if it has no expressions.
func (v Value) Constant() (text string, ok bool) {
	if v.kind != yamldoc.String {
		return "", false
	}
	return v.str.Constant()
}

// text returns the text of a string value that has no expressions.
func (v Value) text() string {
	s, _ := v.str.Text(nil, nil)
	return s
}

// parseValue decodes a node. bad is called with each string that is not a valid template.
func parseValue(n *yamldoc.Node, bad func(*yamldoc.Node, error)) Value {
	v := Value{kind: n.Kind, set: true, plain: n.Text}
	template := func(n *yamldoc.Node) Template {
		t, err := parseTemplate(n.Text)
		if err != nil {
			bad(n, err)
		}
		return t
	}
	switch n.Kind {
	case yamldoc.String:
		v.str = template(n)
	case yamldoc.Map:
		for _, k := range n.Keys {
			v.keys = append(v.keys, template(k))
		}
	}
	for _, item := range n.Items {
		v.items = append(v.items, parseValue(item, bad))
	}
	return v
}

// Names returns the names that the value uses.
func (v Value) Names() []string {
	names := v.str.Names()
	for _, k := range v.keys {
		names = append(names, k.Names()...)
	}
	for _, item := range v.items {
		names = append(names, item.Names()...)
	}
	return names
}

// Resolve returns the JSON with its expressions replaced, in the order of the file and without white space. A string
// that is exactly one expression becomes the value itself, whatever its type.
func (v Value) Resolve(env Env) (json.RawMessage, error) {
	var b bytes.Buffer
	if err := v.write(&b, env); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func (v Value) write(b *bytes.Buffer, env Env) error {
	switch v.kind {
	case yamldoc.Null:
		b.WriteString("null")
	case yamldoc.Bool, yamldoc.Number:
		b.WriteString(v.plain)
	case yamldoc.String:
		return v.writeString(b, env)
	case yamldoc.List:
		b.WriteByte('[')
		for i, item := range v.items {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := item.write(b, env); err != nil {
				return err
			}
		}
		b.WriteByte(']')
	case yamldoc.Map:
		return v.writeMap(b, env)
	}
	return nil
}

func (v Value) writeString(b *bytes.Buffer, env Env) error {
	if name, ok := v.str.single(); ok {
		raw, ok := env.Lookup(name)
		if !ok {
			return &MissingError{name}
		}
		b.Write(raw)
		return nil
	}
	text, err := v.str.Text(env, nil)
	if err != nil {
		return err
	}
	writeJSONString(b, text)
	return nil
}

func (v Value) writeMap(b *bytes.Buffer, env Env) error {
	b.WriteByte('{')
	for i, key := range v.keys {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := key.Text(env, nil)
		if err != nil {
			return err
		}
		writeJSONString(b, name)
		b.WriteByte(':')
		if err := v.items[i].write(b, env); err != nil {
			return err
		}
	}
	b.WriteByte('}')
	return nil
}

// writeJSONString writes a string as JSON. It escapes only what JSON demands, so that scenarios decide what is sent.
func writeJSONString(b *bytes.Buffer, s string) {
	quoted, _ := jsontext.AppendQuote(b.AvailableBuffer(), s) // YAML is UTF-8, so there can be no error
	b.Write(quoted)
}

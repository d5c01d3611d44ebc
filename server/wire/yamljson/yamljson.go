// Package yamljson reads YAML as JSON, and writes JSON as YAML. The configuration and recipes may be YAML files, but the
// rest of the server handles only JSON.
package yamljson

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// These bounds limit a document (decision G13). An alias counts as its content, because aliases can make a small text
// huge.
const (
	maxValues = 1_000_000
	maxText   = 10 << 20 // bytes of keys and scalars
	maxDepth  = 500
)

// A size counts what a document has.
type size struct{ values, text int }

// add counts a key, which is no value, or a value. It returns false if that is too much.
func (s *size) add(values int, text string) bool {
	s.values += values
	s.text += len(text)
	return s.values <= maxValues && s.text <= maxText
}

// Parse returns the JSON of a text with one document. Keys keep their order, and numbers their digits. An empty text
// is null. Keys that are not strings are taken as written. A duplicate key or a second document is an error.
func Parse(text []byte) (jsonwire.Text, error) {
	if !utf8.Valid(text) { // the library would also accept UTF-16
		return nil, errors.New("not UTF-8")
	}
	decoder := yaml.NewDecoder(bytes.NewReader(withoutVersion(text)))
	var document yaml.Node
	if err := decoder.Decode(&document); err != nil {
		if errors.Is(err, io.EOF) {
			return jsonwire.Text("null"), nil
		}
		return nil, err
	}
	if err := decoder.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one document")
	}
	t := translation{w: jsonwire.NewWriter(nil)}
	if err := t.node(&document, 0); err != nil {
		return nil, err
	}
	return t.w.Text(), nil
}

// version12 is what may come before the first document, up to the version in a directive.
var version12 = regexp.MustCompile(`\A(?:\x{FEFF})?(?:[ \t]*(?:#.*)?\r?\n|%.*\n)*?%YAML[ \t]+1\.2[ \t\r\n]`)

// withoutVersion replaces the version 1.2 of a document by 1.1, which is the only one that the library accepts. Where
// the versions differ, this package decides.
func withoutVersion(text []byte) []byte {
	found := version12.FindIndex(text)
	if found == nil {
		return text
	}
	text = bytes.Clone(text)
	text[found[1]-2] = '1'
	return text
}

// A translation writes nodes as JSON.
type translation struct {
	w    *jsonwire.Writer
	size size
}

// count counts a key or a value before it is written.
func (t *translation) count(n *yaml.Node, values int) error {
	if !t.size.add(values, n.Value) {
		return fmt.Errorf("line %d: too large", n.Line)
	}
	return nil
}

func (t *translation) node(n *yaml.Node, depth int) error {
	switch n.Kind {
	case yaml.DocumentNode:
		return t.node(n.Content[0], depth)
	case yaml.AliasNode:
		return t.node(n.Alias, depth)
	}
	if err := t.count(n, 1); err != nil {
		return err
	}
	if n.Kind == yaml.ScalarNode {
		t.scalar(n)
		return nil
	}
	if depth == maxDepth {
		return fmt.Errorf("line %d: too deep", n.Line)
	}
	if n.Kind == yaml.MappingNode {
		return t.mapping(n, depth)
	}
	return t.sequence(n, depth)
}

func (t *translation) sequence(n *yaml.Node, depth int) error {
	t.w.Open('[')
	for _, item := range n.Content {
		if err := t.node(item, depth+1); err != nil {
			return err
		}
	}
	t.w.Close(']')
	return nil
}

func (t *translation) mapping(n *yaml.Node, depth int) error {
	seen := make(map[string]bool, len(n.Content)/2)
	t.w.Open('{')
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Kind == yaml.AliasNode {
			key = key.Alias
		}
		if key.Kind != yaml.ScalarNode {
			return fmt.Errorf("line %d: a key must be a text", key.Line)
		}
		if seen[key.Value] {
			return fmt.Errorf("line %d: the key %q is there twice", key.Line, key.Value)
		}
		seen[key.Value] = true
		if err := t.count(key, 0); err != nil {
			return err
		}
		t.w.Key(key.Value)
		if err := t.node(value, depth+1); err != nil {
			return err
		}
	}
	t.w.Close('}')
	return nil
}

// These patterns are the core schema of YAML 1.2 (§10.3.2) for plain values. The library uses that of YAML 1.1, where
// 1_000 is a number and 017 is 15.
var (
	nulls    = regexp.MustCompile(`^(?:null|Null|NULL|~|)$`)
	booleans = regexp.MustCompile(`^(?:true|True|TRUE|false|False|FALSE)$`)
	decimals = regexp.MustCompile(`^[-+]?[0-9]+$`)
	octals   = regexp.MustCompile(`^0o[0-7]+$`)
	hexes    = regexp.MustCompile(`^0x[0-9a-fA-F]+$`)
	floats   = regexp.MustCompile(`^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$`)
)

// scalar writes a scalar: a plain one by its form, one with a tag of the core schema by that tag, and all others as a
// string.
func (t *translation) scalar(n *yaml.Node) {
	tag, may := n.ShortTag(), func(tags ...string) bool { return n.Style == 0 }
	if n.Style&yaml.TaggedStyle != 0 {
		may = func(tags ...string) bool { return slices.Contains(tags, tag) }
	}
	switch text := n.Value; {
	case may("!!null") && nulls.MatchString(text):
		t.w.Null()
	case may("!!bool") && booleans.MatchString(text):
		t.w.Bool(strings.EqualFold(text, "true"))
	case may("!!int", "!!float") && decimals.MatchString(text):
		t.w.Raw([]byte(integer(strings.TrimPrefix(text, "+"), 10)))
	case may("!!int") && octals.MatchString(text):
		t.w.Raw([]byte(integer(text[2:], 8)))
	case may("!!int") && hexes.MatchString(text):
		t.w.Raw([]byte(integer(text[2:], 16)))
	case may("!!float") && floats.MatchString(text):
		if number, ok := float(text); ok {
			t.w.Raw([]byte(number))
			return
		}
		t.w.String(text)
	default: // also times, infinities and NaN, which JSON does not have
		t.w.String(text)
	}
}

// integer converts an integer to decimal digits.
func integer(digits string, base int) string {
	n, ok := new(big.Int).SetString(digits, base)
	if !ok {
		panic("yamljson: not digits of base " + strconv.Itoa(base) + ": " + digits)
	}
	return n.String()
}

// float returns a number as written if that is valid JSON, or else the double that it stands for.
func float(text string) (string, bool) {
	if parsed, err := jsonwire.Parse([]byte(text)); err == nil && parsed.Kind() == "number" {
		return text, true
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
		return "", false
	}
	return strconv.FormatFloat(f, 'g', -1, 64), true
}

// Package yamljson reads YAML as the JSON that it stands for: the configuration and recipes are written in YAML, and the
// rest of the server knows only JSON.
package yamljson

import (
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

// The bounds of a document (decision G13). An alias counts as its content: with aliases a small text could be huge.
const (
	maxValues = 1_000_000
	maxText   = 10 << 20 // bytes of keys and scalars
	maxDepth  = 500
)

// Parse returns the JSON of the one document in a text: keys in their order, numbers with their digits. An empty text is
// null. Keys that are no strings are taken as they are written; one that is there twice is an error, and so is a second
// document.
func Parse(text []byte) (jsonwire.Text, error) {
	if !utf8.Valid(text) { // the library would also read UTF-16
		return nil, errors.New("not UTF-8")
	}
	decoder := yaml.NewDecoder(strings.NewReader(string(text)))
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

// A translation writes nodes as JSON.
type translation struct {
	w      *jsonwire.Writer
	values int
	text   int
}

// count counts a key or a value before it is written.
func (t *translation) count(n *yaml.Node, values int) error {
	t.values += values
	t.text += len(n.Value)
	if t.values > maxValues || t.text > maxText {
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

// The core schema of YAML 1.2 (§10.3.2) says what plain values are. The library's is that of YAML 1.1, where 1_000 is a
// number, too, and 017 is 15.
var (
	nulls    = regexp.MustCompile(`^(?:null|Null|NULL|~|)$`)
	booleans = regexp.MustCompile(`^(?:true|True|TRUE|false|False|FALSE)$`)
	decimals = regexp.MustCompile(`^[-+]?[0-9]+$`)
	octals   = regexp.MustCompile(`^0o[0-7]+$`)
	hexes    = regexp.MustCompile(`^0x[0-9a-fA-F]+$`)
	floats   = regexp.MustCompile(`^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$`)
)

// scalar writes a value: a plain one by what it looks like, one with a tag of the core schema by that, else a text.
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
	default: // also a time, an infinity, and what is no number: they are no types of JSON
		t.w.String(text)
	}
}

// integer returns an integer by its digits, which are such of its base.
func integer(digits string, base int) string {
	n, ok := new(big.Int).SetString(digits, base)
	if !ok {
		panic("yamljson: not digits of base " + strconv.Itoa(base) + ": " + digits)
	}
	return n.String()
}

// float returns a number as it is written, if JSON writes it so, and else what it is as a double.
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

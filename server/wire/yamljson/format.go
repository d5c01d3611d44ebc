package yamljson

import (
	"bytes"
	"errors"
	"regexp"

	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"

	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// ErrTooLarge says that a value would make a larger document than [Parse] or the caller allows.
var ErrTooLarge = errors.New("too large for a YAML file")

// blockDepth is how many levels are indented. Deeper ones are in one line, because indentation could make a small value
// huge.
const blockDepth = 8

// Format returns the YAML of a JSON value, which [Parse] reads as the same value (decision G40). Numbers keep their
// digits, except that -0 is read as 0. The YAML has at most limit bytes; if need be, it is in one line.
func Format(value jsonwire.Text, limit int) ([]byte, error) {
	text, err := format(value, limit, blockDepth)
	if errors.Is(err, ErrTooLarge) && len(value) <= limit {
		text, err = format(value, limit, 0)
	}
	return text, err
}

// format indents some of the levels.
func format(value jsonwire.Text, limit, indented int) ([]byte, error) {
	f := formatter{indented: indented, in: jsontext.NewDecoder(bytes.NewReader(value), jsontext.AllowDuplicateNames(true))}
	root, err := f.node(0)
	if err != nil {
		return nil, err
	}
	out := bounded{limit: limit}
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	encoder.CompactSeqIndent()
	err = errors.Join(encoder.Encode(root), encoder.Close())
	if out.full { // the library does not wrap the errors of a writer
		err = ErrTooLarge
	}
	if err != nil {
		return nil, err
	}
	return out.text, nil
}

// A formatter makes the nodes of a JSON value. The library only lays them out: it would choose styles that do not keep
// every text, and would not quote what another reader takes for something else than a text.
type formatter struct {
	in       *jsontext.Decoder
	indented int // how many levels are indented
	size     size
}

func (f *formatter) node(depth int) (*yaml.Node, error) {
	switch kind := f.in.PeekKind(); kind {
	case '{', '[':
		if depth == maxDepth {
			return nil, ErrTooLarge
		}
		n := &yaml.Node{Kind: yaml.SequenceNode}
		if kind == '{' {
			n.Kind = yaml.MappingNode
		}
		if depth >= f.indented {
			n.Style = yaml.FlowStyle
		}
		return n, f.content(n, depth)
	default:
		return f.scalar(1)
	}
}

// content reads an object or an array.
func (f *formatter) content(n *yaml.Node, depth int) error {
	_, err := f.in.ReadToken()
	if err == nil && !f.size.add(1, "") {
		err = ErrTooLarge
	}
	for err == nil && f.in.PeekKind() != '}' && f.in.PeekKind() != ']' {
		var next *yaml.Node
		if n.Kind == yaml.MappingNode && len(n.Content)%2 == 0 {
			next, err = f.scalar(0)
		} else {
			next, err = f.node(depth + 1)
		}
		n.Content = append(n.Content, next)
	}
	if err == nil {
		_, err = f.in.ReadToken()
	}
	return err
}

// scalar reads a key, which is no value, or a scalar.
func (f *formatter) scalar(values int) (*yaml.Node, error) {
	token, err := f.in.ReadToken()
	if err != nil {
		return nil, err
	}
	n := &yaml.Node{Kind: yaml.ScalarNode, Value: token.String()}
	if token.Kind() == '"' && !isPlain(n.Value) {
		n.Style = yaml.DoubleQuotedStyle
	}
	if !f.size.add(values, n.Value) {
		return nil, ErrTooLarge
	}
	return n, nil
}

var (
	// words are the texts that every version of YAML takes for texts: they begin with a letter or a slash, and a
	// colon, like a blank, is inside.
	words = regexp.MustCompile(`^[A-Za-z/_][-+./@\w]*(?:[ :][-+./@\w]+)*$`)
	// exceptions are words that YAML 1.1 or 1.2 takes for something else.
	exceptions = regexp.MustCompile(`(?i)^(?:y|yes|n|no|true|false|on|off|null)$`)
)

// isPlain reports whether a text needs no quotes.
func isPlain(text string) bool { return words.MatchString(text) && !exceptions.MatchString(text) }

// A bounded text grows up to a limit.
type bounded struct {
	text  []byte
	limit int
	full  bool
}

func (b *bounded) Write(more []byte) (int, error) {
	if b.full = b.full || len(b.text)+len(more) > b.limit; b.full {
		return 0, ErrTooLarge
	}
	b.text = append(b.text, more...)
	return len(more), nil
}

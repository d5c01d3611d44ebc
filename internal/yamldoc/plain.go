package yamldoc

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// Plain reads a document that every parser reads alike: JSON without defects, or YAML without aliases, tags, merge
// keys, duplicate keys and numbers that JSON would write differently. It returns false for everything else, including
// text that is neither.
func Plain(data []byte) (*jsontree.Node, bool) {
	if bytes.HasPrefix(data, []byte("{")) {
		n, defects, err := jsontree.Parse(data)
		return n, err == nil && len(defects) == 0
	}
	dec := newDecoder(data)
	var doc, second yaml.Node
	if dec.Decode(&doc) != nil || !errors.Is(dec.Decode(&second), io.EOF) {
		return nil, false
	}
	return plainNode(doc.Content[0])
}

// status matches keys such as "200". They look like numbers, but have only one spelling; other numeric keys could
// have several.
var status = regexp.MustCompile(`^(0|[1-9][0-9]{0,8})$`)

func plainNode(y *yaml.Node) (n *jsontree.Node, ok bool) {
	if y.Style&yaml.TaggedStyle != 0 {
		return nil, false
	}
	switch y.Kind {
	case yaml.MappingNode:
		return plainMap(y)
	case yaml.SequenceNode:
		n = &jsontree.Node{Kind: jsontree.Array, Items: make([]*jsontree.Node, len(y.Content))}
		for i, item := range y.Content {
			if n.Items[i], ok = plainNode(item); !ok {
				return nil, false
			}
		}
		return n, true
	case yaml.ScalarNode:
		return plainScalar(y)
	}
	return nil, false
}

func plainMap(y *yaml.Node) (*jsontree.Node, bool) {
	n := &jsontree.Node{Kind: jsontree.Object}
	seen := make(map[string]bool, len(y.Content)/2)
	for i := 0; i < len(y.Content); i += 2 {
		k := y.Content[i]
		word := k.Kind == yaml.ScalarNode && k.Style&yaml.TaggedStyle == 0 &&
			(k.Tag == "!!str" || k.Tag == "!!int" && status.MatchString(k.Value))
		item, ok := plainNode(y.Content[i+1])
		if !word || !ok || seen[k.Value] {
			return nil, false
		}
		seen[k.Value] = true
		n.Names, n.Items = append(n.Names, k.Value), append(n.Items, item)
	}
	return n, true
}

func plainScalar(y *yaml.Node) (*jsontree.Node, bool) {
	n := &jsontree.Node{Kind: jsontree.String, Text: y.Value}
	switch y.Tag {
	case "!!str", "!!timestamp": // YAML 1.2 has no timestamps
	case "!!null":
		n.Kind, n.Text = jsontree.Null, ""
	case "!!bool":
		n.Kind, n.Text = jsontree.Boolean, strings.ToLower(y.Value)
	case "!!int", "!!float":
		n.Kind = jsontree.Number
		return n, jsonNumber.MatchString(y.Value)
	default:
		return nil, false
	}
	return n, true
}

package yamldoc

import (
	"regexp"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// PlainJSON returns the document as JSON if every parser reads it alike: it has no aliases, tags, merge keys, duplicate
// keys, or numbers and keys that JSON would write differently. It returns false for all other documents.
func (d Document) PlainJSON() (text []byte, ok bool) {
	if d.Root == nil || len(d.Mistakes)+len(d.Unusual) > 0 || !plain(d.Root) {
		return nil, false
	}
	return appendJSON(nil, d.Root), true
}

var (
	// A key such as "200" looks like a number, but has only one spelling; other numeric keys could have several.
	plainKey = regexp.MustCompile(`^([A-Za-z_/$].*|0|[1-9][0-9]{0,8})$`)
	// constant matches keys that have another type than strings, unless they are quoted.
	constant = regexp.MustCompile(`^(?i:true|false|null)$`)
)

func plain(n *Node) bool {
	if n.Kind == Number {
		_, err := strconv.ParseFloat(n.Text, 64)
		return err == nil // many parsers read a larger number as a string
	}
	for _, k := range n.Keys {
		if !plainKey.MatchString(k.Text) || constant.MatchString(k.Text) {
			return false
		}
	}
	for _, item := range n.Items {
		if !plain(item) {
			return false
		}
	}
	return true
}

func appendJSON(b []byte, n *Node) []byte {
	switch n.Kind {
	case Null:
		return append(b, "null"...)
	case String:
		b, _ = jsontext.AppendQuote(b, n.Text) // YAML has only valid UTF-8
		return b
	case List, Map:
		open, end := byte('['), byte(']')
		if n.Kind == Map {
			open, end = '{', '}'
		}
		b = append(b, open)
		for i, item := range n.Items {
			if i > 0 {
				b = append(b, ',')
			}
			if n.Kind == Map {
				b = append(appendJSON(b, n.Keys[i]), ':')
			}
			b = appendJSON(b, item)
		}
		return append(b, end)
	default:
		return append(b, n.Text...)
	}
}

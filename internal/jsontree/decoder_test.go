package jsontree

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// This file reads a document with the decoder alone. It is slow, and serves as the reference for the scanner.

// add appends a member.
func (n *Node) add(name string, item *Node) {
	n.Names = append(n.Names, name)
	n.Items = append(n.Items, item)
	switch {
	case n.rest != nil:
		n.rest.index[name] = len(n.Names) - 1
	case len(n.Names) > small:
		n.rest = &rest{index: make(map[string]int, 2*len(n.Names))}
		for i, name := range n.Names {
			n.rest.index[name] = i
		}
	}
}

// read reads a document token by token, and returns its defects.
func read(data []byte) (*Node, []Defect, error) {
	var p parser
	if rest, ok := bytes.CutPrefix(data, []byte(bom)); ok {
		p.defect(ByteOrderMark, "", "the document begins with a byte order mark (RFC 8259 §8.1)")
		data = rest
	}
	p.invalid = !utf8.Valid(data)
	p.data = data
	p.dec = jsontext.NewDecoder(bytes.NewBuffer(data),
		jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	root, err := p.value()
	if err != nil {
		return nil, p.defects, explain(err)
	}
	if rest := bytes.Trim(data[p.dec.InputOffset():], " \t\r\n"); len(rest) > 0 {
		p.defect(TrailingText, "", fmt.Sprintf("text follows the value: %s", excerpt(rest)))
	}
	return root, p.defects, nil
}

type parser struct {
	dec     *jsontext.Decoder
	data    []byte // the decoder's input
	defects []Defect
	invalid bool // some bytes are not UTF-8
}

func (p *parser) defect(kind DefectKind, pointer, text string) {
	p.defects = append(p.defects, Defect{kind, pointer, text})
}

// value reads the next value. The decoder bounds the recursion, because it stops at MaxDepth.
func (p *parser) value() (*Node, error) {
	from := p.dec.InputOffset()
	tok, err := p.dec.ReadToken()
	if err != nil {
		return nil, err
	}
	switch kind := Kind(tok.Kind()); kind {
	case Null:
		return &Node{Kind: Null}, nil
	case 't', 'f':
		return &Node{Kind: Boolean, Text: strconv.FormatBool(tok.Bool())}, nil
	case Number:
		return &Node{Kind: Number, Text: tok.String()}, nil
	case String:
		return &Node{Kind: String, Text: p.text(tok, from)}, nil
	case Array:
		return p.array()
	case Object:
		return p.object()
	default:
		return nil, fmt.Errorf("jsontree: token of kind %v where a value begins", kind)
	}
}

func (p *parser) array() (*Node, error) {
	n := &Node{Kind: Array}
	for p.dec.PeekKind() != ']' {
		item, err := p.value()
		if err != nil {
			return nil, err
		}
		n.Items = append(n.Items, item)
	}
	_, err := p.dec.ReadToken()
	return n, err
}

func (p *parser) object() (*Node, error) {
	n, unique := &Node{Kind: Object}, true
	for p.dec.PeekKind() != '}' {
		from := p.dec.InputOffset()
		tok, err := p.dec.ReadToken()
		if err != nil {
			return nil, err
		}
		name := p.text(tok, from)
		if n.Member(name) != nil {
			unique = false
			p.defect(DuplicateName, string(p.dec.StackPointer()), fmt.Sprintf("the name %q stands twice in one object", name))
		}
		item, err := p.value()
		if err != nil {
			return nil, err
		}
		n.add(name, item)
	}
	n.unique = unique && len(n.Names) > 0
	_, err := p.dec.ReadToken()
	return n, err
}

// text returns the value of the string token that begins after an offset, and records invalid UTF-8. The decoder
// replaces invalid bytes and halves of surrogate pairs by U+FFFD. A document may also have a real U+FFFD, so text
// checks the original bytes of such a string.
func (p *parser) text(tok jsontext.Token, from int64) string {
	s := tok.String()
	if !strings.ContainsRune(s, utf8.RuneError) {
		return s
	}
	quoted := bytes.TrimLeft(p.data[from:p.dec.InputOffset()], ":, \t\r\n")
	if p.invalid && !utf8.Valid(quoted) {
		p.defect(InvalidUTF8, string(p.dec.StackPointer()), "bytes are not UTF-8 (RFC 8259 §8.1)")
		p.invalid = false // it is reported once
	}
	return unquote(string(quoted))
}

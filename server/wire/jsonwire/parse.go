package jsonwire

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// reading and repeating implement CT 3.4 step 4. Invalid UTF-8 was replaced before, so AllowInvalidUTF8 only accepts
// lone surrogates. The parser itself handles duplicate names: the last one wins.
var reading = jsontext.AllowInvalidUTF8(true)
var repeating = jsontext.AllowDuplicateNames(true)

// Parse returns the canonical form of a JSON text (CT 3.1, 3.4). It removes a byte order mark and blanks, replaces
// invalid UTF-8 by U+FFFD, and writes strings with the fewest and shortest escapes. Of members with the same name,
// the last value takes the place of the first, as in a JavaScript object. Numbers keep their digits.
//
// Text before or after the value is an error, and so is a depth above 9,000 (decision S27). In an event, a value is
// nested more deeply than in its request, and the encoder supports 10,000 levels.
func Parse(body []byte) (Text, error) {
	body, err := decodeUTF8(body)
	if err != nil {
		return nil, fmt.Errorf("decode UTF-8: %w", err)
	}
	p := parser{
		in:  jsontext.NewDecoder(bytes.NewBuffer(body), reading, repeating),
		out: make([]byte, 0, len(body)),
	}
	if err := p.value(); err != nil {
		return nil, err
	}
	if _, err := p.in.ReadToken(); err != io.EOF {
		return nil, fmt.Errorf("text after the JSON value at byte %d", p.in.InputOffset())
	}
	return p.withoutRepeated(), nil
}

// A parser copies one JSON value from in to out in canonical form.
type parser struct {
	in  *jsontext.Decoder
	out Text
	// open has the members of the objects that are being read, the innermost object last.
	open []member
	// repeating has the objects with duplicate names, in the order of their ends. They are rewritten when everything
	// is read, so that a nested object is rewritten once, and not again with each object around it.
	repeating []repeated
}

// A member is a member of an object, by its place in the output: out[name:value-1] is the name, out[value:end] the
// value.
type member struct{ name, value, end int }

func (p *parser) value() error {
	switch p.in.PeekKind() {
	case '{':
		return p.object()
	case '[':
		return p.array()
	}
	raw, err := p.in.ReadValue()
	if err != nil {
		return err
	}
	if raw.Kind() == '"' {
		p.out = appendRequoted(p.out, raw)
	} else {
		p.out = append(p.out, raw...)
	}
	return nil
}

func (p *parser) array() error {
	if err := p.delimiter(); err != nil {
		return err
	}
	for first := true; p.in.PeekKind() != ']'; first = false {
		if !first {
			p.out = append(p.out, ',')
		}
		if err := p.value(); err != nil {
			return err
		}
	}
	return p.delimiter()
}

func (p *parser) object() error {
	outer := len(p.open)
	start := len(p.out)
	if err := p.delimiter(); err != nil {
		return err
	}
	for p.in.PeekKind() != '}' {
		if len(p.open) > outer {
			p.out = append(p.out, ',')
		}
		m := member{name: len(p.out)}
		if err := p.value(); err != nil { // the decoder guarantees that this is a string
			return err
		}
		p.out = append(p.out, ':')
		m.value = len(p.out)
		if err := p.value(); err != nil {
			return err
		}
		m.end = len(p.out)
		p.open = append(p.open, m)
	}
	winners, found := p.lastOfEachName(p.open[outer:])
	if found {
		p.repeating = append(p.repeating, repeated{start, winning(p.open[outer:], winners), len(p.out) + 1})
	}
	p.open = p.open[:outer]
	return p.delimiter()
}

const maxDepth = 9000

// delimiter copies a bracket or brace.
func (p *parser) delimiter() error {
	token, err := p.in.ReadToken()
	if err != nil {
		return err
	}
	if p.in.StackDepth() > maxDepth {
		return fmt.Errorf("more than %d levels at byte %d", maxDepth, p.in.InputOffset())
	}
	p.out = append(p.out, byte(token.Kind()))
	return nil
}

func (p *parser) name(m member) []byte { return p.out[m.name : m.value-1] }

// seed is random, so that a sender cannot choose names that collide.
var seed = maphash.MakeSeed()

// lastOfEachName returns for each member the index of the member whose value takes its place: its own, that of a
// later one, or -1 if the name has occurred before. repeated is false if no name occurs twice.
//
// It needs a few bytes per member, because it runs on every object of every body. A map of names would need more
// memory than the body itself.
func (p *parser) lastOfEachName(members []member) (winners []int, repeated bool) {
	if len(members) < 2 {
		return nil, false
	}
	size := 4
	for size < 2*len(members) {
		size *= 2
	}
	firsts := make([]int, size) // open addressing; 1 + the index of the first member with a name, or 0 for a free slot
	for i, m := range members {
		name := p.name(m)
		slot := int(maphash.Bytes(seed, name)) & (size - 1)
		for firsts[slot] != 0 && !bytes.Equal(p.name(members[firsts[slot]-1]), name) {
			slot = (slot + 1) & (size - 1)
		}
		if firsts[slot] == 0 {
			firsts[slot] = i + 1
			continue
		}
		if winners == nil {
			winners = make([]int, len(members))
			for j := range winners {
				winners[j] = j
			}
		}
		winners[firsts[slot]-1], winners[i] = i, -1
	}
	return winners, winners != nil
}

package jsonwire

import (
	"bytes"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// CountElements returns the number of elements of an object's member that is an array; the last member with the name
// counts. It returns 0 if there is no such array, or if [Parse] would reject the text. Unlike Parse it needs no
// memory.
func CountElements(text []byte, name string) int {
	in := jsontext.NewDecoder(bytes.NewBuffer(bytes.TrimPrefix(text, bom)), reading, repeating)
	var inMember bool
	var count int
	for {
		token, err := in.ReadToken()
		depth := in.StackDepth()
		if _, texts := in.StackIndex(0); err == io.EOF && texts == 1 {
			return count
		} else if err != nil || depth > maxDepth {
			return 0
		}
		switch {
		case depth == 1:
			if kind, read := in.StackIndex(1); kind == '{' && read%2 == 1 { // a name
				if inMember = token.String() == name; inMember {
					count = 0
				}
			}
		case depth == 2 && inMember:
			if kind, read := in.StackIndex(2); kind == '[' {
				count = int(read)
			}
		}
	}
}

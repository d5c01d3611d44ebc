package jsontree

import (
	"strconv"
	"strings"
)

var (
	pointerEscape   = strings.NewReplacer("~", "~0", "/", "~1")
	pointerUnescape = strings.NewReplacer("~1", "/", "~0", "~")
)

// AppendName returns the JSON Pointer of the named member of the object at pointer (RFC 6901 §3).
func AppendName(pointer, name string) string { return pointer + "/" + pointerEscape.Replace(name) }

// AppendNameTo appends the token of a JSON Pointer for a member.
func AppendNameTo(pointer []byte, name string) []byte {
	pointer = append(pointer, '/')
	if strings.IndexByte(name, '~') >= 0 || strings.IndexByte(name, '/') >= 0 {
		name = pointerEscape.Replace(name)
	}
	return append(pointer, name...)
}

// AppendIndexTo appends the token of a JSON Pointer for an element.
func AppendIndexTo(pointer []byte, i int) []byte {
	return strconv.AppendInt(append(pointer, '/'), int64(i), 10)
}

// AppendIndex returns the JSON Pointer of an element of the array at pointer.
func AppendIndex(pointer string, i int) string { return pointer + "/" + strconv.Itoa(i) }

// UnescapeName returns the name that a token of a JSON Pointer stands for.
func UnescapeName(token string) string { return pointerUnescape.Replace(token) }

// At returns the value at a JSON Pointer and the value that contains it; nil when there is none. Of members with the same
// name, it takes the last.
func (n *Node) At(pointer string) (value, parent *Node) {
	value = n
	for _, token := range strings.Split(pointer, "/")[1:] {
		parent = value
		if parent.Open(); parent.Kind == Object {
			value = parent.Member(UnescapeName(token))
		} else if i, err := strconv.Atoi(token); err == nil && i >= 0 && i < len(parent.Items) {
			value = parent.Items[i]
		} else {
			value = nil
		}
		if value == nil {
			return nil, nil
		}
	}
	return value, parent
}

package jsontree

import (
	"strconv"
	"strings"
)

var pointerEscape = strings.NewReplacer("~", "~0", "/", "~1")

// AppendName returns the JSON Pointer of the named member of the object at pointer (RFC 6901 §3).
func AppendName(pointer, name string) string { return pointer + "/" + pointerEscape.Replace(name) }

// AppendIndex returns the JSON Pointer of an element of the array at pointer.
func AppendIndex(pointer string, i int) string { return pointer + "/" + strconv.Itoa(i) }

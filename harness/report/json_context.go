package report

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/report/internal/textfit"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// How much of a document is shown around a place.
const (
	maxMembers       = 12
	maxContextBody   = 1 << 20 // bytes of a document that is read for it
	maxFocusColumns  = 240     // columns of the value it is about
	maxMemberColumns = 80      // columns of those beside it
)

// A parsedBody is a body and the document in it; nil when it is no document with members. Many findings are about one body.
type parsedBody struct {
	body []byte
	root *jsontree.Node
}

func (r *parsedBody) parse(body []byte) *jsontree.Node {
	if bytes.Equal(r.body, body) {
		return r.root
	}
	*r = parsedBody{body: body}
	if len(body) > maxContextBody {
		return nil
	}
	if root, _, err := jsontree.Parse(body); err == nil && (root.Kind == jsontree.Object || root.Kind == jsontree.Array) {
		r.root = root
	}
	return r.root
}

// jsonContext shows the object or list that a place is in, a line for each member, as far as the place is there: of a member
// that is missing, the object without it. It returns nil for what is no document with members.
func jsonContext(root *jsontree.Node, pointer string) *JSONContext {
	if root == nil {
		return nil
	}
	parent, path, focus := root, "", -1
	for _, name := range strings.Split(pointer, "/")[1:] {
		i := childIndex(parent, unescapePointer(name))
		focus = i
		if i < 0 || hasNoItems(parent.Items[i]) {
			break
		}
		if next := parent.Items[i]; next != nil {
			parent, path, focus = next, path+"/"+name, -1
		}
	}
	if focus < 0 && path == pointer && path != "" { // the place is an object or a list: show it among its neighbours
		cut := strings.LastIndexByte(path, '/')
		parent, path = nodeAt(root, path[:cut]), path[:cut]
		focus = childIndex(parent, unescapePointer(pointer[cut+1:]))
	}
	return renderMembers(parent, path, focus)
}

func nodeAt(n *jsontree.Node, pointer string) *jsontree.Node {
	for _, name := range strings.Split(pointer, "/")[1:] {
		n = n.Items[childIndex(n, unescapePointer(name))]
	}
	return n
}

func hasNoItems(n *jsontree.Node) bool {
	n.Open()
	return len(n.Items) == 0
}

// unescapePointer reads a part of a JSON Pointer (RFC 6901 §4).
func unescapePointer(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, "~1", "/"), "~0", "~")
}

// childIndex returns the index of a member or an element; -1 when there is none.
func childIndex(n *jsontree.Node, name string) int {
	n.Open()
	if n.Kind == jsontree.Object {
		return slices.Index(n.Names, name)
	}
	if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < len(n.Items) {
		return i
	}
	return -1
}

// renderMembers writes the members around one of them.
func renderMembers(n *jsontree.Node, path string, focus int) *JSONContext {
	n.Open()
	open, end := "{", "}"
	if n.Kind == jsontree.Array {
		open, end = "[", "]"
	}
	from := max(0, min(focus-maxMembers/2, len(n.Items)-maxMembers))
	to := min(len(n.Items), from+maxMembers)
	out := &JSONContext{Lines: []string{strings.TrimSpace(textfit.Clip(path, 120) + " " + open)}, Focus: -1}
	if from > 0 {
		out.Lines = append(out.Lines, "  … "+strconv.Itoa(from)+" more")
	}
	for i := from; i < to; i++ {
		if i == focus {
			out.Focus = len(out.Lines)
		}
		out.Lines = append(out.Lines, "  "+member(n, i, i == focus))
	}
	if left := len(n.Items) - to; left > 0 {
		out.Lines = append(out.Lines, "  … "+strconv.Itoa(left)+" more")
	}
	out.Lines = append(out.Lines, end)
	return out
}

func member(n *jsontree.Node, i int, focus bool) string {
	most := maxMemberColumns
	if focus {
		most = maxFocusColumns
	}
	value := textfit.Clip(n.Items[i].String(), most)
	if n.Kind == jsontree.Array {
		return strconv.Itoa(i) + ": " + value
	}
	return strconv.Quote(textfit.Clip(n.Names[i], 80)) + ": " + value
}

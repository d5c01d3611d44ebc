package report

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/report/internal/textfit"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// Limits of what is shown around a place.
const (
	maxMembers       = 12
	maxContextBody   = 1 << 20 // largest document that is parsed, in bytes
	maxFocusColumns  = 240     // columns of the value at the place
	maxMemberColumns = 80      // columns of each other value
)

// A parsedBody is a body and its document, kept because many findings are about the same body. root is nil when the
// body is not a JSON document with members.
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

// jsonContext shows the object or list that contains a place, with a line for each member. If the member is missing, it
// shows the object without it. It returns nil when the document has no members.
func jsonContext(root *jsontree.Node, pointer string) *JSONContext {
	if root == nil {
		return nil
	}
	parent, path, focus := root, "", -1
	for _, name := range strings.Split(pointer, "/")[1:] {
		i := childIndex(parent, jsontree.UnescapeName(name))
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
		focus = childIndex(parent, jsontree.UnescapeName(pointer[cut+1:]))
	}
	return renderMembers(parent, path, focus)
}

func nodeAt(n *jsontree.Node, pointer string) *jsontree.Node {
	for _, name := range strings.Split(pointer, "/")[1:] {
		n = n.Items[childIndex(n, jsontree.UnescapeName(name))]
	}
	return n
}

func hasNoItems(n *jsontree.Node) bool {
	n.Open()
	return len(n.Items) == 0
}

// childIndex returns the index of a member or an element, or -1.
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
	names := map[int]string{}
	out := &JSONContext{Lines: []string{strings.TrimSpace(textfit.Clip(path, 120) + " " + open)}, Focus: -1}
	if from > 0 {
		out.Lines = append(out.Lines, "  … "+strconv.Itoa(from)+" more")
	}
	for i := from; i < to; i++ {
		if i == focus {
			out.Focus = len(out.Lines)
		}
		names[len(out.Lines)] = strconv.Itoa(i)
		if n.Kind == jsontree.Object {
			names[len(out.Lines)] = n.Names[i]
		}
		out.Lines = append(out.Lines, "  "+member(n, i, i == focus))
	}
	if left := len(n.Items) - to; left > 0 {
		out.Lines = append(out.Lines, "  … "+strconv.Itoa(left)+" more")
	}
	out.Lines = append(out.Lines, end)
	out.path, out.names = path, names
	return out
}

// markFound records which lines findings are about. pointers are the places of the findings.
func (c *JSONContext) markFound(pointers []string) {
	for line, name := range c.names {
		at := jsontree.AppendName(c.path, name)
		if slices.ContainsFunc(pointers, func(p string) bool { return strings.HasPrefix(p+"/", at+"/") || strings.HasPrefix(at, p+"/") }) {
			c.Found = append(c.Found, line)
		}
	}
	slices.Sort(c.Found)
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

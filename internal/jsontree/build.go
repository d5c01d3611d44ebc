package jsontree

import (
	"regexp"
	"slices"
	"strings"
)

// NewText returns a string.
func NewText(s string) *Node { return &Node{Kind: String, Text: s} }

// NewTexts returns a list of strings.
func NewTexts(all []string) *Node {
	list := &Node{Kind: Array}
	for _, s := range all {
		list.Items = append(list.Items, NewText(s))
	}
	return list
}

// Set adds a member to an object that is being built, or replaces the one of that name.
func (n *Node) Set(name string, value *Node) {
	if i := slices.Index(n.Names, name); i >= 0 {
		n.Items[i] = value
		return
	}
	n.Names, n.Items = append(n.Names, name), append(n.Items, value)
}

var plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// PathStep returns the step of a JSONPath to the named member: ".name" or "['any name']" (RFC 9535 §2.5.1).
func PathStep(name string) string {
	if plainName.MatchString(name) {
		return "." + name
	}
	return "['" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(name) + "']"
}

package scenario

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/internal/problem"
	"github.com/lockstep-dev/lockstep/internal/yamldoc"
)

// Wrong is the key of a row that stands for several. It names the column whose value is right in that row. Each
// generated row has a value there that is wrong in another way.
const Wrong = "wrong"

// unfoldRows replaces rows that stand for several.
func (d *unfolder) unfoldRows(table *yamldoc.Node) *yamldoc.Node {
	if !slices.ContainsFunc(table.Elements(), func(row *yamldoc.Node) bool { return row.Get(Wrong) != nil }) {
		return table
	}
	out := *table
	out.Items = nil
	for _, row := range table.Items {
		column := row.Get(Wrong)
		if column == nil {
			out.Items = append(out.Items, row)
			continue
		}
		right := row.Get(column.Text)
		if right == nil || column.Text == "name" || column.Text == Wrong {
			var columns []string
			for _, k := range row.Keys {
				if k.Text != "name" && k.Text != Wrong {
					columns = append(columns, k.Text)
				}
			}
			d.problem(column, fmt.Sprintf("the row has no column %q", column.Text), problem.OneOf(column.Text, columns))
			continue
		}
		for _, way := range wrongValues(right) {
			out.Items = append(out.Items, rowWith(row, column.Text, way))
		}
	}
	if d.generated == nil {
		d.generated = map[*yamldoc.Node]bool{}
	}
	for _, row := range out.Items {
		d.generated[row] = d.generated[row] || !slices.Contains(table.Items, row)
	}
	return &out
}

// rowWith returns a row with another value in a column. Its name gets a suffix that says how the value is wrong.
func rowWith(row *yamldoc.Node, column string, w wrongValue) *yamldoc.Node {
	out := *row
	out.Keys, out.Items = nil, nil
	for k, v := range row.Entries() {
		switch k.Text {
		case Wrong:
			continue
		case "name":
			named := *v
			named.Text += "-" + w.name
			v = &named
		case column:
			v = w.value
		}
		out.Keys, out.Items = append(out.Keys, k), append(out.Items, v)
	}
	return &out
}

// A wrongValue is a value that is wrong in one way.
type wrongValue struct {
	name  string
	value *yamldoc.Node
}

// otherTypesOf returns one value of each JSON type, at the place of the given one.
func otherTypesOf(at *yamldoc.Node) []wrongValue {
	node := func(kind yamldoc.Kind, text string) *yamldoc.Node {
		return &yamldoc.Node{Kind: kind, Text: text, Line: at.Line, Column: at.Column}
	}
	return []wrongValue{
		{"null", node(yamldoc.Null, "")},
		{"number", node(yamldoc.Number, "5")},
		{"boolean", node(yamldoc.Bool, "true")},
		{"array", node(yamldoc.List, "")},
		{"object", node(yamldoc.Map, "")},
		{"text", node(yamldoc.String, "x")},
	}
}

// wrongValues returns wrong values: one of each other type. If the right value is an object, further ones are a list
// with the object, an object that lacks a member or has one of another type, and one with all names in capitals.
func wrongValues(right *yamldoc.Node) []wrongValue {
	out := otherTypes("", right)
	if right.Kind != yamldoc.Map {
		return out
	}
	list := yamldoc.Node{Kind: yamldoc.List, Items: []*yamldoc.Node{right}, Line: right.Line, Column: right.Column}
	out = append(out, wrongValue{"object-in-a-list", &list})
	capitals := *right
	capitals.Keys = nil
	for i, k := range right.Keys {
		without := *right
		without.Keys, without.Items = slices.Delete(slices.Clone(right.Keys), i, i+1), slices.Delete(slices.Clone(right.Items), i, i+1)
		word := nameInRow(k.Text)
		out = append(out, wrongValue{"without-" + word, &without})
		for _, other := range otherTypes(word+"-", right.Items[i]) {
			with := *right
			with.Items = slices.Clone(right.Items)
			with.Items[i] = other.value
			out = append(out, wrongValue{other.name, &with})
		}
		key := *k
		key.Text = strings.ToUpper(k.Text)
		capitals.Keys = append(capitals.Keys, &key)
	}
	if len(right.Keys) > 0 {
		out = append(out, wrongValue{"key-in-capitals", &capitals})
	}
	return out
}

func otherTypes(prefix string, right *yamldoc.Node) (out []wrongValue) {
	for _, other := range otherTypesOf(right) {
		if other.value.Kind != right.Kind {
			out = append(out, wrongValue{prefix + other.name, other.value})
		}
	}
	return out
}

// nameInRow turns a member's name into a part of a row's name.
func nameInRow(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' {
			return r
		}
		return '-'
	}, name)
}

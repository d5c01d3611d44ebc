package mutate

import (
	"strconv"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// typeOperators send a value as another type.
var typeOperators = []Operator{
	values("type", "number-as-text", "It sends a number as a text", func(v *spot, _ uint64) (string, bool) {
		return text(v.node.Text), v.node.Kind == jsontree.Number
	}),
	values("type", "text-as-number", "It sends a text of digits as a number", func(v *spot, _ uint64) (string, bool) {
		_, err := strconv.ParseUint(v.node.Text, 10, 53)
		return v.node.Text, v.node.Kind == jsontree.String && err == nil && (v.node.Text[0] != '0' || len(v.node.Text) == 1)
	}),
	values("type", "text-as-object", "It sends an object for a text", func(v *spot, _ uint64) (string, bool) {
		return `{"value":` + v.node.String() + "}", v.node.Kind == jsontree.String
	}),
	values("type", "boolean-as-text", "It sends true or false as a text", func(v *spot, _ uint64) (string, bool) {
		return text(v.node.String()), v.node.Kind == jsontree.Boolean
	}),
	values("type", "boolean-as-number", "It sends true or false as a number", func(v *spot, _ uint64) (string, bool) {
		if v.node.String() == "true" {
			return "1", true
		}
		return "0", v.node.Kind == jsontree.Boolean
	}),
	values("type", "wrapped", "It sends a list of one for a single value", func(v *spot, _ uint64) (string, bool) {
		return "[" + v.show1() + "]", v.parent != nil && len(v.node.Items) == 0 && v.node.Kind != jsontree.Null
	}),
	values("type", "object-as-list", "It sends a list for an object", func(v *spot, _ uint64) (string, bool) {
		return "[]", v.node.Kind == jsontree.Object
	}),
	values("type", "list-as-object", "It sends an object for a list", func(v *spot, _ uint64) (string, bool) {
		return "{}", v.node.Kind == jsontree.Array
	}),
	values("type", "json-as-text", "It sends an object as a text that holds it", func(v *spot, _ uint64) (string, bool) {
		if v.node.Kind != jsontree.Object || len(v.node.Items) > 20 {
			return "", false
		}
		return text(v.node.String()), true
	}),
}

// show1 returns a value without items as JSON.
func (v *spot) show1() string {
	if len(v.node.Items) > 0 {
		return ""
	}
	return v.node.String()
}

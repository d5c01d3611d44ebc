package mutate

import (
	"math/big"
	"strconv"
	"strings"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// typeOperators send a value as another type.
var typeOperators = []Operator{
	replaceValues("type", "number-as-text", "It sends a number as a text", func(v *value, _ uint64) (string, bool) {
		return quoted(v.node.Text), v.node.Kind == jsontree.Number
	}),
	replaceValues("type", "text-as-number", "It sends a text of digits as a number", func(v *value, _ uint64) (string, bool) {
		_, err := strconv.ParseUint(v.node.Text, 10, 53)
		return v.node.Text, v.node.Kind == jsontree.String && err == nil && (v.node.Text[0] != '0' || len(v.node.Text) == 1)
	}),
	replaceValues("type", "text-as-object", "It sends an object instead of a text", func(v *value, _ uint64) (string, bool) {
		return `{"value":` + v.node.String() + "}", v.node.Kind == jsontree.String
	}),
	replaceValues("type", "boolean-as-text", "It sends true or false as a text", func(v *value, _ uint64) (string, bool) {
		return quoted(v.node.String()), v.node.Kind == jsontree.Boolean
	}),
	replaceValues("type", "boolean-as-number", "It sends true or false as a number", func(v *value, _ uint64) (string, bool) {
		if v.node.String() == "true" {
			return "1", true
		}
		return "0", v.node.Kind == jsontree.Boolean
	}),
	replaceValues("type", "wrapped", "It sends a list of one element instead of a value", func(v *value, _ uint64) (string, bool) {
		if v.parent == nil || len(v.node.Items) > 0 || v.node.Kind == jsontree.Null {
			return "", false
		}
		return "[" + v.node.String() + "]", true
	}),
	replaceValues("type", "object-as-list", "It sends a list instead of an object", func(v *value, _ uint64) (string, bool) {
		return "[]", v.node.Kind == jsontree.Object
	}),
	replaceValues("type", "list-as-object", "It sends an object instead of a list", func(v *value, _ uint64) (string, bool) {
		return "{}", v.node.Kind == jsontree.Array
	}),
	replaceValues("type", "json-as-text", "It sends an object as a text that contains its JSON", func(v *value, _ uint64) (string, bool) {
		if v.node.Kind != jsontree.Object || len(v.node.Items) > 20 {
			return "", false
		}
		return quoted(v.node.String()), true
	}),
}

// booleanOperators invert booleans.
var booleanOperators = []Operator{
	replaceValues("boolean", "flipped", "It sends true instead of false, and false instead of true", func(v *value, _ uint64) (string, bool) {
		if v.node.String() == "true" {
			return "false", v.node.Kind == jsontree.Boolean
		}
		return "true", v.node.Kind == jsontree.Boolean
	}),
}

// numberOperators send another number for one that both sides have.
var numberOperators = []Operator{
	changeNumber("plus-one", "It counts one too many", func(n string) (string, bool) {
		i, err := strconv.ParseInt(n, 10, 53)
		return strconv.FormatInt(i+1, 10), err == nil
	}),
	changeNumber("minus-one", "It counts one too few", func(n string) (string, bool) {
		i, err := strconv.ParseInt(n, 10, 53)
		return strconv.FormatInt(i-1, 10), err == nil
	}),
	changeNumber("negative", "It has the wrong sign", func(n string) (string, bool) {
		if strings.HasPrefix(n, "-") {
			return n[1:], !jsontree.EqualNumbers(n, n[1:])
		}
		return "-" + n, !jsontree.EqualNumbers(n, "-"+n)
	}),
	changeNumber("zero", "It always sends zero", func(n string) (string, bool) { return "0", !jsontree.EqualNumbers(n, "0") }),
	changeNumber("tenfold", "It is off by a factor of ten", func(n string) (string, bool) {
		return n + "0", isInteger(n) && !jsontree.EqualNumbers(n, "0")
	}),
	changeNumber("fraction", "It does not round", func(n string) (string, bool) { return n + ".5", isInteger(n) }),
	changeNumber("last-digit", "It is off by less than the precision of a double", func(n string) (string, bool) {
		return n + ".0000000000000000000001", isInteger(n)
	}),
	changeNumber("decimal-notation", "It writes an integer as a double", func(n string) (string, bool) {
		return n + ".0", isInteger(n)
	}),
	changeNumber("integer-notation", "It writes a double as an integer", func(n string) (string, bool) {
		before, behind, _ := strings.Cut(n, ".")
		return before, !strings.ContainsAny(n, "eE") && behind != "" && strings.Trim(behind, "0") == ""
	}),
	changeNumber("double-neighbour", "It stores integers as doubles, and one changes", func(n string) (string, bool) {
		i, ok := new(big.Int).SetString(n, 10)
		if !ok || i.IsInt64() && i.CmpAbs(big.NewInt(1<<53)) < 0 {
			return "", false
		}
		return i.Xor(i, big.NewInt(1)).String(), true
	}),
	changeNumber("huge", "It overflows", func(n string) (string, bool) { return "9223372036854775807", n != "9223372036854775807" }),
}

func isInteger(n string) bool { return !strings.ContainsAny(n, ".eE") }

func changeNumber(name, doc string, change func(string) (string, bool)) Operator {
	return replaceValues("number", name, doc, func(v *value, _ uint64) (string, bool) {
		if !v.is(jsontree.Number, fixed) {
			return "", false
		}
		return change(v.node.Text)
	})
}

package mutate

import (
	"math/big"
	"strconv"
	"strings"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// numberOperators send another number for one that both sides have.
var numberOperators = []Operator{
	number("plus-one", "It counts one too many", func(n string) (string, bool) {
		i, err := strconv.ParseInt(n, 10, 53)
		return strconv.FormatInt(i+1, 10), err == nil
	}),
	number("minus-one", "It counts one too few", func(n string) (string, bool) {
		i, err := strconv.ParseInt(n, 10, 53)
		return strconv.FormatInt(i-1, 10), err == nil
	}),
	number("negative", "It has the wrong sign", func(n string) (string, bool) {
		if strings.HasPrefix(n, "-") {
			return n[1:], !jsontree.EqualNumbers(n, n[1:])
		}
		return "-" + n, !jsontree.EqualNumbers(n, "-"+n)
	}),
	number("zero", "It says nothing but zero", func(n string) (string, bool) { return "0", !jsontree.EqualNumbers(n, "0") }),
	number("tenfold", "It is off by a factor of ten", func(n string) (string, bool) {
		return n + "0", isInteger(n) && !jsontree.EqualNumbers(n, "0")
	}),
	number("fraction", "It does not round", func(n string) (string, bool) { return n + ".5", isInteger(n) }),
	number("last-digit", "It is off by less than a double can tell", func(n string) (string, bool) {
		return n + ".0000000000000000000001", isInteger(n)
	}),
	number("decimal-notation", "It writes an integer as a double", func(n string) (string, bool) {
		return n + ".0", isInteger(n)
	}),
	number("integer-notation", "It writes a double as an integer", func(n string) (string, bool) {
		before, behind, _ := strings.Cut(n, ".")
		return before, !strings.ContainsAny(n, "eE") && behind != "" && strings.Trim(behind, "0") == ""
	}),
	number("double-neighbour", "It keeps integers in doubles, and one changes", func(n string) (string, bool) {
		i, ok := new(big.Int).SetString(n, 10)
		if !ok || i.IsInt64() && i.CmpAbs(big.NewInt(1<<53)) < 0 {
			return "", false
		}
		return i.Xor(i, big.NewInt(1)).String(), true
	}),
	number("huge", "It overflows", func(n string) (string, bool) { return "9223372036854775807", n != "9223372036854775807" }),
}

func isInteger(n string) bool { return !strings.ContainsAny(n, ".eE") }

func number(name, doc string, change func(string) (string, bool)) Operator {
	return values("number", name, doc, func(v *spot, _ uint64) (string, bool) {
		if v.node.Kind != jsontree.Number || v.class != fixed {
			return "", false
		}
		return change(v.node.Text)
	})
}

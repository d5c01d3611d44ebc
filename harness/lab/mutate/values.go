package mutate

import (
	"cmp"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// presenceOperators omit what should be there, and add what should not.
var presenceOperators = slices.Concat([]Operator{
	each("presence", "dropped", "It leaves a member out", members, func(v *value, yield emit) { yield(v.removed()) }),
	each("presence", "renamed", "It spells a member's name in another case", members, func(v *value, yield emit) {
		other := strings.ToUpper(v.name)
		if other == v.name {
			other = strings.ToLower(v.name)
		}
		if other == v.name {
			return
		}
		yield(v.mutant(other, func(n, parent *jsontree.Node, i int) *jsontree.Node {
			parent.Names[i] = other
			return n
		}))
	}),
	each("presence", "added", "It adds a member", (*Subject).values, func(v *value, yield emit) {
		if v.node.Kind == jsontree.Object {
			yield(v.mutant(`… "mutated": true`, func(n, _ *jsontree.Node, _ int) *jsontree.Node {
				addMember(n, "mutated", mustParse("true"))
				return n
			}))
		}
	}),
	replaceKind("presence", "emptied", "It sends an object without members", jsontree.Object, func(n *jsontree.Node) string {
		if len(n.Items) == 0 {
			return ""
		}
		return "{}"
	}),
	each("presence", "twice", "It sends a member twice", members, func(v *value, yield emit) {
		yield(v.mutant("twice", func(n, parent *jsontree.Node, _ int) *jsontree.Node {
			addMember(parent, v.name, n)
			return n
		}))
	}),
}, bodyOperators)

// nullOperators confuse null with other ways of having nothing.
var nullOperators = []Operator{
	replaceValues("null", "value", "It sends null instead of a value", func(v *value, _ uint64) string {
		if v.node.Kind == jsontree.Null {
			return ""
		}
		return "null"
	}),
	each("null", "left-out", "It leaves out a member that is null", members, func(v *value, yield emit) {
		if v.node.Kind == jsontree.Null {
			yield(v.removed())
		}
	}),
	sendInstead("null", "empty-text", "It sends an empty text instead of null", jsontree.Null, `""`),
	sendInstead("null", "false", "It sends false instead of null", jsontree.Null, "false"),
	each("null", "added", "It adds a member that is null", members, func(v *value, yield emit) {
		if v.parent.Items[0] != v.node { // once for each object
			return
		}
		yield(v.mutant(`… "mutated": null`, func(n, parent *jsontree.Node, _ int) *jsontree.Node {
			addMember(parent, "mutated", mustParse("null"))
			return n
		}))
	}),
	sendInstead("null", "word", "It sends null as a text", jsontree.Null, `"null"`),
}

func addMember(n *jsontree.Node, name string, member *jsontree.Node) {
	n.Names, n.Items = append(slices.Clip(n.Names), name), append(slices.Clip(n.Items), member)
}

// removed returns the mutant without the value.
func (v *value) removed() Mutant {
	return v.mutant("", func(_, _ *jsontree.Node, _ int) *jsontree.Node { return nil })
}

// replaceKind makes an operator that replaces values of one kind. The function returns the new value as JSON, or "".
func replaceKind(family, name, doc string, kind jsontree.Kind, change func(*jsontree.Node) (json string)) Operator {
	return replaceValues(family, name, doc, func(v *value, _ uint64) string {
		if v.node.Kind != kind {
			return ""
		}
		return change(v.node)
	})
}

// sendInstead makes an operator that replaces all values of one kind by one value.
func sendInstead(family, name, doc string, kind jsontree.Kind, json string) Operator {
	return replaceKind(family, name, doc, kind, func(*jsontree.Node) string { return json })
}

// typeOperators send a value as another type.
var typeOperators = []Operator{
	replaceKind("type", "number-as-text", "It sends a number as a text", jsontree.Number, func(n *jsontree.Node) string { return quoted(n.Text) }),
	replaceKind("type", "text-as-number", "It sends a text of digits as a number", jsontree.String, func(n *jsontree.Node) string {
		if _, err := strconv.ParseUint(n.Text, 10, 53); err != nil || n.Text[0] == '0' && len(n.Text) > 1 {
			return ""
		}
		return n.Text
	}),
	replaceKind("type", "text-as-object", "It sends an object instead of a text", jsontree.String, func(n *jsontree.Node) string {
		return `{"value":` + n.String() + "}"
	}),
	replaceKind("type", "boolean-as-text", "It sends true or false as a text", jsontree.Boolean, func(n *jsontree.Node) string { return quoted(n.Text) }),
	replaceKind("type", "boolean-as-number", "It sends true or false as a number", jsontree.Boolean, func(n *jsontree.Node) string {
		return map[string]string{"true": "1", "false": "0"}[n.Text]
	}),
	replaceValues("type", "wrapped", "It sends a list of one element instead of a value", func(v *value, _ uint64) string {
		if v.parent == nil || len(v.node.Items) > 0 || v.node.Kind == jsontree.Null {
			return ""
		}
		return "[" + v.node.String() + "]"
	}),
	sendInstead("type", "object-as-list", "It sends a list instead of an object", jsontree.Object, "[]"),
	sendInstead("type", "list-as-object", "It sends an object instead of a list", jsontree.Array, "{}"),
	replaceKind("type", "json-as-text", "It sends an object as a text that contains its JSON", jsontree.Object, func(n *jsontree.Node) string {
		if len(n.Items) > 20 {
			return ""
		}
		return quoted(n.String())
	}),
}

// booleanOperators invert booleans.
var booleanOperators = []Operator{
	replaceKind("boolean", "flipped", "It sends true instead of false, and false instead of true", jsontree.Boolean, func(n *jsontree.Node) string {
		return map[string]string{"true": "false", "false": "true"}[n.Text]
	}),
}

// numberOperators send another number for one that both sides have.
var numberOperators = []Operator{
	changeNumber("plus-one", "It counts one too many", func(n string) string { return plus(n, 1) }),
	changeNumber("minus-one", "It counts one too few", func(n string) string { return plus(n, -1) }),
	changeNumber("negative", "It has the wrong sign", func(n string) string {
		if positive, ok := strings.CutPrefix(n, "-"); ok {
			return unlessEqual(n, positive)
		}
		return unlessEqual(n, "-"+n)
	}),
	changeNumber("zero", "It always sends zero", func(n string) string { return unlessEqual(n, "0") }),
	changeNumber("tenfold", "It is off by a factor of ten", func(n string) string { return unlessEqual(n, appendDigits(n, "0")) }),
	changeNumber("fraction", "It does not round", func(n string) string { return appendDigits(n, ".5") }),
	changeNumber("last-digit", "It is off by less than the precision of a double", func(n string) string { return appendDigits(n, ".0000000000000000000001") }),
	changeNumber("decimal-notation", "It writes an integer as a double", func(n string) string { return appendDigits(n, ".0") }),
	changeNumber("integer-notation", "It writes a double as an integer", func(n string) string {
		before, behind, _ := strings.Cut(n, ".")
		if strings.ContainsAny(n, "eE") || behind == "" || strings.Trim(behind, "0") != "" {
			return ""
		}
		return before
	}),
	changeNumber("double-neighbour", "It stores integers as doubles, and one changes", func(n string) string {
		i, ok := new(big.Int).SetString(n, 10)
		if !ok || i.IsInt64() && i.CmpAbs(big.NewInt(1<<53)) < 0 {
			return ""
		}
		return i.Xor(i, big.NewInt(1)).String()
	}),
	changeNumber("huge", "It overflows", func(string) string { return "9223372036854775807" }),
}

// plus returns an integer plus another one, or "".
func plus(n string, more int64) string {
	i, err := strconv.ParseInt(n, 10, 53)
	if err != nil {
		return ""
	}
	return strconv.FormatInt(i+more, 10)
}

// appendDigits returns an integer with more digits behind it, or "".
func appendDigits(n, digits string) string {
	if !jsontree.IsInteger(n) {
		return ""
	}
	return n + digits
}

// unlessEqual returns a number if it is not equal to another one, and otherwise "".
func unlessEqual(n, after string) string {
	if after == "" || jsontree.EqualNumbers(n, after) {
		return ""
	}
	return after
}

// changeNumber makes an operator from a function that returns another number, or "" or the same number if it has none.
func changeNumber(name, doc string, change func(string) string) Operator {
	return replaceValues("number", name, doc, func(v *value, _ uint64) string {
		if !v.is(jsontree.Number, fixed) {
			return ""
		}
		if after := change(v.node.Text); after != v.node.Text {
			return after
		}
		return ""
	})
}

// stringOperators send another text for one that both sides have.
var stringOperators = []Operator{
	changeText("empty", "It sends an empty text", func(string) string { return "" }),
	changeText("filled", "It sends a text instead of an empty one", func(s string) string { return cmp.Or(s, "mutated") }),
	changeText("other", "It sends another text", func(string) string { return "mutated" }),
	changeText("upper", "It writes in upper case", strings.ToUpper),
	changeText("lower", "It writes in lower case", strings.ToLower),
	changeText("shorter", "It leaves out the last character", func(s string) string {
		_, n := utf8.DecodeLastRuneInString(s)
		return s[:len(s)-n]
	}),
	changeText("blank", "It adds a blank at the end", func(s string) string { return s + " " }),
	changeText("first-blank", "It adds a blank at the beginning", func(s string) string { return " " + s }),
	changeText("line", "It adds an end of line", func(s string) string { return s + "\n" }),
	replaceValues("string", "character", "It has one character wrong", func(v *value, seed uint64) string {
		return v.otherText(oneCharacterWrong(v.node.Text, seed))
	}),
	changeText("look-alike", "It has a character that looks the same", func(s string) string {
		for _, pair := range [][2]string{{" ", "\u00a0"}, {"a", "\u0430"}, {"e", "\u0435"}, {"o", "\u043e"}, {"-", "\u2010"}} {
			if strings.Contains(s, pair[0]) {
				return strings.Replace(s, pair[0], pair[1], 1)
			}
		}
		return s
	}),
	changeText("decomposed", "It decomposes letters with accents",
		strings.NewReplacer("ä", "a\u0308", "ö", "o\u0308", "ü", "u\u0308", "é", "e\u0301").Replace),
	changeText("no-unicode", "It replaces characters outside ASCII", func(s string) string {
		return strings.Map(func(r rune) rune {
			if r > 127 {
				return '?'
			}
			return r
		}, s)
	}),
	changeText("escaped", "It escapes a text twice", strings.NewReplacer(`"`, `\"`, "\n", `\n`, "<", "&lt;", "/", "%2F").Replace),
	operator("string", "constant", "It always sends another text that looks generated instead of a constant", func(s *Subject, seed uint64, yield emit) {
		done := map[string]bool{}
		for v := range s.values() {
			text := v.node.Text
			if inner, _ := embeddedObject(v.node); inner != nil || v.doc.packed || !v.is(jsontree.String, fixed) || done[text] || !looksGenerated(text) || text == s.Candidate.Unique {
				continue
			}
			done[text] = true
			other := similarID(text, seed)
			m := v.set(quoted(other))
			yield(s.mutant(m.site, m.Place, m.Before, m.After, func(t *transcript.Transcript) { rewriteSent(t, replaceWord(text, other)) }))
		}
	}),
	each("string", "plain", "It sends another text in a body that is not JSON", (*Subject).responses, func(e *exchange, yield emit) {
		if e.x.Stream == "" && !isJSON(e.x.Response.Header) && len(e.body()) > 0 {
			yield(e.withBody(append([]byte("x"), e.body()...)))
		}
	}),
	each("string", "event-text", "It sends another text in an event that is not JSON", contentEvents, func(e *event, yield emit) {
		if strings.TrimSpace(e.ev.Data) != "" && !isObjectOrList(e.ev.Data) {
			yield(e.mutant(" data", e.ev.Data, e.ev.Data+"x", func(ev *transcript.Event) { ev.Data += "x" }))
		}
	}),
}

// changeText makes an operator from a function that returns another text, or the same text if it has none.
func changeText(name, doc string, change func(string) string) Operator {
	return replaceValues("string", name, doc, func(v *value, _ uint64) string { return v.otherText(change(v.node.Text)) })
}

// otherText returns a text as JSON for a text that both sides have, or "" if it is the same.
func (v *value) otherText(after string) string {
	if !v.is(jsontree.String, fixed) || after == v.node.Text || after == v.doc.s.Candidate.Unique {
		return ""
	}
	return quoted(after)
}

func oneCharacterWrong(s string, seed uint64) string {
	if s == "" {
		return s
	}
	out := []byte(s)
	start := int(splitMix64(seed) % uint64(len(out)))
	for i := range out {
		at := (start + i) % len(out)
		if next, ok := otherCharacter(out[at], seed); ok {
			out[at] = next
			break
		}
	}
	return string(out)
}

// looksGenerated reports whether a text may be an id, by its length, letters and digits.
func looksGenerated(s string) bool {
	const shortest = 16
	return len(s) >= shortest && isPlainID(s) && strings.ContainsAny(s, "0123456789")
}

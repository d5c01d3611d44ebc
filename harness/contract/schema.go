package contract

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// A schema is a Schema Object (OpenAPI 3.0.3 §4.7.24) made ready to judge values. Schemas refer to one another in
// circles; each exists once in a document.
type schema struct {
	ref string // where it stands: "#/components/schemas/Pet"

	types    kindSet // 0: any
	integer  bool
	nullable bool // says so itself; acceptsNull is what counts
	enum     []enumValue
	enumText string

	pattern     *regexp.Regexp
	patternText string
	format      *format // of a string
	minLength   int
	maxLength   int // -1: none

	numberFormat *format
	min, max     *bound
	openMin      bool // exclusiveMinimum
	openMax      bool
	multipleOf   *bound

	items              *schema
	minItems, maxItems int
	unique             bool

	properties         map[string]*schema
	names              []string // of properties, sorted
	required           []string
	extra              extraFields
	additional         *schema // what additionalProperties says of the value, when it is a schema
	minFields          int
	maxFields          int
	readOnly           bool
	writeOnly          bool
	optionalInRequest  map[string]bool // the fields that are read-only in this schema or in one of its parts
	optionalInResponse map[string]bool // write-only

	// parts are the schema itself and all that it takes in by allOf, however deep, each once.
	parts        []*schema
	anyOf, oneOf []*schema
	not          *schema
	tag          *tag
	// compound: the schema puts other schemas beside itself, on the same value. Only these can lead in a circle without
	// a step into the value, or to the same schema on two ways.
	compound    bool
	acceptsNull bool
	wants       kindSet // the kinds of value that could match, its alternatives included
}

// extraFields says what an object may have beside its declared properties.
type extraFields byte

const (
	extraSilent  extraFields = iota // additionalProperties is absent: allowed, yet nobody has named them
	extraAllowed                    // true, or a schema
	extraRefused                    // false
)

// An enumValue is one allowed value. The loader has read a number as a double; number says how exactly.
type enumValue struct {
	node   *jsontree.Node
	number *bound
}

func (e enumValue) is(n *jsontree.Node) bool {
	if e.number != nil && n.Kind == jsontree.Number {
		return e.number.compare(n.Text) == 0
	}
	return same(n, e.node)
}

// kindSet is a set of JSON types.
type kindSet byte

const anyKind kindSet = 63

// bit returns the set of one kind. A switch, because this is asked of every value.
func bit(k jsontree.Kind) kindSet {
	switch k {
	case jsontree.String:
		return 8
	case jsontree.Object:
		return 32
	case jsontree.Number:
		return 4
	case jsontree.Array:
		return 16
	case jsontree.Boolean:
		return 2
	default:
		return 1
	}
}

// wantedType says which types the schema asks for: "an integer", "a string or null".
func (s *schema) wantedType() string {
	var words []string
	for _, k := range []jsontree.Kind{jsontree.Boolean, jsontree.Number, jsontree.String, jsontree.Array, jsontree.Object} {
		if s.types&bit(k) == 0 {
			continue
		}
		word := k.String()
		if s.integer && k == jsontree.Number {
			word = "integer"
		}
		article := "a "
		if strings.ContainsRune("aeio", rune(word[0])) {
			article = "an "
		}
		words = append(words, article+word)
	}
	if words == nil {
		return "a value other than null"
	}
	if s.acceptsNull {
		words = append(words, "null")
	}
	return strings.Join(words, " or ")
}

// refs lists where schemas stand.
func refs(list []*schema) string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = s.ref
	}
	if len(out) > 4 {
		out = append(out[:3], fmt.Sprintf("%d others", len(list)-3))
	}
	return strings.Join(out, ", ")
}

package scaffold

import (
	"math"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// unique is the expression for a token that no other scenario has. someUnique looks like all of its values.
const (
	unique     = "${{ unique }}"
	someUnique = "uabcdefghijk"
)

// formats are strings of the formats that OpenAPI names, and of others that are common in documents.
var formats = map[string]string{
	"date-time": "2026-01-02T03:04:05Z", "date": "2026-01-02", "time": "03:04:05Z", "duration": "PT5M",
	"uuid": "3f2b8c1e-5d4a-4c6b-9e7f-0a1b2c3d4e5f", "email": unique + "@example.com", "idn-email": unique + "@example.com",
	"uri": "https://example.com/" + unique, "url": "https://example.com/" + unique, "uri-reference": "/" + unique, "iri": "https://example.com/" + unique,
	"hostname": "example.com", "ipv4": "192.0.2.1", "ipv6": "2001:db8::1", "byte": "dGV4dA==", "binary": "bytes",
	"password": "correct horse", "json-pointer": "/name", "regex": "^a$",
}

// stringOf returns a string of a schema: with its format or its pattern, or otherwise one that begins with its name.
func stringOf(schema *openapi3.Schema, name string) *jsontree.Node {
	s, known := formats[schema.Format]
	switch {
	case schema.Pattern != "":
		made, ok := matching(schema.Pattern, int(schema.MinLength))
		if !ok {
			return nil
		}
		return text(made)
	case !known:
		s = name + "-" + unique
	}
	size := len(strings.ReplaceAll(s, unique, someUnique))
	switch longest := schema.MaxLength; {
	case longest != nil && *longest < uint64(size):
		s = strings.Repeat("a", min(int(max(1, schema.MinLength)), int(*longest)))
	case schema.MinLength > uint64(size) && schema.MinLength < 10_000:
		s += strings.Repeat("a", int(schema.MinLength)-size)
	}
	return jsontree.NewText(s)
}

// matching returns a string that an expression matches. If a repetition allows it, the string has at least this many
// bytes.
func matching(pattern string, least int) (string, bool) {
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return "", false
	}
	compiled, err := regexp.Compile(pattern)
	if err != nil {
		return "", false
	}
	for _, more := range []int{0, 1, least, 2 * least} {
		if more > 10_000 {
			break
		}
		var b strings.Builder
		write(&b, tree.Simplify(), more)
		if s := b.String(); len(s) >= least && compiled.MatchString(s) && s != "" {
			return s, true
		}
	}
	return "", false
}

// write writes the first string that an expression matches. It repeats an unlimited repetition more times.
func write(b *strings.Builder, e *syntax.Regexp, more int) {
	switch e.Op {
	case syntax.OpLiteral:
		b.WriteString(string(e.Rune))
	case syntax.OpCharClass:
		b.WriteRune(readable(e.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteByte('a')
	case syntax.OpStar, syntax.OpPlus:
		n := more
		if e.Op == syntax.OpPlus {
			n = max(1, more)
		}
		for range n {
			write(b, e.Sub[0], 0)
		}
	case syntax.OpQuest:
		if more > 0 {
			write(b, e.Sub[0], more)
		}
	case syntax.OpAlternate:
		write(b, e.Sub[0], more)
	case syntax.OpCapture, syntax.OpConcat:
		for _, sub := range e.Sub {
			write(b, sub, more)
		}
	}
}

// readable returns a character of a class. It prefers a letter or a digit.
func readable(ranges []rune) rune {
	for _, wanted := range []rune{'a', 'A', '1', '0'} {
		for i := 0; i+1 < len(ranges); i += 2 {
			if ranges[i] <= wanted && wanted <= ranges[i+1] {
				return wanted
			}
		}
	}
	for i := 0; i+1 < len(ranges); i += 2 {
		if ranges[i+1] >= ' ' {
			return max(ranges[i], ' ')
		}
	}
	return 'a' // the class has no printable character, and the result will not match
}

// number returns the number of a schema that is nearest to 1.
func number(schema *openapi3.Schema) *jsontree.Node {
	step := 1.0
	whole := schema.Type != nil && schema.Type.Is(openapi3.TypeInteger)
	if schema.MultipleOf != nil && *schema.MultipleOf > 0 {
		step = *schema.MultipleOf
	} else if !whole {
		step = 0.5
	}
	v := math.Max(1, step)
	least, above := limit(schema.Min, schema.ExclusiveMin)
	most, below := limit(schema.Max, schema.ExclusiveMax)
	if least != nil && v <= *least {
		v = math.Ceil(*least/step) * step
		if above && v <= *least {
			v += step
		}
	}
	if most != nil && v >= *most {
		v = math.Floor(*most/step) * step
		if below && v >= *most {
			v -= step
		}
		if least != nil && v < *least {
			v = (*least + *most) / 2
		}
	}
	return &jsontree.Node{Kind: jsontree.Number, Text: strconv.FormatFloat(v, 'f', -1, 64)}
}

// limit returns a bound of a number, and whether the number must differ from it. An exclusive bound is a boolean before
// OpenAPI 3.1, and a number since then.
func limit(bound *float64, exclusive openapi3.ExclusiveBound) (*float64, bool) {
	if exclusive.Value != nil {
		return exclusive.Value, true
	}
	return bound, exclusive.IsTrue()
}

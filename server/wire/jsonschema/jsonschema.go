// Package jsonschema validates values against JSON Schemas at a limited cost: neither a schema nor a value can make
// it run for long (decisions G28 and G35).
package jsonschema

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/lockstep-dev/lockstep/server/wire/excerpt"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// A Schema is a valid JSON Schema. Its methods are safe for concurrent use.
type Schema struct {
	text     json.RawMessage
	compiled *jsonschema.Schema

	mu   sync.Mutex // guards left, which belongs to one validation at a time
	left *int
}

// Rules restrict schemas further than the bounds of this package. The zero value does not.
type Rules struct {
	// Drafts are the values of $schema that are allowed, without a fragment. Nil means those that the library knows.
	Drafts []string
	// IgnoreFormats means that the keyword format does not constrain a value.
	IgnoreFormats bool
	// MaxSchemas is the maximum number of schemas in a schema. 0 means no maximum.
	MaxSchemas int
}

// Compile compiles a schema, which must be in canonical form.
func Compile(text json.RawMessage) (*Schema, error) { return Rules{}.Compile(text) }

// Compile is like the function, and fails for a schema that breaks the rules.
func (r Rules) Compile(text json.RawMessage) (*Schema, error) {
	if len(text) > maxSize {
		return nil, fmt.Errorf("it has more than %d bytes", maxSize)
	}
	if wrong := beyond(text); wrong != nil {
		return nil, fmt.Errorf("%s: %s", wrong.At, wrong.Reason)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	if given := jsonwire.Text(text).Get("$schema"); given != nil && r.Drafts != nil && !slices.Contains(r.Drafts, strings.TrimSuffix(given.Str(), "#")) {
		return nil, fmt.Errorf("its $schema is %s; the drafts that are known are %s", excerpt.Quoted(string(given)), strings.Join(r.Drafts, ", "))
	}
	const name = "output:schema"
	compiler := jsonschema.NewCompiler()
	compiler.UseLoader(jsonschema.SchemeURLLoader{}) // nothing is fetched
	if err := compiler.AddResource(name, document); err != nil {
		return nil, err
	}
	s := &Schema{text: text, left: new(int)}
	if s.compiled, err = compiler.Compile(name); err != nil {
		return nil, err
	}
	counter := counter{left: s.left, ignoreFormats: r.IgnoreFormats, seen: map[*jsonschema.Schema]bool{}}
	counter.count(s.compiled)
	if schemas := len(counter.seen); r.MaxSchemas > 0 && schemas > r.MaxSchemas {
		return nil, fmt.Errorf("it has %d schemas, more than %d", schemas, r.MaxSchemas)
	}
	return s, nil
}

// A Problem is one thing that is wrong with a value.
type Problem struct {
	At     string // a JSON Pointer (RFC 6901)
	Reason string // one line
}

// Judge validates a value in canonical form. It returns the first problems by place, at most the given number, and
// how many more there are.
func (s *Schema) Judge(value json.RawMessage, most int) (problems []Problem, more int) {
	if wrong := beyond(value); wrong != nil {
		return []Problem{*wrong}, 0
	}
	decoded, err := jsonschema.UnmarshalJSON(bytes.NewReader(value))
	if err == nil {
		err = s.validate(decoded)
	}
	var invalid *jsonschema.ValidationError
	if !errors.As(err, &invalid) {
		if err != nil {
			problems = []Problem{{Reason: err.Error()}}
		}
		return problems, 0
	}
	var leaves []leaf
	collect(&leaves, invalid)
	slices.SortStableFunc(leaves, func(a, b leaf) int { return cmp.Compare(a.at, b.at) })
	more = max(0, len(leaves)-most)
	for _, l := range leaves[:len(leaves)-more] {
		problems = append(problems, Problem{l.at, reason(l.err)})
	}
	return problems, more
}

// TooLong is the reason of the only problem of a value that takes too long to judge.
const TooLong = "it takes too long to judge"

var errTooLong = errors.New(TooLong)

func (s *Schema) validate(value any) (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	*s.left = maxLooks
	defer func() {
		if stopped := recover(); stopped == errTooLong {
			err = errTooLong
		} else if stopped != nil {
			panic(stopped)
		}
	}()
	return s.compiled.Validate(value)
}

// A leaf is an error without a further cause.
type leaf struct {
	at  string
	err *jsonschema.ValidationError
}

func collect(leaves *[]leaf, err *jsonschema.ValidationError) {
	for _, cause := range err.Causes {
		collect(leaves, cause)
	}
	if len(err.Causes) == 0 {
		*leaves = append(*leaves, leaf{pointer(err.InstanceLocation), err})
	}
}

var escaped = strings.NewReplacer("~", "~0", "/", "~1")

func pointer(steps []string) string {
	var b strings.Builder
	for _, step := range steps {
		b.WriteByte('/')
		escaped.WriteString(&b, step)
	}
	return b.String()
}

var english = message.NewPrinter(language.English)

// reason returns the text of an error on one line, shortened if it is long.
func reason(err *jsonschema.ValidationError) string {
	const most = 200
	text := strings.Join(strings.Fields(err.ErrorKind.LocalizedString(english)), " ")
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "..."
	}
	return text
}

// maxPretty is the maximum size in bytes of an indented schema.
const maxPretty = 64 << 10

// Shown returns the schema as a model should read it: indented by two blanks per level, or compact if that would be
// too long.
func (s *Schema) Shown() string {
	text := jsonwire.Text(s.text)
	if text.IndentedSize() > maxPretty {
		return string(s.text)
	}
	return string(text.Indented())
}

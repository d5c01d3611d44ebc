package spec

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
	"github.com/lockstep-dev/lockstep/internal/problem"
)

// validation selects what the loader's library checks. It does not check examples and defaults, because the library
// reads null and numbers differently from lockstep. Nor does it check patterns: one that RE2 does not support is no
// mistake.
var validation = []openapi3.ValidationOption{
	openapi3.EnableMultiError(),
	openapi3.DisableExamplesValidation(),
	openapi3.DisableSchemaDefaultsValidation(),
	openapi3.DisableSchemaPatternValidation(),
}

var errOtherFile = errors.New("refers to another file")

func newLoader() *openapi3.Loader {
	loader := openapi3.NewLoader()
	loader.ReadFromURIFunc = func(*openapi3.Loader, *url.URL) ([]byte, error) { return nil, errOtherFile }
	return loader
}

// load reads and validates a document. Only a document with a mistake is read again with lines, which takes as long as
// everything else. If its mistakes are all harmless, that is left to notes.
func load(src *source) (doc *openapi3.T, notes func() problem.Problems, ps problem.Problems) {
	if depth(src.text) > maxDepth {
		return nil, nil, problem.Problems{{What: fmt.Sprintf("the document is nested more than %d deep", maxDepth)}}
	}
	if ps := src.brokenJSON(); ps != nil {
		return nil, nil, ps
	}
	doc, err := loadPlain(src)
	if err != nil {
		if doc, err = read(withoutAnchors(src, src.text)); err != nil {
			return nil, nil, explainLoad(src, err)
		}
	}
	if !knownVersion.MatchString(doc.OpenAPI) {
		return nil, nil, problem.Problems{wrongVersion(doc, src)}
	}
	mistakes := validate(doc)
	if !slices.ContainsFunc(mistakes, isHarmful) {
		return doc, func() problem.Problems {
			found, above := withLines(src, mistakes)
			return append(nullConstants(src), explainInvalid(src, found, above)...)
		}, nil
	}
	found, above := withLines(src, mistakes)
	return nil, nil, explainInvalid(src, slices.DeleteFunc(found, func(err error) bool { return !isHarmful(err) }), above)
}

// read reads a text with the loader. It accepts a schema whose examples are not a list, because examples are harmless.
func read(text []byte) (*openapi3.T, error) {
	if doc, err := decode(text); err == nil {
		return doc, newLoader().ResolveRefsIn(doc, nil)
	}
	doc, err := newLoader().LoadFromData(text)
	if err != nil && strings.Contains(err.Error(), "Schema.examples") {
		if text, ok := withoutNamedExamples(text); ok {
			return newLoader().LoadFromData(text)
		}
	}
	return doc, err
}

func validate(doc *openapi3.T) openapi3.MultiError {
	err := doc.Validate(context.Background(), validation...)
	if list, ok := err.(openapi3.MultiError); ok || err == nil {
		return list
	}
	return openapi3.MultiError{err}
}

// withLines finds the mistakes of a document again, with their lines. above is how many lines the loader saw above the
// document.
func withLines(src *source, mistakes openapi3.MultiError) (found openapi3.MultiError, above int) {
	if len(mistakes) == 0 {
		return nil, 0
	}
	text := withoutAnchors(src, src.text)
	if src.beginsAsJSON() {
		if len(text) > maxJSONWithLines {
			return mistakes, 0
		}
		text, above = append([]byte("# JSON\n"), text...), 1 // the loader has lines for YAML only, and tries JSON first
	}
	loader := newLoader()
	loader.IncludeOrigin = true
	if doc, err := loader.LoadFromData(text); err == nil {
		return validate(doc), above
	}
	return mistakes, 0
}

// maxJSONWithLines limits the size of documents in JSON that are read as YAML, which takes seconds for ten megabytes.
const maxJSONWithLines = 2 << 20

// knownVersion is the versions of OpenAPI that are read.
var knownVersion = regexp.MustCompile(`^3\.[012]\.`)

// loadPlain reads the usual form of documents in YAML as YAML 1.2, because the loader reads YAML 1.1. It fails for
// everything else.
func loadPlain(src *source) (*openapi3.T, error) {
	if src.beginsAsJSON() {
		return nil, errNotPlain
	}
	text, ok := src.read().PlainJSON()
	if !ok {
		return nil, errNotPlain
	}
	return read(withoutAnchors(src, text))
}

var errNotPlain = errors.New("not plain YAML")

func wrongVersion(doc *openapi3.T, src *source) problem.Problem {
	if doc.OpenAPI == "" {
		p := problem.Problem{What: "this is not an OpenAPI 3 document: it has no key openapi"}
		if _, version := src.read().Root.Entry("swagger"); version != nil {
			p = src.Problem("#/swagger", "this is a document of Swagger "+problem.Quote(version.Text)+", which OpenAPI 3 replaces",
				"convert it: npx swagger2openapi --patch --outfile openapi.yaml swagger.yaml")
		}
		return p
	}
	return src.Problem("#/openapi", "openapi is "+problem.Quote(doc.OpenAPI), "write the document in OpenAPI 3.0, 3.1 or 3.2; 3.1.1, for example")
}

// maxDepth is deeper than any document that a person or a generator writes. The loader's time grows with its square.
const maxDepth = 200

// depth returns an upper limit for the nesting of a document, without parsing it: from its brackets, or its
// indentation.
func depth(data []byte) int {
	var indents []int
	brackets, deepest := 0, 0
	for line := range bytes.Lines(data) {
		content := bytes.TrimLeft(line, " \t-")
		if len(bytes.TrimSpace(content)) == 0 {
			continue
		}
		// "- - - x" nests with each dash, so dashes count as indentation.
		indent := len(line) - len(content)
		dashes := bytes.Count(line[:indent], []byte("-"))
		for len(indents) > 0 && indents[len(indents)-1] >= indent {
			indents = indents[:len(indents)-1]
		}
		indents = append(indents, indent)
		for _, c := range content {
			switch c {
			case '{', '[':
				brackets++
			case '}', ']':
				brackets = max(0, brackets-1)
			}
			deepest = max(deepest, brackets)
		}
		deepest = max(deepest, len(indents)+dashes)
	}
	return deepest
}

// brokenJSON reports defects of JSON documents that the loader ignores, and where a document stops being JSON.
func (s *source) brokenJSON() (ps problem.Problems) {
	if !s.beginsAsJSON() || s.strict() == nil {
		return nil
	}
	broken := s.loose()
	if broken != nil && !bytes.HasPrefix(bytes.TrimSpace(s.text), []byte(`{"`)) {
		return nil // YAML in flow style
	}
	_, defects, err := jsontree.Parse(s.text)
	for _, f := range defects {
		p := s.stop(broken)
		if broken == nil {
			p = s.Problem("#"+f.Pointer, "", "")
		}
		p.What = strings.TrimSpace(f.Pointer + " " + f.Text)
		if f.Kind == jsontree.DuplicateName {
			p.Fix = "remove one of them"
		}
		ps = append(ps, p)
	}
	if err != nil {
		p := s.stop(broken)
		p.What = "the document is not JSON: " + err.Error()
		if at, ok := errors.AsType[*jsontext.SyntacticError](broken); ok && !errors.Is(at, io.ErrUnexpectedEOF) {
			p.What = "the document is not JSON: " + at.Err.Error() // without the offset
		}
		ps = append(ps, p)
	}
	return ps
}

// stop returns the place of an error in JSON.
func (s *source) stop(err error) problem.Problem {
	p := problem.Problem{Line: 1, Column: 1}
	if at, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		before := s.text[:min(int(at.ByteOffset), len(s.text))]
		p.Line += bytes.Count(before, []byte("\n"))
		p.Column += utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:])
	}
	return p
}

// inlineSchema reads a schema inside of an extension, which the loader ignores. It lets the loader resolve its
// references in a document with the same components.
func inlineSchema(doc *openapi3.T, object map[string]any) (*openapi3.SchemaRef, error) {
	text, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	in := new(openapi3.SchemaRef)
	if err := json.Unmarshal(text, in); err != nil {
		return nil, err
	}
	if bytes.Contains(text, []byte(`"$ref"`)) {
		all := openapi3.Schemas{"the schema of an event": in}
		if doc.Components != nil {
			maps.Copy(all, doc.Components.Schemas)
		}
		with := &openapi3.T{OpenAPI: doc.OpenAPI, Components: &openapi3.Components{Schemas: all}}
		if err := newLoader().ResolveRefsIn(with, nil); err != nil {
			return nil, err
		}
	}
	options := slices.Clone(validation)
	if doc.IsOpenAPI31OrLater() { // for a whole document, Validate does this itself
		options = append(options, openapi3.IsOpenAPI31OrLater())
	}
	if doc.IsOpenAPI32OrLater() {
		options = append(options, openapi3.IsOpenAPI32OrLater())
	}
	return in, in.Validate(context.Background(), options...)
}

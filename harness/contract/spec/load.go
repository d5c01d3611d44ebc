package spec

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

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
// everything else.
func load(src *source) (*openapi3.T, problem.Problems) {
	if depth(src.text) > maxDepth {
		return nil, problem.Problems{{What: fmt.Sprintf("the document is nested more than %d deep", maxDepth)}}
	}
	if ps := src.checkJSON(); ps != nil {
		return nil, ps
	}
	doc, ok := loadPlain(src)
	if !ok {
		var err error
		if doc, err = newLoader().LoadFromData(src.text); err != nil {
			return nil, explainLoad(src, err)
		}
	}
	if !strings.HasPrefix(doc.OpenAPI, "3.0.") {
		return nil, problem.Problems{wrongVersion(doc, src)}
	}
	if doc.Validate(context.Background(), validation...) == nil {
		return doc, nil
	}
	loader := newLoader()
	loader.IncludeOrigin = true
	doc, err := loader.LoadFromData(src.text)
	if err != nil {
		return nil, explainLoad(src, err)
	}
	return nil, explainInvalid(doc.Validate(context.Background(), validation...))
}

// loadPlain reads the usual form of documents in YAML as YAML 1.2, because the loader reads YAML 1.1. It reports false
// for everything else, including mistakes.
func loadPlain(src *source) (*openapi3.T, bool) {
	if src.beginsAsJSON() {
		return nil, false
	}
	text, ok := src.read().PlainJSON()
	if !ok {
		return nil, false
	}
	doc, err := newLoader().LoadFromData(text)
	return doc, err == nil
}

func wrongVersion(doc *openapi3.T, src *source) problem.Problem {
	p := src.Problem("#/openapi", "openapi is "+problem.Quote(doc.OpenAPI), "write the document in OpenAPI 3.0, and 3.0.3 here")
	if strings.HasPrefix(doc.OpenAPI, "3.1.") {
		p.Fix = "write the document in OpenAPI 3.0; a converter does it: npx @apiture/openapi-down-convert --input openapi.yaml --output openapi-3.0.yaml"
	}
	if doc.OpenAPI == "" {
		p.What = "this is not an OpenAPI 3 document: it has no key openapi"
	}
	return p
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

// checkJSON reports defects of JSON documents that the loader ignores.
func (s *source) checkJSON() (ps problem.Problems) {
	if !s.beginsAsJSON() {
		return nil
	}
	_, defects, err := jsontree.Parse(s.text)
	if err != nil && !bytes.HasPrefix(bytes.TrimSpace(s.text), []byte(`{"`)) {
		return nil // YAML in flow style
	}
	for _, f := range defects {
		ps = append(ps, problem.Problem{What: strings.TrimSpace(f.Pointer + " " + f.Text)})
	}
	if err != nil {
		ps = append(ps, problem.Problem{What: "the document is not JSON: " + err.Error()})
	}
	return ps
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
	return in, in.Validate(context.Background(), validation...)
}

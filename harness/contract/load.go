package contract

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
	"github.com/lockstep-dev/lockstep/internal/yamldoc"
)

// validation is what the loader's library checks of a document. It does not check examples and defaults, because its
// reading of null and of numbers differs from ours, nor patterns: one that RE2 does not know is no mistake.
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

// load reads and validates a document. A document with a mistake is read again with lines, which take as long as all
// the rest.
func load(data []byte, src *source) (*openapi3.T, Problems) {
	if depth(data) > maxDepth {
		return nil, Problems{{What: fmt.Sprintf("the document is nested more than %d deep", maxDepth)}}
	}
	if ps := checkJSON(data); ps != nil {
		return nil, ps
	}
	doc, ok := loadPlain(data)
	if !ok {
		var err error
		if doc, err = newLoader().LoadFromData(data); err != nil {
			return nil, explainLoad(data, src, err)
		}
	}
	if !strings.HasPrefix(doc.OpenAPI, "3.0.") {
		return nil, Problems{wrongVersion(doc, src)}
	}
	if doc.Validate(context.Background(), validation...) == nil {
		return doc, nil
	}
	loader := newLoader()
	loader.IncludeOrigin = true
	doc, err := loader.LoadFromData(data)
	if err != nil {
		return nil, explainLoad(data, src, err)
	}
	return nil, explainInvalid(doc.Validate(context.Background(), validation...))
}

// loadPlain reads what most documents are, at half the cost. It reports false for everything else, mistakes included.
func loadPlain(data []byte) (*openapi3.T, bool) {
	tree, ok := yamldoc.Plain(data)
	if !ok {
		return nil, false
	}
	doc, ok := decode(tree)
	return doc, ok && newLoader().ResolveRefsIn(doc, nil) == nil
}

func wrongVersion(doc *openapi3.T, src *source) Problem {
	p := src.problem("#/openapi", "openapi is "+quote(doc.OpenAPI), "write the document in OpenAPI 3.0, and 3.0.3 here")
	if strings.HasPrefix(doc.OpenAPI, "3.1.") {
		p.Fix = "write the document in OpenAPI 3.0; a converter does it: npx @apiture/openapi-down-convert --input openapi.yaml --output openapi-3.0.yaml"
	}
	if doc.OpenAPI == "" {
		p.What = "this is no OpenAPI 3 document: it has no key openapi"
	}
	return p
}

// maxDepth is more than any document of a person or a generator has. The loader's time grows with the square of it.
const maxDepth = 200

// depth bounds how deep a document is nested, without parsing it: by its brackets, or by its indentation.
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

// checkJSON reports what the loader passes over in a document that is written as JSON.
func checkJSON(data []byte) (ps Problems) {
	if !bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) {
		return nil
	}
	_, defects, err := jsontree.Parse(data)
	if err != nil && !strings.HasPrefix(string(bytes.TrimSpace(data)), `{"`) {
		return nil // YAML in flow style begins with a brace too
	}
	for _, f := range defects {
		ps = append(ps, Problem{What: strings.TrimSpace(f.Pointer + " " + f.Text)})
	}
	if err != nil {
		ps = append(ps, Problem{What: "the document is not JSON: " + err.Error()})
	}
	return ps
}

var (
	yamlLine = regexp.MustCompile(`^(?:yaml: )?line (\d+): (.*)$`)
	noise    = strings.NewReplacer("error converting YAML to JSON: ", "", "error unmarshaling JSON: while decoding JSON: ", "",
		"yaml: unmarshal errors:", "", "json: ", "")
)

// explainLoad turns the one error at which the loader stopped into problems, and adds the references it did not get to.
func explainLoad(data []byte, src *source, err error) (ps Problems) {
	if ps := yamldoc.Syntax("", data); ps != nil {
		return ps // the loader's words for it name another line
	}
	if _, text, ok := strings.Cut(err.Error(), "yaml error: "); ok {
		for line := range strings.Lines(noise.Replace(text)) {
			line = strings.TrimSpace(line)
			if m := yamlLine.FindStringSubmatch(line); m != nil {
				n, _ := strconv.Atoi(m[1])
				ps = append(ps, src.explainLine(n, m[2]))
			} else if line != "" {
				ps = append(ps, Problem{What: strings.TrimPrefix(line, "yaml: ")})
			}
		}
		return ps
	}
	if ps = unresolved(data, src); ps != nil {
		return ps
	}
	p := Problem{What: err.Error()}
	if m := quotedRef.FindStringSubmatch(p.What); m != nil {
		p.Line, p.Column = src.place(m[1])
	}
	return Problems{p}
}

var keyTwice = regexp.MustCompile(`^mapping key "(.*)" already defined at line (\d+)$`)

// explainLine adds to what is said of a line the column, where that is about a key which stands twice.
func (s *source) explainLine(line int, text string) Problem {
	p := Problem{Line: line, What: text}
	m := keyTwice.FindStringSubmatch(text)
	if m == nil || line > len(s.lines()) {
		return p
	}
	p.What, p.Fix = fmt.Sprintf("key %q stands twice, first in line %s", m[1], m[2]), "remove one of them"
	l := s.lines()[line-1]
	if at := strings.LastIndex(l.text, m[1]); at >= 0 && strings.Count(l.text, m[1]) <= 2 {
		if m[2] != strconv.Itoa(line) { // the first of the line, when the other stands elsewhere
			at = strings.Index(l.text, m[1])
		}
		p.Column = l.indent + utf8.RuneCountInString(l.text[:at]) + 1
	}
	return p
}

var quotedRef = regexp.MustCompile(`"([^"]*#/[^"]*)"`)

// explainInvalid turns the errors of the validation into problems. A mistake in a component is found again at each
// place that refers to it.
func explainInvalid(err error) (ps Problems) {
	seen := map[Problem]bool{}
	list, ok := err.(openapi3.MultiError)
	if !ok {
		list = openapi3.MultiError{err}
	}
	for _, err := range list {
		p, leaf := origin(err)
		p.What = strings.TrimPrefix(err.Error(), "invalid ")
		once := p
		if p.Line > 0 {
			once.What = leaf.Error()
		}
		if !seen[once] {
			seen[once] = true
			ps = append(ps, p)
		}
	}
	return ps
}

// origin returns the place that an error of the validation carries, and the innermost error. The types that have a field
// Origin are many and share no interface.
func origin(err error) (at Problem, leaf error) {
	for ; err != nil; err = errors.Unwrap(err) {
		leaf = err
		v := reflect.Indirect(reflect.ValueOf(err))
		if v.Kind() != reflect.Struct {
			continue
		}
		if f := v.FieldByName("Origin"); f.IsValid() && f.CanInterface() {
			if o, ok := f.Interface().(*openapi3.Origin); ok && o != nil && o.Key != nil {
				at.Line, at.Column = o.Key.Line, o.Key.Column
			}
		}
	}
	return at, leaf
}

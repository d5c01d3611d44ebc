package spec

import (
	"errors"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
	"github.com/lockstep-dev/lockstep/internal/problem"
	"github.com/lockstep-dev/lockstep/internal/yamldoc"
)

var (
	yamlLine = regexp.MustCompile(`^line (\d+): (.*)$`)
	noise    = strings.NewReplacer("error converting YAML to JSON: ", "", "error unmarshaling JSON: while decoding JSON: ", "",
		"yaml: unmarshal errors:", "", "json: ", "")
)

// explainLoad turns the first error of the loader into problems, and adds the mistakes that it did not reach.
func explainLoad(src *source, err error) (ps problem.Problems) {
	if mistakes := src.read().Mistakes; mistakes != nil {
		return mistakes
	}
	if _, text, ok := strings.Cut(err.Error(), "yaml error: "); ok {
		for line := range strings.Lines(noise.Replace(text)) {
			p := problem.Problem{What: strings.TrimPrefix(strings.TrimSpace(line), "yaml: ")}
			if m := yamlLine.FindStringSubmatch(p.What); m != nil {
				p.Line, _ = strconv.Atoi(m[1])
				p.What = m[2]
			}
			if p.What != "" {
				ps = append(ps, p)
			}
		}
		return ps
	}
	if ps = unresolved(src); ps != nil {
		return ps
	}
	p := problem.Problem{What: err.Error()}
	if m := quotedRef.FindStringSubmatch(p.What); m != nil {
		for _, ref := range keywords(nil, src.read().Root, false, "$ref", yamldoc.String) {
			if ref.Text == m[1] {
				p.Line, p.Column = ref.Line, ref.Column
				break
			}
		}
	}
	return problem.Problems{p}
}

var quotedRef = regexp.MustCompile(`"([^"]*#/[^"]*)"`)

// explainInvalid turns the errors of the validation into problems. A mistake in a component is found again at each place
// that refers to it, but reported once. above is subtracted from lines.
func explainInvalid(src *source, list openapi3.MultiError, above int) (ps problem.Problems) {
	seen := map[problem.Problem]bool{}
	for _, err := range list {
		p, leaf := origin(err)
		p.Line = max(0, p.Line-above)
		p.What = strings.TrimPrefix(err.Error(), "invalid ")
		if p.Line == 0 {
			p = src.Problem(named(p.What), p.What, "")
		}
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

var (
	namedPath      = regexp.MustCompile(`^paths: (?:conflicting paths "|invalid path )(/[^":]*)`)
	namedComponent = regexp.MustCompile(`^components: (schema|parameter|response|header|example) "([^"]*)"`)
)

// named returns a reference to what the message of a validation error names: a path, a component, or a key at the top.
func named(what string) string {
	if m := namedPath.FindStringSubmatch(what); m != nil {
		return jsontree.AppendName("#/paths", m[1])
	}
	if m := namedComponent.FindStringSubmatch(what); m != nil {
		return jsontree.AppendName("#/components/"+m[1]+"s", m[2])
	}
	key, _, _ := strings.Cut(what, ":")
	return "#/" + key
}

// origin returns the place of a validation error, and the innermost error. Many types have a field Origin, but they
// share no interface.
func origin(err error) (at problem.Problem, leaf error) {
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

package main

import (
	"fmt"
	"maps"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/oasdiff/oasdiff/load"
)

// A document is one of the two OpenAPI documents to compare.
type document struct {
	file  string
	plain *openapi3.T    // as written
	flat  *load.SpecInfo // in the form that is compared
}

// read reads a document and normalises it for the comparison. It merges allOf, because a field may be declared in
// either place, and gives the alternatives of a union titles.
func read(file string) (*document, error) {
	plain, err := load.NewSpecInfo(openapi3.NewLoader(), load.NewSource(file))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	if plain.Spec.Paths.Len() == 0 {
		return nil, fmt.Errorf("read %s: it has no paths", file)
	}
	flat, err := load.NewSpecInfo(openapi3.NewLoader(), load.NewSource(file), load.WithFlattenAllOf())
	if err != nil {
		return nil, fmt.Errorf("read %s: merge allOf: %w", file, err)
	}
	walk(flat.Spec, title)
	return &document{file: file, plain: plain.Spec, flat: flat}, nil
}

// drop removes paths from the document, and the schemas that only they use.
func (d *document) drop(paths []string) {
	for _, path := range paths {
		d.plain.Paths.Delete(path)
		d.flat.Spec.Paths.Delete(path)
	}
	used := map[string]bool{}
	walk(d.plain, func(ref *openapi3.SchemaRef) { used[strings.TrimPrefix(ref.Ref, "#/components/schemas/")] = true })
	if d.flat.Spec.Components != nil {
		maps.DeleteFunc(d.flat.Spec.Components.Schemas, func(name string, _ *openapi3.SchemaRef) bool { return !used[name] })
	}
}

func (d *document) operations() (n int) {
	for _, item := range d.plain.Paths.Map() {
		n += len(item.Operations())
	}
	return n
}

// title sets the title of each alternative of a tagged union to the value of its tag. oasdiff pairs alternatives by
// their titles. Without titles it would report different schemas, because only the contract names the alternatives.
func title(ref *openapi3.SchemaRef) {
	union := ref.Value
	if union.Discriminator == nil {
		return
	}
	for i, alternative := range union.OneOf {
		alternative.Value.Title = tag(alternative.Value, union.Discriminator.PropertyName)
		union.OneOf[i] = &openapi3.SchemaRef{Value: alternative.Value}
	}
}

// tag returns the value of an alternative's tag, or the first of several.
func tag(s *openapi3.Schema, property string) string {
	if p := s.Properties[property]; p != nil && len(p.Value.Enum) > 0 {
		return fmt.Sprint(p.Value.Enum[0])
	}
	return ""
}

// walk calls see once for every schema that an operation uses.
func walk(doc *openapi3.T, see func(*openapi3.SchemaRef)) {
	w := walker{see: see, seen: map[*openapi3.Schema]bool{}}
	for _, item := range doc.Paths.Map() {
		w.parameters(item.Parameters)
		for _, operation := range item.Operations() {
			w.operation(operation)
		}
	}
}

type walker struct {
	see  func(*openapi3.SchemaRef)
	seen map[*openapi3.Schema]bool
}

func (w walker) operation(o *openapi3.Operation) {
	w.parameters(o.Parameters)
	if o.RequestBody != nil {
		w.content(o.RequestBody.Value.Content)
	}
	for _, r := range o.Responses.Map() {
		w.content(r.Value.Content)
	}
}

func (w walker) parameters(list openapi3.Parameters) {
	for _, p := range list {
		w.schema(p.Value.Schema)
	}
}

func (w walker) content(all openapi3.Content) {
	for _, media := range all {
		w.schema(media.Schema)
	}
}

func (w walker) schema(ref *openapi3.SchemaRef) {
	if ref == nil || ref.Value == nil {
		return
	}
	w.see(ref)
	if w.seen[ref.Value] {
		return
	}
	w.seen[ref.Value] = true
	s := ref.Value
	for _, list := range []openapi3.SchemaRefs{s.OneOf, s.AnyOf, s.AllOf} {
		for _, part := range list {
			w.schema(part)
		}
	}
	for _, property := range s.Properties {
		w.schema(property)
	}
	w.schema(s.Items)
	w.schema(s.Not)
	w.schema(s.AdditionalProperties.Schema)
}

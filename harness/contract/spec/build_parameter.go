package spec

import (
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// parameters returns the parameters of an operation: its own, and those of the path that it does not override.
func (b *builder) parameters(item *openapi3.PathItem, in *openapi3.Operation, ref, parent string) (out []*Parameter) {
	add := func(list openapi3.Parameters, ref string) {
		for i, one := range list {
			if one == nil || one.Value == nil {
				continue
			}
			place := jsontree.AppendIndex(ref+"/parameters", i)
			if one.Ref != "" {
				place = one.Ref
			}
			v := one.Value
			// "If in is "header" and the name field is "Accept", "Content-Type" or "Authorization", the parameter
			// definition SHALL be ignored" (OpenAPI 3.0.3 §4.7.12.1).
			if v.In == "header" && slices.ContainsFunc([]string{"Accept", "Content-Type", "Authorization"}, func(s string) bool {
				return strings.EqualFold(s, v.Name)
			}) {
				continue
			}
			if !slices.ContainsFunc(out, func(p *Parameter) bool { return p.Name == v.Name && p.In == v.In }) {
				out = append(out, b.parameter(v, v.Name, v.In, place))
			}
		}
	}
	add(in.Parameters, ref)
	add(item.Parameters, parent)
	return out
}

func (b *builder) parameter(in *openapi3.Parameter, name, place, ref string) *Parameter {
	p := &Parameter{Ref: ref, Name: name, In: place, Required: in.Required, AllowEmpty: in.AllowEmptyValue,
		Schema: b.schemas.Schema(in.Schema, ref+"/schema"), Encoding: PlainText, style: in.Style}
	for key, m := range in.Content { // "The map MUST only contain one entry."
		p.Schema = b.schemas.Schema(m.Schema, jsontree.AppendName(ref+"/content", key)+"/schema")
		p.Encoding = ParseMediaType(key).Encoding()
	}
	if p.style == "" {
		p.style = "simple"
		if place == "query" || place == "cookie" {
			p.style = "form"
		}
	}
	p.explode = p.style == "form"
	if in.Explode != nil {
		p.explode = *in.Explode
	}
	b.schemas.AddExamples(p.Schema, in.Example, in.Examples, ref)
	return p
}

// PathNames returns the parameters of a path template, in order.
func PathNames(template string) (names []string) {
	for {
		_, rest, ok := strings.Cut(template, "{")
		name, after, closed := strings.Cut(rest, "}")
		if !ok || !closed {
			return names
		}
		names = append(names, name)
		template = after
	}
}

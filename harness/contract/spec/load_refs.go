package spec

import (
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
	"github.com/lockstep-dev/lockstep/internal/problem"
)

// unresolved lists every reference of a document that leads nowhere. The loader stops at the first one. But it keeps
// the document under its location, and returns it when asked again. If a later version does not, this returns nothing,
// and the caller has the first one.
func unresolved(data []byte, src *source) problem.Problems {
	loader := newLoader()
	location := &url.URL{Path: "document"}
	if _, err := loader.LoadFromDataWithPath(data, location); err == nil {
		return nil
	}
	doc, err := loader.LoadFromDataWithPath(nil, location)
	if err != nil || doc == nil {
		return nil
	}
	w := refWalker{seen: map[any]bool{}, known: componentRefs(doc)}
	w.walk(reflect.ValueOf(doc))
	var ps problem.Problems
	for _, ref := range w.missing {
		p := problem.Problem{What: fmt.Sprintf("$ref points to %q, which does not exist", ref)}
		p.Line, p.Column = src.firstUse(ref)
		if strings.HasPrefix(ref, "#") {
			p.Fix = problem.DidYouMean(ref, slices.Sorted(maps.Keys(w.known)))
		} else {
			p.What = fmt.Sprintf("$ref points to another file, %q", ref)
			p.Fix = "put what it refers to into this document; a bundler does it: npx @redocly/cli bundle openapi.yaml -o whole.yaml"
		}
		ps = append(ps, p)
	}
	return ps
}

func componentRefs(doc *openapi3.T) map[string]bool {
	known := map[string]bool{}
	if doc.Components == nil {
		return known
	}
	v := reflect.ValueOf(*doc.Components)
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		if v.Field(i).Kind() != reflect.Map || name == "-" {
			continue
		}
		for _, key := range v.Field(i).MapKeys() {
			known[jsontree.AppendName("#/components/"+name, key.String())] = true
		}
	}
	return known
}

// A refWalker visits everything in the loader's document and collects the references without a target.
type refWalker struct {
	seen    map[any]bool
	known   map[string]bool
	missing []string
}

func (w *refWalker) walk(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() || !v.CanInterface() || w.seen[v.Interface()] {
			return
		}
		w.seen[v.Interface()] = true
		w.maplike(v)
		w.walk(v.Elem())
	case reflect.Struct:
		w.reference(v)
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && f.Name != "Extensions" && f.Name != "Origin" {
				w.walk(v.Field(i))
			}
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			w.walk(v.MapIndex(key))
		}
	case reflect.Slice:
		for i := range v.Len() {
			w.walk(v.Index(i))
		}
	}
}

// maplike visits what Paths, Responses and Callback keep in a field that is not exported.
func (w *refWalker) maplike(v reflect.Value) {
	switch v := v.Interface().(type) {
	case *openapi3.Paths:
		w.walk(reflect.ValueOf(v.Map()))
	case *openapi3.Responses:
		w.walk(reflect.ValueOf(v.Map()))
	case *openapi3.Callback:
		w.walk(reflect.ValueOf(v.Map()))
	}
}

func (w *refWalker) reference(v reflect.Value) {
	ref, value := v.FieldByName("Ref"), v.FieldByName("Value")
	if !ref.IsValid() || !value.IsValid() || ref.Kind() != reflect.String || ref.Len() == 0 || !value.IsNil() {
		return
	}
	text := ref.String()
	component := strings.HasPrefix(text, "#/components/") && strings.Count(text, "/") == 3
	if !w.seen[text] && (component && !w.known[text] || !strings.HasPrefix(text, "#")) {
		w.seen[text] = true
		w.missing = append(w.missing, text)
	}
}

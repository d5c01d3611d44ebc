package contract

import (
	"encoding/json"
	"reflect"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// decode makes the loader's document of a tree, as the loader itself would do by way of JSON: there, each object is read
// by encoding/json three times and more, and all that is inside it with it, so that half the time of a start went there.
//
// It does what is the same for all objects of OpenAPI: the fields that a struct names, and everything else under
// Extensions. What a type reads in a way of its own is left to that type, on its part of the document. Whatever is
// unusual makes it give up, and the loader read the document. A test holds the two against each other.
func decode(n *jsontree.Node) (*openapi3.T, bool) {
	d := decoder{map[reflect.Type]fields{}}
	doc := &openapi3.T{}
	return doc, d.value(n, reflect.ValueOf(doc).Elem())
}

type decoder struct {
	known map[reflect.Type]fields
}

// fields are those of a struct, by their names in lower case: encoding/json does not tell the cases apart, and a
// document that has one wrong is unusual.
type fields map[string]structField

type structField struct {
	name  string
	index []int
}

// regular are the structs of which nothing is unusual but that they keep what they do not know.
var regular = types(
	openapi3.T{}, openapi3.Components{}, openapi3.Contact{}, openapi3.Encoding{}, openapi3.Example{}, openapi3.ExternalDocs{},
	openapi3.Header{}, openapi3.Info{}, openapi3.License{}, openapi3.Link{}, openapi3.MediaType{}, openapi3.OAuthFlow{},
	openapi3.OAuthFlows{}, openapi3.Operation{}, openapi3.Parameter{}, openapi3.PathItem{}, openapi3.RequestBody{},
	openapi3.Response{}, openapi3.Schema{}, openapi3.SecurityScheme{}, openapi3.Server{}, openapi3.ServerVariable{},
	openapi3.Tag{}, openapi3.XML{},
)

// references are a $ref, or what could stand behind one.
var references = types(
	openapi3.CallbackRef{}, openapi3.ExampleRef{}, openapi3.HeaderRef{}, openapi3.LinkRef{}, openapi3.ParameterRef{},
	openapi3.RequestBodyRef{}, openapi3.ResponseRef{}, openapi3.SchemaRef{}, openapi3.SecuritySchemeRef{},
)

func types(values ...any) map[reflect.Type]bool {
	out := make(map[reflect.Type]bool, len(values))
	for _, v := range values {
		out[reflect.TypeOf(v)] = true
	}
	return out
}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

// value sets v to what stands in the document. It reports false when it gives up.
func (d *decoder) value(n *jsontree.Node, v reflect.Value) bool {
	if n.Kind == jsontree.Null {
		return v.Kind() == reflect.Interface
	}
	switch t := v.Type(); {
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(t.Elem()))
		return d.value(n, v.Elem())
	case regular[t]:
		return n.Kind == jsontree.Object && d.object(n, v)
	case references[t]:
		return n.Kind == jsontree.Object && d.reference(n, v)
	case t == reflect.TypeFor[openapi3.Paths]():
		return d.paths(n, v.Addr().Interface().(*openapi3.Paths))
	case t == reflect.TypeFor[openapi3.Responses]():
		return d.responses(n, v.Addr().Interface().(*openapi3.Responses))
	case reflect.PointerTo(t).Implements(unmarshaler):
		return itself(n, v)
	}
	return d.plain(n, v)
}

// itself leaves a part of the document to the type that it is for.
func itself(n *jsontree.Node, v reflect.Value) bool {
	return v.Addr().Interface().(json.Unmarshaler).UnmarshalJSON([]byte(n.String())) == nil
}

func (d *decoder) plain(n *jsontree.Node, v reflect.Value) bool {
	switch kind := v.Kind(); {
	case kind == reflect.Interface:
		x, ok := doubles(n)
		if x != nil {
			v.Set(reflect.ValueOf(x))
		}
		return ok
	case kind == reflect.String && n.Kind == jsontree.String:
		v.SetString(n.Text)
	case kind == reflect.Bool && n.Kind == jsontree.Boolean:
		v.SetBool(n.Text == "true")
	case kind == reflect.Float64 && n.Kind == jsontree.Number:
		f, err := strconv.ParseFloat(n.Text, 64)
		v.SetFloat(f)
		return err == nil
	case kind == reflect.Uint64 && n.Kind == jsontree.Number:
		u, err := strconv.ParseUint(n.Text, 10, 64)
		v.SetUint(u)
		return err == nil
	case kind == reflect.Slice && n.Kind == jsontree.Array:
		v.Set(reflect.MakeSlice(v.Type(), len(n.Items), len(n.Items)))
		for i, item := range n.Items {
			if !d.value(item, v.Index(i)) {
				return false
			}
		}
	case kind == reflect.Map && n.Kind == jsontree.Object:
		v.Set(reflect.MakeMapWithSize(v.Type(), len(n.Names)))
		for i, name := range n.Names {
			item := reflect.New(v.Type().Elem()).Elem()
			if !d.value(n.Items[i], item) {
				return false
			}
			v.SetMapIndex(reflect.ValueOf(name).Convert(v.Type().Key()), item)
		}
	default:
		return false
	}
	return true
}

func (d *decoder) object(n *jsontree.Node, v reflect.Value) bool {
	known := d.fields(v.Type())
	var rest map[string]any
	for i, name := range n.Names {
		f, ok := known[strings.ToLower(name)]
		switch {
		case ok && f.name != name, name == "$ref":
			return false
		case ok:
			if !d.value(n.Items[i], v.FieldByIndex(f.index)) {
				return false
			}
		default:
			x, ok := doubles(n.Items[i])
			if !ok {
				return false
			}
			if rest == nil {
				rest = map[string]any{}
			}
			rest[name] = x
		}
	}
	if rest != nil {
		v.FieldByName("Extensions").Set(reflect.ValueOf(rest))
	}
	return true
}

func (d *decoder) fields(t reflect.Type) fields {
	if known, ok := d.known[t]; ok {
		return known
	}
	known := fields{}
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name != "" && name != "-" {
			known[strings.ToLower(name)] = structField{name, f.Index}
		}
	}
	d.known[t] = known
	return known
}

func (d *decoder) reference(n *jsontree.Node, v reflect.Value) bool {
	ref := n.Member("$ref")
	switch {
	case ref == nil:
		return d.value(n, v.FieldByName("Value"))
	case len(n.Names) > 1: // what else may stand there is a matter of the type
		return itself(n, v)
	case ref.Kind != jsontree.String || ref.Text == "":
		return false
	}
	v.FieldByName("Ref").SetString(ref.Text)
	return true
}

func (d *decoder) paths(n *jsontree.Node, paths *openapi3.Paths) bool {
	*paths = *openapi3.NewPathsWithCapacity(len(n.Names))
	paths.Extensions = map[string]any{}
	return d.entries(n, paths.Extensions, func(name string, item *jsontree.Node) bool {
		p := &openapi3.PathItem{}
		paths.Set(name, p)
		return d.value(item, reflect.ValueOf(p).Elem())
	})
}

func (d *decoder) responses(n *jsontree.Node, responses *openapi3.Responses) bool {
	*responses = *openapi3.NewResponsesWithCapacity(len(n.Names))
	responses.Extensions = map[string]any{}
	return d.entries(n, responses.Extensions, func(name string, item *jsontree.Node) bool {
		r := &openapi3.ResponseRef{}
		responses.Set(name, r)
		return d.value(item, reflect.ValueOf(r).Elem())
	})
}

func (d *decoder) entries(n *jsontree.Node, extensions map[string]any, set func(name string, item *jsontree.Node) bool) bool {
	if n.Kind != jsontree.Object {
		return false
	}
	for i, name := range n.Names {
		if !strings.HasPrefix(name, "x-") {
			if !set(name, n.Items[i]) {
				return false
			}
			continue
		}
		x, ok := doubles(n.Items[i])
		if !ok {
			return false
		}
		extensions[name] = x
	}
	return true
}

// doubles returns the tree as encoding/json does when nobody asks for more: with its numbers as float64.
func doubles(n *jsontree.Node) (v any, ok bool) {
	switch n.Kind {
	case jsontree.Array:
		out := make([]any, len(n.Items))
		for i, item := range n.Items {
			if out[i], ok = doubles(item); !ok {
				return nil, false
			}
		}
		return out, true
	case jsontree.Object:
		out := make(map[string]any, len(n.Names))
		for i, item := range n.Items {
			if out[n.Names[i]], ok = doubles(item); !ok {
				return nil, false
			}
		}
		return out, true
	case jsontree.Number:
		f, err := strconv.ParseFloat(n.Text, 64)
		return f, err == nil
	default:
		return n.Value(), true
	}
}

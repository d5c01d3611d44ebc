package agentsdk

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
)

// A JSONSchema is the text of a JSON Schema, of draft 2020-12 or draft 7.
type JSONSchema = json.RawMessage

// A Field is a required member of an object.
type Field struct {
	Name string
	Type string // "string", "number", "integer", "boolean", "object" or "array"
}

// SimpleSchema returns the schema of an object with these fields, all of them required.
func SimpleSchema(fields ...Field) JSONSchema {
	object := newObject()
	for _, f := range fields {
		object.add(f.Name, &node{Type: f.Type}, true)
	}
	text, _ := encode(object) // it has only strings
	return text
}

// A node is a schema that is made here.
type node struct {
	Type                 string   `json:"type,omitempty"`
	Format               string   `json:"format,omitempty"`
	Description          string   `json:"description,omitempty"`
	Enum                 []any    `json:"enum,omitempty"`
	Minimum              *float64 `json:"minimum,omitempty"`
	Maximum              *float64 `json:"maximum,omitempty"`
	Items                *node    `json:"items,omitempty"`
	Properties           *fields  `json:"properties,omitempty"`
	AdditionalProperties *node    `json:"additionalProperties,omitempty"`
	Required             []string `json:"required,omitempty"`
}

// fields are the properties of an object, in their order.
type fields struct {
	names []string
	of    map[string]*node
}

// newObject returns the schema of an object without members.
func newObject() *node { return &node{Type: "object", Properties: &fields{of: map[string]*node{}}} }

// add adds a property, or replaces it, as a field does that hides one of an embedded struct.
func (n *node) add(name string, property *node, required bool) {
	if _, twice := n.Properties.of[name]; !twice {
		n.Properties.names = append(n.Properties.names, name)
	}
	n.Properties.of[name] = property
	n.Required = slices.DeleteFunc(n.Required, func(r string) bool { return r == name })
	if required {
		n.Required = append(n.Required, name)
	}
}

// MarshalJSON writes the properties in their order.
func (f *fields) MarshalJSON() ([]byte, error) {
	out := []byte("{")
	for i, name := range f.names {
		key, err := encode(name)
		if err != nil {
			return nil, err
		}
		value, err := encode(f.of[name])
		if err != nil {
			return nil, err
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, key...), ':'), value...)
	}
	return append(out, '}'), nil
}

// SchemaFor returns the schema of a struct type. A field is required unless it is a pointer, or tagged omitempty or
// omitzero. A tag such as
//
//	jsonschema:"description=how far,enum=near|far,minimum=0,maximum=9"
//
// says more about it. Recursive types, channels and functions are an error.
func SchemaFor[T any]() (JSONSchema, error) {
	of := reflect.TypeFor[T]()
	for of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	if of.Kind() != reflect.Struct || of == reflect.TypeFor[time.Time]() {
		return nil, fmt.Errorf("%v is not a struct: tools take a struct, whose fields are their arguments", of)
	}
	schema, err := schemaOf(of, nil)
	if err != nil {
		return nil, err
	}
	return encode(schema)
}

// schemaOf returns the schema of a type inside of the given ones.
func schemaOf(t reflect.Type, inside []reflect.Type) (*node, error) {
	switch t {
	case reflect.TypeFor[time.Time]():
		return &node{Type: "string", Format: "date-time"}, nil
	case reflect.TypeFor[json.RawMessage]():
		return &node{}, nil
	case reflect.TypeFor[[]byte]():
		return &node{Type: "string"}, nil
	}
	if slices.Contains(inside, t) {
		return nil, fmt.Errorf("%v contains itself: give the schema to RawTool", t)
	}
	inside = append(slices.Clone(inside), t)
	switch t.Kind() {
	case reflect.String:
		return &node{Type: "string"}, nil
	case reflect.Bool:
		return &node{Type: "boolean"}, nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return &node{Type: "integer"}, nil
	case reflect.Float32, reflect.Float64:
		return &node{Type: "number"}, nil
	case reflect.Interface:
		return &node{}, nil
	case reflect.Pointer:
		return schemaOf(t.Elem(), inside)
	case reflect.Slice, reflect.Array:
		items, err := schemaOf(t.Elem(), inside)
		return &node{Type: "array", Items: items}, err
	case reflect.Map:
		if t.Key().Kind() != reflect.String {
			return nil, fmt.Errorf("%v: the keys of a map must be strings", t)
		}
		values, err := schemaOf(t.Elem(), inside)
		return &node{Type: "object", AdditionalProperties: values}, err
	case reflect.Struct:
		object := newObject()
		return object, addFields(object, t, inside)
	}
	return nil, fmt.Errorf("%v has no JSON Schema", t)
}

// addFields adds the fields of a struct to the schema of an object, and those of embedded structs.
func addFields(object *node, t reflect.Type, inside []reflect.Type) error {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		embedded := f.Type
		if embedded.Kind() == reflect.Pointer {
			embedded = embedded.Elem()
		}
		switch {
		case name == "-" && options == "":
			continue
		case f.Anonymous && name == "" && embedded.Kind() == reflect.Struct:
			if slices.Contains(inside, embedded) {
				return fmt.Errorf("%v contains itself: give the schema to RawTool", embedded)
			}
			if err := addFields(object, embedded, append(slices.Clone(inside), embedded)); err != nil {
				return err
			}
			continue
		case !f.IsExported():
			continue
		case name == "":
			name = f.Name
		}
		schema, err := schemaOf(f.Type, inside)
		if err == nil {
			err = applyTag(schema, f.Tag.Get("jsonschema"))
		}
		if err != nil {
			return fmt.Errorf("field %s: %w", f.Name, err)
		}
		optional := f.Type.Kind() == reflect.Pointer || slices.ContainsFunc(strings.Split(options, ","), func(o string) bool { return o == "omitempty" || o == "omitzero" })
		object.add(name, schema, !optional)
	}
	return nil
}

// applyTag adds what a jsonschema tag says. A description may contain commas: what is not key=value continues it.
func applyTag(schema *node, tag string) error {
	for rest := tag; rest != ""; {
		var part string
		part, rest = cutTag(rest)
		key, value, _ := strings.Cut(part, "=")
		number, err := strconv.ParseFloat(value, 64)
		switch {
		case key == "description":
			schema.Description = value
		case key == "enum":
			for option := range strings.SplitSeq(value, "|") {
				schema.Enum = append(schema.Enum, enumValue(schema.Type, option))
			}
		case key == "minimum" && err == nil:
			schema.Minimum = &number
		case key == "maximum" && err == nil:
			schema.Maximum = &number
		default:
			return fmt.Errorf("jsonschema tag %q: write description=…, enum=a|b, minimum=0 or maximum=9", part)
		}
	}
	return nil
}

// cutTag cuts a tag before the next comma that begins another key.
func cutTag(tag string) (part, rest string) {
	for i := range len(tag) {
		if tag[i] != ',' {
			continue
		}
		for _, key := range []string{"description=", "enum=", "minimum=", "maximum="} {
			if strings.HasPrefix(tag[i+1:], key) {
				return tag[:i], tag[i+1:]
			}
		}
	}
	return tag, ""
}

func enumValue(typ, option string) any {
	if typ == "integer" || typ == "number" {
		if n, err := strconv.ParseFloat(option, 64); err == nil {
			return n
		}
	}
	return option
}

// A validator checks the arguments of a tool.
type validator struct{ resolved *jsonschema.Resolved }

// compile reads the schema of a tool, which must be one of an object.
func compile(schema JSONSchema) (*validator, error) {
	parsed := new(jsonschema.Schema)
	if err := json.Unmarshal(schema, parsed); err != nil {
		return nil, fmt.Errorf("its schema is not a JSON Schema: %w", err)
	}
	if parsed.Type != "object" {
		return nil, errors.New(`its schema has no "type":"object": the arguments of a tool are an object`)
	}
	resolved, err := parsed.Resolve(nil)
	if err != nil {
		return nil, fmt.Errorf("its schema is not a JSON Schema: %w", err)
	}
	return &validator{resolved: resolved}, nil
}

func (v *validator) check(arguments json.RawMessage) error {
	var value any
	if err := json.Unmarshal(arguments, &value); err != nil {
		return err
	}
	return v.resolved.Validate(value)
}

package spec

import (
	"bytes"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// decode reads a document in JSON into the loader's types. It fails for JSON with defects, such as duplicate names.
//
// The loader's own methods parse each object three times or more, with everything in it. So a document of 13 MB would
// take most of a second and a gigabyte of short-lived memory more.
func decode(text []byte) (*openapi3.T, error) {
	doc := new(openapi3.T)
	return doc, json.Unmarshal(text, doc, json.WithUnmarshalers(decoders))
}

// The loader's types without their methods.
type (
	plainDocument    openapi3.T
	plainComponents  openapi3.Components
	plainPathItem    openapi3.PathItem
	plainOperation   openapi3.Operation
	plainResponse    openapi3.Response
	plainRequestBody openapi3.RequestBody
	plainMediaType   openapi3.MediaType
	plainParameter   openapi3.Parameter
	plainExample     openapi3.Example
	plainSchema      openapi3.Schema
)

// decoders read the types that large documents consist of. The loader's methods read the others.
var decoders = json.JoinUnmarshalers(
	json.UnmarshalFromFunc(func(in *jsontext.Decoder, x *openapi3.T) error {
		return decodeObject(in, (*plainDocument)(x), &x.Extensions)
	}),
	json.UnmarshalFromFunc(func(in *jsontext.Decoder, x *openapi3.Components) error {
		return decodeObject(in, (*plainComponents)(x), &x.Extensions)
	}),
	json.UnmarshalFromFunc(func(in *jsontext.Decoder, x *openapi3.PathItem) error {
		return decodeObject(in, (*plainPathItem)(x), &x.Extensions)
	}),
	json.UnmarshalFromFunc(func(in *jsontext.Decoder, x *openapi3.Operation) error {
		return decodeObject(in, (*plainOperation)(x), &x.Extensions)
	}),
	json.UnmarshalFromFunc(func(in *jsontext.Decoder, x *openapi3.MediaType) error {
		return decodeObject(in, (*plainMediaType)(x), &x.Extensions)
	}),
	json.UnmarshalFromFunc(func(in *jsontext.Decoder, x *openapi3.Paths) error {
		*x = *openapi3.NewPathsWithCapacity(1)
		x.Extensions = map[string]any{}
		return decodeMap(in, x.Extensions, x.Set)
	}),
	json.UnmarshalFromFunc(func(in *jsontext.Decoder, x *openapi3.Responses) error {
		*x = *openapi3.NewResponsesWithCapacity(1)
		x.Extensions = map[string]any{}
		return decodeMap(in, x.Extensions, x.Set)
	}),
	json.UnmarshalFromFunc(func(in *jsontext.Decoder, x *openapi3.ResponseRef) error {
		return decodeRef(in, x, &x.Value, func(v *openapi3.Response) (*plainResponse, *map[string]any) {
			return (*plainResponse)(v), &v.Extensions
		})
	}),
	json.UnmarshalFromFunc(func(in *jsontext.Decoder, x *openapi3.RequestBodyRef) error {
		return decodeRef(in, x, &x.Value, func(v *openapi3.RequestBody) (*plainRequestBody, *map[string]any) {
			return (*plainRequestBody)(v), &v.Extensions
		})
	}),
	json.UnmarshalFromFunc(func(in *jsontext.Decoder, x *openapi3.ParameterRef) error {
		return decodeRef(in, x, &x.Value, func(v *openapi3.Parameter) (*plainParameter, *map[string]any) {
			return (*plainParameter)(v), &v.Extensions
		})
	}),
	json.UnmarshalFromFunc(func(in *jsontext.Decoder, x *openapi3.HeaderRef) error {
		return decodeRef(in, x, &x.Value, func(v *openapi3.Header) (*plainParameter, *map[string]any) {
			return (*plainParameter)(&v.Parameter), &v.Parameter.Extensions
		})
	}),
	json.UnmarshalFromFunc(func(in *jsontext.Decoder, x *openapi3.ExampleRef) error {
		return decodeRef(in, x, &x.Value, func(v *openapi3.Example) (*plainExample, *map[string]any) {
			return (*plainExample)(v), &v.Extensions
		})
	}),
	json.UnmarshalFromFunc(func(in *jsontext.Decoder, x *openapi3.SchemaRef) error {
		return decodeRef(in, x, &x.Value, func(v *openapi3.Schema) (*plainSchema, *map[string]any) {
			return (*plainSchema)(v), &v.Extensions
		})
	}),
	json.UnmarshalFromFunc(func(in *jsontext.Decoder, x *openapi3.BoolSchema) error {
		if in.PeekKind() == '{' {
			return json.UnmarshalDecode(in, &x.Schema)
		}
		return json.UnmarshalDecode(in, &x.Has)
	}),
	json.UnmarshalFromFunc(func(in *jsontext.Decoder, x *openapi3.Types) error {
		if in.PeekKind() != '"' {
			return json.UnmarshalDecode(in, (*[]string)(x))
		}
		*x = make(openapi3.Types, 1)
		return json.UnmarshalDecode(in, &(*x)[0])
	}),
)

// decodeObject reads an object. Its unknown members become extensions.
func decodeObject[Plain any](in *jsontext.Decoder, known *Plain, extensions *map[string]any) error {
	object := struct {
		Known *Plain         `json:",embed"`
		Rest  map[string]any `json:",embed"`
	}{Known: known}
	err := json.UnmarshalDecode(in, &object)
	*extensions = object.Rest
	return err
}

// decodeMap reads an object whose names the document's author chose, and which may have extensions.
func decodeMap[V any](in *jsontext.Decoder, extensions map[string]any, set func(string, *V)) error {
	var members map[string]jsontext.Value
	if in.PeekKind() != '{' {
		return json.UnmarshalDecode(in, &members) // an error
	}
	if _, err := in.ReadToken(); err != nil {
		return err
	}
	for in.PeekKind() != '}' {
		name, err := in.ReadToken()
		if err != nil {
			return err
		}
		key := name.String()
		if strings.HasPrefix(key, "x-") {
			var value any
			err = json.UnmarshalDecode(in, &value)
			extensions[key] = value
		} else {
			value := new(V)
			err = json.UnmarshalDecode(in, value)
			set(key, value)
		}
		if err != nil {
			return err
		}
	}
	_, err := in.ReadToken()
	return err
}

// startOfRef matches the beginning of an object whose first member is a reference, as it mostly is.
var startOfRef = []byte(`"$ref"`)

// decodeRef reads an object that may be a reference. The loader's method reads references, because it keeps what is
// beside them in fields that are not exported.
func decodeRef[V, Plain any](in *jsontext.Decoder, x interface{ UnmarshalJSON([]byte) error }, value **V, parts func(*V) (*Plain, *map[string]any)) error {
	const between = " \t\r\n:,"
	rest, from := bytes.TrimLeft(in.UnreadBuffer(), between), in.InputOffset()
	from += int64(len(in.UnreadBuffer()) - len(rest))
	first, isObject := bytes.CutPrefix(rest, []byte("{"))
	if isObject && !bytes.HasPrefix(bytes.TrimLeft(first, between), startOfRef) {
		v := new(V)
		known, extensions := parts(v)
		if err := decodeObject(in, known, extensions); err != nil {
			return err
		}
		if _, isRef := (*extensions)["$ref"]; !isRef {
			*value = v
			return nil
		}
	} else if err := in.SkipValue(); err != nil {
		return err
	}
	return x.UnmarshalJSON(rest[:in.InputOffset()-from])
}

package decode

import (
	"encoding/json"
	"math"
	"slices"

	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// An Object reads the fields of an object one after another. It keeps the first error, and returns zero values after it. So
// a decoder can read all fields and check the error once:
//
//	o := v.Object("name", "arguments")
//	call := ToolCall{Name: o.String("name"), Arguments: o.MaybeObject("arguments")}
//	return call, o.Err()
//
// Methods whose names begin with Maybe accept a missing or null field; all others require it.
type Object struct {
	value Value
	names []string
	found []Value
	err   error
}

// Object reads the value as an object with the named fields. Other fields are ignored; a duplicate of a named one is
// an error.
func (v Value) Object(names ...string) *Object {
	o := &Object{value: v, names: names, found: make([]Value, len(names)), err: v.want("object")}
	if o.err != nil {
		return o
	}
	for name, value := range members(v) {
		i := slices.Index(names, name)
		if i < 0 {
			continue
		}
		if o.found[i].Exists() {
			o.err = v.failAt(value.to, "duplicate field `"+name+"`")
			return o
		}
		o.found[i] = value
	}
	return o
}

// Err returns the first error, or nil.
func (o *Object) Err() error { return o.err }

// Check records an error that was found elsewhere, unless there already is one.
func (o *Object) Check(err error) {
	if o.err == nil {
		o.err = err
	}
}

// Get returns a field, or a missing value.
func (o *Object) Get(name string) Value {
	i := slices.Index(o.names, name)
	if i < 0 {
		panic("decode: the field " + name + " was not announced")
	}
	return o.found[i]
}

// Need returns a required field, which may be null. It returns false after an error.
func (o *Object) Need(name string) (Value, bool) {
	if o.err != nil {
		return Value{}, false
	}
	v := o.Get(name)
	if !v.Exists() {
		o.err = o.value.Fail("missing field `" + name + "`")
		return v, false
	}
	return v, true
}

// Maybe returns a field, and false if it is missing or null, or after an error.
func (o *Object) Maybe(name string) (Value, bool) {
	if o.err != nil {
		return Value{}, false
	}
	v := o.Get(name)
	return v, !v.IsNull()
}

// read decodes a field if there is true.
func read[T any](o *Object, v Value, there bool, decode func(Value) (T, error)) (result T) {
	if !there {
		return result
	}
	result, o.err = decode(v)
	return result
}

// Field reads a required field with the decoder of its type.
func Field[T any](o *Object, name string, decode func(Value) (T, error)) T {
	v, there := o.Need(name)
	return read(o, v, there, decode)
}

// FieldOr reads a field with the decoder of its type, and returns missing if there is no such field. The field must
// not be null unless the decoder accepts null.
func FieldOr[T any](o *Object, name string, missing T, decode func(Value) (T, error)) T {
	if o.err != nil || !o.Get(name).Exists() {
		return missing
	}
	return read(o, o.Get(name), true, decode)
}

// MaybeField reads a field with the decoder of its type, and returns nil if it is missing or null.
func MaybeField[T any](o *Object, name string, decode func(Value) (T, error)) *T {
	v, there := o.Maybe(name)
	if !there {
		return nil
	}
	return new(read(o, v, true, decode))
}

// FieldOrZero reads a field with the given decoder. It returns the zero value if the field is missing or null.
func FieldOrZero[T any](o *Object, name string, decode func(Value) (T, error)) T {
	v, there := o.Maybe(name)
	return read(o, v, there, decode)
}

// List reads a required array with the decoder of its elements. It never returns nil.
func List[T any](o *Object, name string, decode func(Value) (T, error)) []T {
	v, there := o.Need(name)
	return read(o, v, there, ListOf(decode))
}

// MaybeList reads an array with the decoder of its elements, and returns nil if it is missing or null.
func MaybeList[T any](o *Object, name string, decode func(Value) (T, error)) []T {
	return FieldOrZero(o, name, ListOf(decode))
}

// Strings decodes an array of strings. It never returns nil.
func Strings(v Value) ([]string, error) { return ListOf(Value.Str)(v) }

// Pairs decodes an object with string values. It never returns nil. Of members with the same name, the last value
// takes the place of the first.
func Pairs(v Value) (jsonwire.Pairs, error) { return pairsOf(v, Value.Str) }

// TextPairs is like Pairs, but also accepts other values, and returns their JSON.
func TextPairs(v Value) (jsonwire.Pairs, error) {
	return pairsOf(v, func(v Value) (string, error) {
		if v.kind() == "string" {
			return v.Str()
		}
		return string(v.Any()), nil
	})
}

func pairsOf(v Value, text func(Value) (string, error)) (jsonwire.Pairs, error) {
	if err := v.want("object"); err != nil {
		return nil, err
	}
	pairs := jsonwire.Pairs{}
	places := map[string]int{}
	for name, value := range members(v) {
		s, err := text(value)
		if err != nil {
			return nil, err
		}
		place, repeated := places[name]
		if repeated {
			pairs[place].Value = s
			continue
		}
		places[name] = len(pairs)
		pairs = append(pairs, jsonwire.Pair{Name: name, Value: s})
	}
	return pairs, nil
}

// ListOf returns the decoder of arrays with the given elements. The list is never nil.
func ListOf[T any](decode func(Value) (T, error)) func(Value) ([]T, error) {
	return func(v Value) ([]T, error) {
		elements, err := v.Array()
		if err != nil {
			return nil, err
		}
		list := []T{}
		for element := range elements {
			item, err := decode(element)
			if err != nil {
				return nil, err
			}
			list = append(list, item)
		}
		return list, nil
	}
}

// MapOf returns the decoder of objects with any names and the given values. Of members with the same name, the last one
// counts. The map is never nil.
func MapOf[T any](decode func(Value) (T, error)) func(Value) (map[string]T, error) {
	return func(v Value) (map[string]T, error) {
		if err := v.want("object"); err != nil {
			return nil, err
		}
		all := map[string]T{}
		for name, value := range members(v) {
			item, err := decode(value)
			if err != nil {
				return nil, err
			}
			all[name] = item
		}
		return all, nil
	}
}

// String reads a required string.
func (o *Object) String(name string) string { return Field(o, name, Value.Str) }

// MaybeString reads a string, or returns nil.
func (o *Object) MaybeString(name string) *string { return MaybeField(o, name, Value.Str) }

// Bool reads a required boolean.
func (o *Object) Bool(name string) bool { return Field(o, name, Value.Bool) }

// MaybeBool reads a boolean, or returns nil.
func (o *Object) MaybeBool(name string) *bool { return MaybeField(o, name, Value.Bool) }

// Int reads a required integer.
func (o *Object) Int(name string) int64 { return Field(o, name, Value.Int) }

// MaybeInt reads an integer, or returns nil.
func (o *Object) MaybeInt(name string) *int64 { return MaybeField(o, name, Value.Int) }

// MaybeInt32 reads a 32-bit integer, or returns nil.
func (o *Object) MaybeInt32(name string) *int64 {
	return MaybeField(o, name, Within(math.MinInt32, math.MaxInt32))
}

// OneOf reads a required string that must be one of the variants.
func (o *Object) OneOf(name string, variants ...string) string {
	return Field(o, name, OneOf(variants...))
}

// Any reads a required field of any type, including null.
func (o *Object) Any(name string) json.RawMessage {
	return Field(o, name, func(v Value) (json.RawMessage, error) { return v.Any(), nil })
}

// AnyObject reads a required object with any content.
func (o *Object) AnyObject(name string) json.RawMessage { return Field(o, name, AnyObject) }

// MaybeObject reads an object with any content, or returns nil.
func (o *Object) MaybeObject(name string) json.RawMessage {
	return FieldOrZero(o, name, AnyObject)
}

// MaybeAny reads a field of any type, or returns nil if it is missing or null.
func (o *Object) MaybeAny(name string) json.RawMessage {
	return FieldOrZero(o, name, func(v Value) (json.RawMessage, error) { return v.Any(), nil })
}

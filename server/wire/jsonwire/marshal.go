package jsonwire

import (
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

var writing = json.JoinOptions(
	json.WithMarshalers(json.MarshalToFunc(func(out *jsontext.Encoder, s string) error {
		return out.WriteValue(AppendQuoted(out.AvailableBuffer(), s))
	})),
	// A raw value is already canonical. If it were written again, a lone surrogate in it would become U+FFFD.
	jsontext.PreserveRawStrings(true),
	jsontext.AllowInvalidUTF8(true),
	jsontext.AllowDuplicateNames(true),
	// Without this, an optional `{}`, such as the metadata of a result, would be left out like a missing one.
	jsonv1.OmitEmptyWithLegacySemantics(true),
)

var binding = json.JoinOptions(reading, repeating,
	json.WithUnmarshalers(json.UnmarshalFromFunc(func(in *jsontext.Decoder, s *string) error {
		raw, err := in.ReadValue()
		if err != nil {
			return err
		}
		if raw.Kind() != '"' {
			return fmt.Errorf("want a string, have %s", Text(raw).Kind())
		}
		*s = unquote(raw)
		return nil
	})),
)

// Marshal returns the JSON of a value of the contract. Keys are in the order of the struct's fields, a nil slice is
// `[]`, and raw values are unchanged.
//
// Such a value always has JSON if its raw values came from this package. Otherwise Marshal panics.
func Marshal(v any) Text {
	text, err := json.Marshal(v, writing)
	if err != nil {
		panic(fmt.Sprintf("jsonwire: a %T is not JSON: %v", v, err))
	}
	return text
}

// Unmarshal binds a text to the value that v points to. Names are matched exactly; members without a field are
// ignored.
func Unmarshal(text Text, v any) error {
	if err := json.Unmarshal(text, v, binding); err != nil {
		return fmt.Errorf("bind JSON: %w", err)
	}
	return nil
}

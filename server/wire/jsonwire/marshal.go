package jsonwire

import (
	stdjson "encoding/json"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

var writing = json.JoinOptions(
	json.WithMarshalers(json.JoinMarshalers(
		json.MarshalToFunc(func(out *jsontext.Encoder, s string) error {
			return out.WriteValue(AppendQuoted(out.AvailableBuffer(), s))
		}),
		json.MarshalToFunc(func(out *jsontext.Encoder, n stdjson.Number) error {
			if n == "" {
				return out.WriteToken(jsontext.Null)
			}
			return out.WriteValue(jsontext.Value(n))
		}),
		json.MarshalToFunc(func(out *jsontext.Encoder, t time.Time) error {
			return out.WriteToken(jsontext.String(Time(t)))
		}),
	)),
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
// `[]`, and raw values are unchanged. A [stdjson.Number] keeps its digits, and is null if it is empty. A time is written as
// by [Time].
//
// Such a value always has JSON if its raw values came from this package. Otherwise Marshal panics.
func Marshal(v any) Text {
	var w Writer
	w.Value(v)
	return w.Text()
}

// Value writes a value of the contract, as [Marshal] does.
func (w *Writer) Value(v any) {
	w.comma()
	if err := json.MarshalWrite((*appender)(&w.buf), v, writing); err != nil {
		panic(fmt.Sprintf("jsonwire: a %T is not JSON: %v", v, err))
	}
}

// An appender is an [io.Writer] that appends to a slice.
type appender []byte

func (a *appender) Write(text []byte) (int, error) {
	*a = append(*a, text...)
	return len(text), nil
}

// Unmarshal binds a text to the value that v points to. Names are matched exactly; members without a field are
// ignored.
func Unmarshal(text Text, v any) error {
	if err := json.Unmarshal(text, v, binding); err != nil {
		return fmt.Errorf("bind JSON: %w", err)
	}
	return nil
}

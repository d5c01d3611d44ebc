package jsonwire

import (
	"bytes"
	stdjson "encoding/json"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

var (
	writing = json.JoinOptions(
		json.WithMarshalers(marshalers),
		// A raw value is already canonical. If it were written again, a lone surrogate in it would become U+FFFD.
		jsontext.PreserveRawStrings(true),
		jsontext.AllowInvalidUTF8(true),
		jsontext.AllowDuplicateNames(true),
		// Without this, an optional `{}`, such as the metadata of a result, would be left out like a missing one.
		jsonv1.OmitEmptyWithLegacySemantics(true),
	)
	marshalers = json.JoinMarshalers(
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
	)
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
	text, err := json.Marshal(v, writing)
	mustBeJSON(v, err)
	return text
}

// Value writes a value of the contract, as [Marshal] does.
func (w *Writer) Value(v any) {
	w.comma()
	out := bytes.NewBuffer(w.buf) // the encoder appends to it without a buffer of its own
	mustBeJSON(v, json.MarshalWrite(out, v, writing))
	w.buf = out.Bytes()
}

func mustBeJSON(v any, err error) {
	if err != nil {
		panic(fmt.Sprintf("jsonwire: a %T is not JSON: %v", v, err))
	}
}

// Register has write write all values of type T from now on. This is for types of which one response has hundreds: it
// takes half the time of finding out their fields while they are written. It must be called before anything is
// written, in an init function.
func Register[T any](write func(w *Writer, value *T)) {
	marshalers = json.JoinMarshalers(json.MarshalToFunc(func(out *jsontext.Encoder, value *T) error {
		w := NewWriter(out.AvailableBuffer())
		write(w, value)
		return out.WriteValue(jsontext.Value(w.Text()))
	}), marshalers)
	writing = json.JoinOptions(writing, json.WithMarshalers(marshalers))
}

// Unmarshal binds a text to the value that v points to. Names are matched exactly; members without a field are
// ignored.
func Unmarshal(text Text, v any) error {
	if err := json.Unmarshal(text, v, binding); err != nil {
		return fmt.Errorf("bind JSON: %w", err)
	}
	return nil
}

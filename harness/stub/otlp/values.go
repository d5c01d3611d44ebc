package otlp

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"math"
	"strconv"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"

	"github.com/lockstep-dev/lockstep/harness/internal/plainjson"
)

// maxDepth is how deep a value is shown.
const maxDepth = 32

func encode(v any) json.RawMessage { return plainjson.Encode(v) }

// attributes returns attributes as an object.
func attributes(all []*commonpb.KeyValue, depth int) map[string]any {
	out := map[string]any{}
	for _, kv := range all {
		out[kv.GetKey()] = value(kv.GetValue(), depth+1)
	}
	return out
}

// value returns a value as JSON. Integers and doubles stay different, since a reader may tell them apart.
func value(v *commonpb.AnyValue, depth int) any {
	if depth > maxDepth {
		return "nested too deeply"
	}
	switch of := v.GetValue().(type) {
	case *commonpb.AnyValue_StringValue:
		return of.StringValue
	case *commonpb.AnyValue_BoolValue:
		return of.BoolValue
	case *commonpb.AnyValue_IntValue:
		return of.IntValue
	case *commonpb.AnyValue_DoubleValue:
		return double(of.DoubleValue)
	case *commonpb.AnyValue_BytesValue:
		return base64.StdEncoding.EncodeToString(of.BytesValue)
	case *commonpb.AnyValue_KvlistValue:
		return attributes(of.KvlistValue.GetValues(), depth)
	case *commonpb.AnyValue_ArrayValue:
		out := []any{}
		for _, item := range of.ArrayValue.GetValues() {
			out = append(out, value(item, depth+1))
		}
		return out
	}
	return nil
}

// double writes a number with a fraction or an exponent.
func double(f float64) any {
	out := plain(f)
	if text, ok := out.(json.RawMessage); ok && !bytes.ContainsAny(text, ".e") {
		return append(text, ".0"...)
	}
	return out
}

// plain writes a number. JSON has no infinite ones, so those are texts.
func plain(f float64) any {
	text := strconv.FormatFloat(f, 'g', -1, 64)
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return text
	}
	return json.RawMessage(text)
}

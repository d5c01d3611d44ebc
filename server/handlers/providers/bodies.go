package providers

import (
	"github.com/lockstep-dev/lockstep/gen/api"
	"github.com/lockstep-dev/lockstep/server/httpapi/body"
	"github.com/lockstep-dev/lockstep/server/wire/decode"
)

// Bodies are the decoders of the request bodies, by operation.
var Bodies = map[string]body.Shape{
	"checkProvider":        body.ShapeOf(decodeCheck),
	"setProvider":          body.ShapeOf(decodeSet),
	"getPricing":           body.ShapeOf(decodePricing),
	"detectProvider":       body.ShapeOf(decodeDetect),
	"createCustomProvider": body.ShapeOf(decodeCustom),
	"updateCustomProvider": body.ShapeOf(decodeCustom),
}

func decodeCheck(v decode.Value) (api.CheckProviderRequest, error) {
	o := v.Object("provider")
	return api.CheckProviderRequest{Provider: o.String("provider")}, o.Err()
}

func decodeSet(v decode.Value) (api.SetProviderRequest, error) {
	o := v.Object("provider", "model")
	return api.SetProviderRequest{Provider: o.String("provider"), Model: o.String("model")}, o.Err()
}

func decodeDetect(v decode.Value) (api.DetectProviderRequest, error) {
	o := v.Object("api_key")
	return api.DetectProviderRequest{APIKey: o.String("api_key")}, o.Err()
}

func decodePricing(v decode.Value) (api.PricingQuery, error) {
	o := v.Object("configured_only")
	return api.PricingQuery{ConfiguredOnly: o.MaybeBool("configured_only")}, o.Err()
}

func decodeCustom(v decode.Value) (api.UpdateCustomProviderRequest, error) {
	o := v.Object("engine", "display_name", "api_url", "api_key", "models", "supports_streaming", "headers")
	return api.UpdateCustomProviderRequest{
		Engine:            o.String("engine"),
		DisplayName:       o.String("display_name"),
		APIURL:            o.String("api_url"),
		APIKey:            o.String("api_key"),
		Models:            decode.List(o, "models", decode.Value.Str),
		SupportsStreaming: o.MaybeBool("supports_streaming"),
		Headers:           decode.FieldOrZero(o, "headers", decode.Pairs),
	}, o.Err()
}

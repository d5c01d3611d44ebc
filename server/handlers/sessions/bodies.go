package sessions

import (
	"github.com/lockstep-dev/lockstep/gen/api"
	"github.com/lockstep-dev/lockstep/server/httpapi/body"
	"github.com/lockstep-dev/lockstep/server/wire/decode"
)

// Bodies are the decoders of the request bodies, by operation.
var Bodies = map[string]body.Shape{
	"updateSessionUserRecipeValues": body.ShapeOf(decodeValues),
	"importSession":                 body.ShapeOf(decodeImport),
	"updateSessionName":             body.ShapeOf(decodeName),
	"editMessage":                   body.ShapeOf(decodeEdit),
}

func decodeImport(v decode.Value) (api.ImportSessionRequest, error) {
	o := v.Object("json")
	return api.ImportSessionRequest{JSON: o.String("json")}, o.Err()
}

func decodeName(v decode.Value) (api.UpdateSessionNameRequest, error) {
	o := v.Object("name")
	return api.UpdateSessionNameRequest{Name: o.String("name")}, o.Err()
}

func decodeValues(v decode.Value) (api.UpdateSessionUserRecipeValuesRequest, error) {
	o := v.Object("userRecipeValues")
	return api.UpdateSessionUserRecipeValuesRequest{UserRecipeValues: decode.Field(o, "userRecipeValues", decode.Pairs)}, o.Err()
}

func decodeEdit(v decode.Value) (api.EditMessageRequest, error) {
	o := v.Object("timestamp", "editType")
	r := api.EditMessageRequest{Timestamp: o.Int("timestamp")}
	kind := decode.FieldOr(o, "editType", api.EditTypeFork, func(v decode.Value) (api.EditType, error) {
		kind, err := decode.OneOf(string(api.EditTypeFork), string(api.EditTypeEdit))(v)
		return api.EditType(kind), err
	})
	r.EditType = &kind
	return r, o.Err()
}

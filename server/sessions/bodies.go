package sessions

import (
	"github.com/lockstep-dev/lockstep/server/body"
	"github.com/lockstep-dev/lockstep/server/decode"
	"github.com/lockstep-dev/lockstep/server/jsonwire"
)

// Bodies are the shapes of the bodies, by operation.
var Bodies = map[string]body.Shape{
	"updateSessionUserRecipeValues": body.ShapeOf(decodeValues),
	"importSession":                 body.ShapeOf(decodeImport),
	"updateSessionName":             body.ShapeOf(decodeName),
	"editMessage":                   body.ShapeOf(decodeEdit),
}

type (
	importRequest struct{ json string }
	nameRequest   struct{ name string }
	valuesRequest struct{ values jsonwire.Pairs }
	editRequest   struct {
		timestamp int64
		inPlace   bool
	}
)

func decodeImport(v decode.Value) (importRequest, error) {
	o := v.Object("json")
	return importRequest{o.String("json")}, o.Err()
}

func decodeName(v decode.Value) (nameRequest, error) {
	o := v.Object("name")
	return nameRequest{o.String("name")}, o.Err()
}

func decodeValues(v decode.Value) (valuesRequest, error) {
	o := v.Object("userRecipeValues")
	return valuesRequest{decode.Field(o, "userRecipeValues", decode.Value.Pairs)}, o.Err()
}

func decodeEdit(v decode.Value) (editRequest, error) {
	o := v.Object("timestamp", "editType")
	r := editRequest{timestamp: o.Int("timestamp")}
	kind := decode.FieldOr(o, "editType", "fork", func(v decode.Value) (string, error) { return v.OneOf("fork", "edit") })
	r.inPlace = kind == "edit"
	return r, o.Err()
}

package sessions

import (
	"github.com/lockstep-dev/lockstep/server/body"
	"github.com/lockstep-dev/lockstep/server/decode"
)

// Bodies are the shapes of the bodies, by operation.
var Bodies = map[string]body.Shape{
	"importSession":     body.ShapeOf(decodeImport),
	"updateSessionName": body.ShapeOf(decodeName),
	"editMessage":       body.ShapeOf(decodeEdit),
}

type (
	importRequest struct{ json string }
	nameRequest   struct{ name string }
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

func decodeEdit(v decode.Value) (editRequest, error) {
	o := v.Object("timestamp", "editType")
	r := editRequest{timestamp: o.Int("timestamp")}
	kind := decode.FieldOr(o, "editType", "fork", func(v decode.Value) (string, error) { return v.OneOf("fork", "edit") })
	r.inPlace = kind == "edit"
	return r, o.Err()
}

package message

import (
	"github.com/lockstep-dev/lockstep/gen/api"
	"github.com/lockstep-dev/lockstep/server/wire/decode"
)

// Annotations say who an item is for, and how important it is (GA 4.5). A nil field is absent, and so is an empty number.
type Annotations = api.Annotations

func decodeAnnotations(v decode.Value) (Annotations, error) {
	o := v.Object("audience", "priority", "lastModified")
	return Annotations{
		Audience:     decode.MaybeList(o, "audience", decodeRole),
		Priority:     decode.FieldOrZero(o, "priority", decode.Value.Number),
		LastModified: decode.MaybeField(o, "lastModified", decode.Time),
	}, o.Err()
}

func annotationsOf(o *decode.Object) *Annotations {
	return decode.MaybeField(o, "annotations", decodeAnnotations)
}

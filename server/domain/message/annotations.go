package message

import (
	"encoding/json"
	"time"

	"github.com/lockstep-dev/lockstep/server/wire/decode"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// Annotations say who an item is for, and how important it is (GA 4.5).
type Annotations struct {
	Audience     []Role // nil if absent
	Priority     json.Number
	LastModified *time.Time
}

func decodeAnnotations(v decode.Value) (Annotations, error) {
	o := v.Object("audience", "priority", "lastModified")
	a := Annotations{
		Audience: decode.MaybeList(o, "audience", func(v decode.Value) (Role, error) {
			role, err := v.OneOf(string(User), string(Assistant))
			return Role(role), err
		}),
		LastModified: decode.MaybeField(o, "lastModified", decode.Value.Time),
	}
	if priority := decode.MaybeField(o, "priority", decode.Value.Number); priority != nil {
		a.Priority = *priority
	}
	return a, o.Err()
}

func annotationsOf(o *decode.Object) *Annotations {
	return decode.MaybeField(o, "annotations", decodeAnnotations)
}

// write writes the member annotations, or nothing if there are none.
func (a *Annotations) write(w *jsonwire.Writer) {
	if a == nil {
		return
	}
	w.Name("annotations").Open('{')
	if a.Audience != nil {
		w.Name("audience").Open('[')
		for _, role := range a.Audience {
			w.String(string(role))
		}
		w.Close(']')
	}
	if a.Priority != "" {
		w.MaybeRaw("priority", []byte(a.Priority))
	}
	if a.LastModified != nil {
		w.Name("lastModified").String(jsonwire.Time(*a.LastModified))
	}
	w.Close('}')
}

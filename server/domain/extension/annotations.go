package extension

import (
	"github.com/lockstep-dev/lockstep/server/wire/decode"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// Annotations are a tool's hints about itself. A nil field is absent.
type Annotations struct {
	Title                                        *string
	ReadOnly, Destructive, Idempotent, OpenWorld *bool
}

func decodeAnnotations(v decode.Value) (Annotations, error) {
	o := v.Object("title", "readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
	return Annotations{
		Title:       o.MaybeString("title"),
		ReadOnly:    o.MaybeBool("readOnlyHint"),
		Destructive: o.MaybeBool("destructiveHint"),
		Idempotent:  o.MaybeBool("idempotentHint"),
		OpenWorld:   o.MaybeBool("openWorldHint"),
	}, o.Err()
}

// write writes the member annotations, or nothing if there are none.
func (a *Annotations) write(w *jsonwire.Writer) {
	if a == nil {
		return
	}
	w.Name("annotations").Open('{')
	w.MaybeString("title", a.Title)
	for _, hint := range []struct {
		name  string
		value *bool
	}{
		{"readOnlyHint", a.ReadOnly}, {"destructiveHint", a.Destructive},
		{"idempotentHint", a.Idempotent}, {"openWorldHint", a.OpenWorld},
	} {
		if hint.value != nil {
			w.Name(hint.name).Bool(*hint.value)
		}
	}
	w.Close('}')
}

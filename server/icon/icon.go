// Package icon has the icons of tools and of resources, as MCP describes them (GA 4.5, 4.9).
package icon

import (
	"github.com/lockstep-dev/lockstep/server/decode"
	"github.com/lockstep-dev/lockstep/server/jsonwire"
)

// An Icon is one picture, in one or more sizes. Nil is a field that is absent.
type Icon struct {
	Src      string
	MIMEType *string
	Sizes    []string
}

// Of reads the member icons of an object, and returns nil if it is missing or null.
func Of(o *decode.Object) []Icon { return decode.MaybeList(o, "icons", decodeIcon) }

func decodeIcon(v decode.Value) (Icon, error) {
	o := v.Object("src", "mimeType", "sizes")
	return Icon{
		Src: o.String("src"), MIMEType: o.MaybeString("mimeType"), Sizes: decode.MaybeList(o, "sizes", decode.Value.Str),
	}, o.Err()
}

// Write writes the member icons, and nothing if the list is nil.
func Write(w *jsonwire.Writer, icons []Icon) {
	if icons == nil {
		return
	}
	w.Name("icons")
	w.Open('[')
	for _, icon := range icons {
		icon.write(w)
	}
	w.Close(']')
}

func (i Icon) write(w *jsonwire.Writer) {
	w.Open('{')
	w.Name("src")
	w.String(i.Src)
	w.MaybeString("mimeType", i.MIMEType)
	if i.Sizes != nil {
		w.Name("sizes")
		w.Strings(i.Sizes)
	}
	w.Close('}')
}

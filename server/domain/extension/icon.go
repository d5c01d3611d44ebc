package extension

import (
	"github.com/lockstep-dev/lockstep/server/wire/decode"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// An Icon is a picture of a tool or a resource, in one or more sizes, as in MCP (GA 4.5, 4.9). A nil field is absent.
type Icon struct {
	Src      string
	MIMEType *string
	Sizes    []string
}

// DecodeIcons reads the member icons of an object, and returns nil if it is missing or null.
func DecodeIcons(o *decode.Object) []Icon { return decode.MaybeList(o, "icons", decodeIcon) }

func decodeIcon(v decode.Value) (Icon, error) {
	o := v.Object("src", "mimeType", "sizes")
	return Icon{
		Src: o.String("src"), MIMEType: o.MaybeString("mimeType"), Sizes: decode.MaybeList(o, "sizes", decode.Value.Str),
	}, o.Err()
}

// WriteIcons writes the member icons, or nothing if the list is nil.
func WriteIcons(w *jsonwire.Writer, icons []Icon) {
	if icons != nil {
		jsonwire.Array(w.Name("icons"), icons, Icon.write)
	}
}

func (i Icon) write(w *jsonwire.Writer) {
	w.Open('{')
	w.Name("src").String(i.Src)
	w.MaybeString("mimeType", i.MIMEType)
	if i.Sizes != nil {
		w.Name("sizes").Strings(i.Sizes)
	}
	w.Close('}')
}

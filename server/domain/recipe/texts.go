package recipe

import (
	"bytes"

	"github.com/lockstep-dev/lockstep/server/wire/decode"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// texts calls change with every text of a recipe that may be a template, including keys (decision G19), and replaces
// the text by the result. It stops at the first error.
//
// The receiver is a copy, but shares its lists. So texts works on the JSON of the recipe, which has no pointers. It
// scans the JSON once from start to end, because schemas in it may be deep.
func (r *Recipe) texts(change func(string) (string, error)) error {
	text := jsonwire.Of(*r)
	var out jsonwire.Text
	copied := 0
	for from, end := range text.Strings() {
		quoted := text[from:end]
		if bytes.IndexByte(quoted, '{') < 0 { // not a template
			continue
		}
		changed, err := change(quoted.Str())
		if err != nil {
			return err
		}
		out = jsonwire.AppendQuoted(append(out, text[copied:from]...), changed)
		copied = end
	}
	changed, err := decode.Text(append(out, text[copied:]...), decodeWritten)
	if err == nil {
		*r = changed
	}
	return err
}

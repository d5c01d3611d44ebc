package recipe

import (
	"bytes"

	"github.com/lockstep-dev/lockstep/server/wire/decode"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// texts calls a function with every text of a recipe that may be a template, keys included (decision G19), and puts what it
// returns in the text's place. The first error ends it.
//
// The receiver is a copy, but its lists are shared: texts works on the JSON of the recipe, which has no pointers. It is
// read once from end to end, because schemas in it may be deep.
func (r *Recipe) texts(change func(string) (string, error)) error {
	text := jsonwire.Of(*r)
	var out jsonwire.Text
	copied := 0
	for from, end := range text.Strings() {
		quoted := text[from:end]
		if bytes.IndexByte(quoted, '{') < 0 { // no template
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

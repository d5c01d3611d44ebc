package recipe

import (
	"encoding/json"
	"slices"

	"github.com/lockstep-dev/lockstep/server/decode"
	"github.com/lockstep-dev/lockstep/server/jsonwire"
)

// texts calls a function with every text of a recipe that is a template, and puts what it returns in the text's place:
// all texts but those of the parameters and of retry (decision G19). The first error ends it.
//
// The receiver is a copy, but its lists are shared: texts works on the JSON of the recipe, which has no pointers.
func (r *Recipe) texts(change func(string) (string, error)) error {
	w := jsonwire.NewWriter(nil)
	r.Write(w)
	out := jsonwire.NewWriter(nil)
	out.Open('{')
	for name, value := range w.Text().Members() {
		out.Key(name.Str())
		if fixed := []string{"version", "parameters", "retry"}; slices.Contains(fixed, name.Str()) {
			out.Raw(value)
			continue
		}
		if err := changed(out, value, change); err != nil {
			return err
		}
	}
	out.Close('}')
	v, err := decode.Parse(out.Text())
	if err != nil {
		return err
	}
	*r, err = Decode(v)
	return err
}

// changed writes a value with its texts changed. Keys are no texts.
func changed(out *jsonwire.Writer, value jsonwire.Text, change func(string) (string, error)) error {
	switch value.Kind() {
	case "string":
		text, err := change(value.Str())
		out.String(text)
		return err
	case "array":
		out.Open('[')
		for _, element := range value.Elements() {
			if err := changed(out, element, change); err != nil {
				return err
			}
		}
		out.Close(']')
		return nil
	case "object":
		out.Open('{')
		for name, member := range value.Members() {
			out.Key(name.Str())
			if err := changed(out, member, change); err != nil {
				return err
			}
		}
		out.Close('}')
		return nil
	}
	out.Raw(json.RawMessage(value))
	return nil
}

package turn

import (
	"encoding/json"
	"strings"

	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// coerce converts string arguments to the type that the schema requires, if they have that form (GA 7.8, decision
// M49). Models often quote numbers.
func coerce(arguments, schema json.RawMessage) json.RawMessage {
	if arguments == nil {
		return nil
	}
	types := map[string]string{}
	for name, property := range jsonwire.Text(schema).Get("properties").Members() {
		types[name.Str()] = property.Get("type").Str()
	}
	w := jsonwire.NewWriter(nil)
	w.Open('{')
	for name, value := range jsonwire.Text(arguments).Members() {
		w.Raw(append(append(jsonwire.Text{}, name...), ':'))
		w.Raw(converted(value, types[name.Str()]))
	}
	w.Close('}')
	return json.RawMessage(w.Text())
}

// converted returns a string as a value of the given type if it has that form, or else unchanged.
func converted(value jsonwire.Text, kind string) jsonwire.Text {
	if value.Kind() != "string" {
		return value
	}
	text := value.Str()
	switch kind {
	case "boolean":
		if text == "true" || text == "false" {
			return jsonwire.Text(text)
		}
	case "number", "integer":
		number, err := jsonwire.Parse([]byte(text))
		if err != nil || number.Kind() != "number" || string(number) != text {
			return value
		}
		if kind == "integer" && strings.ContainsAny(text, ".eE") {
			return value
		}
		return number
	}
	return value
}

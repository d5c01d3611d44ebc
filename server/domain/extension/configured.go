package extension

import (
	"encoding/json"
	"errors"
	"iter"
	"slices"

	"github.com/lockstep-dev/lockstep/server/wire/decode"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// An Entry is an extension in the settings (GA 10.9).
type Entry struct {
	Enabled bool
	Config  Config
}

// platform are the extensions that are part of the server. They are enabled unless the settings say otherwise
// (decision G25).
var platform = []struct{ key, name, description string }{
	{"todo", "todo", "Keeps a todo list."},
	{"chatrecall", "chatrecall", "Finds what was said in other sessions."},
	{"extensionmanager", "Extension Manager", "Finds, enables and disables extensions."},
	{"skills", "skills", "Loads skills."},
}

// Write writes the entry as JSON: whether it is enabled, then the fields of its configuration (GA 4.9).
func (e Entry) Write(w *jsonwire.Writer) {
	w.Open('{')
	w.Name("enabled").Bool(e.Enabled)
	for name, value := range jsonwire.Of(e.Config).Members() {
		w.Key(name.Str()).Raw(value)
	}
	w.Close('}')
}

// Configured reads the setting extensions, which is a mapping. It returns the entries in order, without those that
// cannot be read. If the mapping has any key, it adds the platform extensions whose keys are missing.
func Configured(setting json.RawMessage) []Entry {
	var entries []Entry
	for _, value := range completed(setting) {
		if entry, err := decode.Text(value, decodeEntry); err == nil {
			entries = append(entries, entry)
		}
	}
	return entries
}

func decodeEntry(v decode.Value) (Entry, error) {
	o := v.Object("enabled")
	enabled := o.Bool("enabled")
	config, err := Decode(v)
	return Entry{enabled, config}, errors.Join(o.Err(), err)
}

// Stored returns the setting with an entry under the key of its name, which keeps the place of an earlier one. The
// platform extensions that are missing are added first, as by [Configured]. Other entries stay as they are, also those
// that cannot be read (decision G49).
func Stored(setting json.RawMessage, e Entry) json.RawMessage {
	return without(setting, Key(e.Config.Name), &e)
}

// Removed returns the setting without the entry under a key. The platform extensions that are missing are added first
// (decision G50).
func Removed(setting json.RawMessage, key string) json.RawMessage { return without(setting, key, nil) }

// without returns the setting with another entry under a key, or without one.
func without(setting json.RawMessage, key string, e *Entry) json.RawMessage {
	w := jsonwire.NewWriter(nil)
	w.Open('{')
	for known, value := range completed(setting) {
		if known != key {
			w.Key(known).Raw(value)
		} else if e != nil {
			e.Write(w.Key(key))
			e = nil
		}
	}
	if e != nil {
		e.Write(w.Key(key))
	}
	w.Close('}')
	return json.RawMessage(w.Text())
}

// completed yields the entries of the setting by key, and then the platform extensions whose keys are missing, if there
// is any entry. A setting that is not a mapping has none.
func completed(setting json.RawMessage) iter.Seq2[string, jsonwire.Text] {
	return func(yield func(string, jsonwire.Text) bool) {
		var keys []string
		for name, value := range jsonwire.Text(setting).Members() {
			keys = append(keys, name.Str())
			if !yield(name.Str(), value) {
				return
			}
		}
		for _, p := range platform {
			if len(keys) == 0 || slices.Contains(keys, p.key) {
				continue
			}
			entry := Entry{true, Config{Type: "platform", Name: p.name, Description: p.description, Bundled: new(true), AvailableTools: []string{}}}
			if !yield(p.key, jsonwire.Of(entry)) {
				return
			}
		}
	}
}

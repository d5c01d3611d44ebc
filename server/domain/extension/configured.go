package extension

import (
	"encoding/json"
	"slices"

	"github.com/lockstep-dev/lockstep/server/wire/decode"
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

// Configured reads the setting extensions, which is a mapping. It returns the entries in order, without those that
// cannot be read. If the mapping has any key, it adds the platform extensions whose keys are missing.
func Configured(setting json.RawMessage) []Entry {
	mapping, err := decode.Parse(setting)
	if err != nil {
		return nil
	}
	var entries []Entry
	var keys []string
	for key, value := range mapping.Members() {
		keys = append(keys, key)
		o := value.Object("enabled")
		enabled := o.Bool("enabled")
		if config, err := Decode(value); err == nil && o.Err() == nil {
			entries = append(entries, Entry{enabled, config})
		}
	}
	if len(keys) == 0 {
		return nil
	}
	for _, p := range platform {
		if !slices.Contains(keys, p.key) {
			entries = append(entries, Entry{true, Config{
				Type: "platform", Name: p.name, Description: p.description, Bundled: new(true), AvailableTools: []string{},
			}})
		}
	}
	return entries
}

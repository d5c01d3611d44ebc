package settings

import (
	"encoding/json"
	"strings"

	"github.com/lockstep-dev/lockstep/server/settings/ownsecret"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
	"github.com/lockstep-dev/lockstep/server/wire/lettercase"
)

// A View finds values. It reads what is stored when it first needs it, and keeps it: all values are of one moment, and the
// keyring is asked once. It is for one goroutine and a short time.
type View struct {
	s *Settings

	config, item, file stored // item is that of the keyring, file that of the secrets
}

// View returns a view that has not read anything yet.
func (s *Settings) View() *View { return &View{s: s} }

// stored is a mapping, once it is read.
type stored struct {
	read bool
	mapping
	err error
}

// value returns the value of a key, or nil if there is none.
func (from *stored) value(key string, read func() (mapping, error)) (jsonwire.Text, error) {
	if !from.read {
		from.mapping, from.err = read()
		from.read = true
	}
	return from.values[key], from.err
}

// Setting returns the value of a setting as canonical JSON, or nil if there is none. A file that cannot be read counts
// as empty (decision G13), which is logged: unlike that of Secret, the error is always nil.
func (v *View) Setting(key string) (json.RawMessage, error) {
	value, err := v.find(Config, key)
	if err != nil {
		v.s.log.Warn("configuration not read", "err", err)
		return nil, nil
	}
	return value, nil
}

// Secret returns the value of a secret as canonical JSON, or nil if there is none. Its errors come from reading the
// keyring or the file.
func (v *View) Secret(key string) (json.RawMessage, error) { return v.find(Secrets, key) }

// find returns the value of a key as canonical JSON: from the environment, or else from where it is stored (decisions G43,
// G55). It returns nil if there is none. Its errors come from reading what is stored.
func (v *View) find(from File, key string) (json.RawMessage, error) {
	variable := lettercase.Upper(key)
	if ownsecret.Is(variable) {
		return nil, nil
	}
	if variable != "" && !strings.ContainsAny(variable, "=\x00") {
		if value, set := v.s.env(variable); set {
			return json.RawMessage(typed(value)), nil
		}
	}
	value, err := v.stored(from, key)
	return json.RawMessage(value), err
}

// stored returns a value that is not in the environment, or nil if there is none.
func (v *View) stored(from File, key string) (jsonwire.Text, error) {
	if from != Secrets {
		return v.config.value(key, func() (mapping, error) { return v.s.mapping(from) })
	}
	if value, err := v.item.value(key, func() (mapping, error) { return v.s.secrets.item(v.s) }); value != nil || err != nil {
		return value, err
	}
	return v.file.value(key, func() (mapping, error) { return v.s.mapping(Secrets) })
}

// Setting is [View.Setting] of a new view.
func (s *Settings) Setting(key string) (json.RawMessage, error) { return s.View().Setting(key) }

// Secret is [View.Secret] of a new view.
func (s *Settings) Secret(key string) (json.RawMessage, error) { return s.View().Secret(key) }

// Text returns a setting that is a string, and false if it is missing or not a string.
func (s *Settings) Text(key string) (string, bool) {
	value, _ := s.Setting(key)
	text := jsonwire.Text(value)
	return text.Str(), text.Kind() == "string"
}

// Find returns a setting, or a secret, as canonical JSON, or nil if there is none. Its errors come from reading what is
// stored.
func (s *Settings) Find(from File, key string) (json.RawMessage, error) {
	return s.View().find(from, key)
}

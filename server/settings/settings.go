// Package settings finds and changes the values of settings and secrets (GA 1.3, 1.4, 10). The environment comes first,
// then what is stored. That is read each time, so that manual edits take effect at once.
//
// Settings are in config.yaml. Secrets are in the keyring of the desktop, and in secrets.yaml (decisions G53 to G56).
// Each of them holds a mapping.
package settings

import (
	"encoding/json"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"

	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
	"github.com/lockstep-dev/lockstep/server/wire/lettercase"
)

// Settings are the settings of one server. Its methods are safe for concurrent use.
type Settings struct {
	dir string
	env Lookup
	log *slog.Logger

	mu sync.Mutex // guards the files: reading, changing and writing one is one step (decision G42)

	secrets secretStore
}

// New returns the settings of a configuration directory. The environment also says whether there is a keyring. The caller
// closes the settings.
func New(config string, env Lookup, log *slog.Logger) *Settings {
	return &Settings{dir: config, env: env, log: log}
}

// A File is one of the files with values.
type File string

// The files. Secrets also stands for the secrets of the keyring.
const (
	Config  File = "config.yaml"
	Secrets File = "secrets.yaml"
)

// Setting returns the value of a setting as canonical JSON, or nil if there is none. A file that cannot be read counts
// as empty (decision G13), which is logged: unlike that of Secret, the error is always nil.
func (s *Settings) Setting(key string) (json.RawMessage, error) {
	value, err := s.Find(Config, key)
	if err != nil {
		s.log.Warn("configuration not read", "err", err)
		return nil, nil
	}
	return value, nil
}

// Secret returns the value of a secret as canonical JSON, or nil if there is none. Its errors come from reading the
// keyring or the file.
func (s *Settings) Secret(key string) (json.RawMessage, error) { return s.Find(Secrets, key) }

// Text returns a setting that is a string, and false if it is missing or not a string.
func (s *Settings) Text(key string) (string, bool) {
	value, _ := s.Setting(key)
	text := jsonwire.Text(value)
	return text.Str(), text.Kind() == "string"
}

// serverKey is the name of this server's own secret. Clients cannot read it as a setting or a secret (decisions G32,
// G43).
const serverKey = "GOOSE_SERVER__SECRET_KEY"

// Find returns the value of a key as canonical JSON: from the environment, or else from where it is stored (decisions G43,
// G55). It returns nil if there is none. Its errors come from reading what is stored.
func (s *Settings) Find(from File, key string) (json.RawMessage, error) {
	variable := lettercase.Upper(key)
	if variable == serverKey {
		return nil, nil
	}
	if variable != "" && !strings.ContainsAny(variable, "=\x00") {
		if value, set := s.env(variable); set {
			return json.RawMessage(typed(value)), nil
		}
	}
	if from == Secrets {
		value, err := s.storedSecret(key)
		return json.RawMessage(value), err
	}
	value, err := s.inFile(from, key)
	return json.RawMessage(value), err
}

// inFile returns the value of a key in a file, or nil if there is none.
func (s *Settings) inFile(f File, key string) (jsonwire.Text, error) {
	mapping, err := s.Mapping(f)
	if err != nil {
		return nil, err
	}
	return member(mapping, key), nil
}

// member returns the value of a key in a mapping, or nil if there is none.
func member(mapping jsonwire.Text, key string) jsonwire.Text {
	for name, value := range mapping.Members() {
		if name.Str() == key {
			return value
		}
	}
	return nil
}

func (s *Settings) path(f File) string { return filepath.Join(s.dir, string(f)) }

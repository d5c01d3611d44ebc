// Package settings finds and changes the values of settings and secrets (GA 1.3, 1.4, 10). The environment comes first,
// then the files of the configuration directory. The files are read each time, so that manual edits take effect at once.
//
// Settings are in config.yaml, secrets in secrets.yaml; the keyring of the operating system is not used. Both files
// hold a mapping.
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
}

// New returns the settings of a configuration directory.
func New(config string, env Lookup, log *slog.Logger) *Settings {
	return &Settings{dir: config, env: env, log: log}
}

// A File is one of the files with values.
type File string

// The files.
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
// file.
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

// Find returns the value of a key as canonical JSON: from the environment, or else from a file (decision G43). It
// returns nil if there is none. Its errors come from reading the file.
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
	mapping, err := s.Mapping(from)
	if err != nil {
		return nil, err
	}
	for name, value := range mapping.Members() {
		if name.Str() == key {
			return json.RawMessage(value), nil
		}
	}
	return nil, nil
}

func (s *Settings) path(f File) string { return filepath.Join(s.dir, string(f)) }

// Package settings finds the values of settings and secrets (GA 1.3, 1.4): in the environment first, else in the files of
// the configuration directory, which are read again each time, so that edits by hand are seen at once.
//
// Settings are in config.yaml, secrets in secrets.yaml; the operating system's keyring is not used. Both hold a mapping.
package settings

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/lockstep-dev/lockstep/server/files"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
	"github.com/lockstep-dev/lockstep/server/wire/lettercase"
	"github.com/lockstep-dev/lockstep/server/wire/yamljson"
)

// Settings are the settings of one server. Its methods may be called at any time by anybody.
type Settings struct {
	dir string
	env Lookup
	log *slog.Logger

	mu sync.Mutex // over the files
}

// New returns the settings of a configuration directory, which must exist.
func New(config string, env Lookup, log *slog.Logger) *Settings {
	return &Settings{dir: config, env: env, log: log}
}

// Setting returns the value of a setting as canonical JSON, nil if there is none. The error is one of reading a file.
func (s *Settings) Setting(key string) (json.RawMessage, error) { return s.find(key, s.File) }

// Secret returns the value of a secret as canonical JSON, nil if there is none. The error is one of reading a file.
func (s *Settings) Secret(key string) (json.RawMessage, error) { return s.find(key, s.secrets) }

// Text returns a setting that is a text, and false if there is none or it is something else.
func (s *Settings) Text(key string) (string, bool) {
	value, err := s.Setting(key)
	if err != nil {
		s.log.Warn("setting not read", "err", err)
		return "", false
	}
	text := jsonwire.Text(value)
	if text.Kind() != "string" {
		return "", false
	}
	return text.Str(), true
}

// maxFile is how large a file may be (decision G13).
const maxFile = 2 << 20

// serverKey opens this server. It is neither a setting nor a secret, even if a client names it (decision G32).
const serverKey = "GOOSE_SERVER__SECRET_KEY"

func (s *Settings) find(key string, file func() (jsonwire.Text, error)) (json.RawMessage, error) {
	if strings.EqualFold(key, serverKey) {
		return nil, nil
	}
	if value, set := s.env(lettercase.Upper(key)); set {
		return json.RawMessage(typed(value)), nil
	}
	mapping, err := file()
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

// File returns the mapping of config.yaml. A file that is missing or holds no mapping is replaced, by the newest of its
// copies that does, or else by an empty mapping (GA 10). One that holds none is kept, and one that cannot be read counts as
// empty (decision G13).
func (s *Settings) File() (jsonwire.Text, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	path := filepath.Join(s.dir, "config.yaml")
	mapping, err := readMapping(path)
	if err == nil {
		return mapping, nil
	}
	broken := errors.Is(err, errNoMapping)
	if !broken && !errors.Is(err, fs.ErrNotExist) {
		s.log.Warn("configuration not read", "err", err)
		return jsonwire.Text("{}"), nil
	}
	if broken {
		if err := keepAside(path); err != nil {
			return nil, fmt.Errorf("keep what %s held: %w", path, err)
		}
		s.log.Warn("configuration kept aside", "from", path, "to", path+".broken", "err", err)
	}
	for _, suffix := range suffixes {
		backup := path + ".bak" + suffix
		content, err := files.Read(backup, maxFile)
		if err != nil {
			continue
		}
		if mapping, err := parseMapping(backup, content); err == nil {
			s.log.Warn("configuration restored", "from", backup, "to", path)
			return mapping, replace(path, content)
		}
	}
	if broken {
		s.log.Warn("configuration replaced by an empty one", "to", path)
	}
	return jsonwire.Text("{}"), replace(path, []byte("{}\n"))
}

// suffixes are those of the copies of a file, the newest first.
var suffixes = []string{"", ".1", ".2", ".3", ".4", ".5"}

// keepAside moves a file out of the way, and the earlier ones a place on.
func keepAside(path string) error {
	for i := len(suffixes) - 1; i > 0; i-- {
		if err := os.Rename(path+".broken"+suffixes[i-1], path+".broken"+suffixes[i]); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return os.Rename(path, path+".broken")
}

// secrets returns the mapping of secrets.yaml, which is empty if there is no file.
func (s *Settings) secrets() (jsonwire.Text, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	mapping, err := readMapping(filepath.Join(s.dir, "secrets.yaml"))
	if errors.Is(err, fs.ErrNotExist) {
		return jsonwire.Text("{}"), nil
	}
	return mapping, err
}

var errNoMapping = errors.New("not a YAML mapping")

func readMapping(path string) (jsonwire.Text, error) {
	content, err := files.Read(path, maxFile)
	if err != nil {
		return nil, err
	}
	return parseMapping(path, content)
}

// parseMapping returns the mapping that a file holds; an empty file holds an empty one.
func parseMapping(path string, content []byte) (jsonwire.Text, error) {
	value, err := yamljson.Parse(content)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w", path, errNoMapping, err)
	}
	switch value.Kind() {
	case "object":
		return value, nil
	case "null":
		return jsonwire.Text("{}"), nil
	}
	return nil, fmt.Errorf("%s: %w", path, errNoMapping)
}

// replace puts a content in the place of a file.
func replace(path string, content []byte) error {
	return files.ReplacePrivate(path, strings.TrimSuffix(path, filepath.Ext(path))+".tmp", content)
}

// Package settings finds the values of settings and secrets (GA 1.3, 1.4). The environment comes first, then the
// files of the configuration directory. The files are read each time, so that manual edits take effect at once.
//
// Settings are in config.yaml, secrets in secrets.yaml; the keyring of the operating system is not used. Both files
// hold a mapping.
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

// Settings are the settings of one server. Its methods are safe for concurrent use.
type Settings struct {
	dir string
	env Lookup
	log *slog.Logger

	mu sync.Mutex // guards the files
}

// New returns the settings of a configuration directory, which must exist.
func New(config string, env Lookup, log *slog.Logger) *Settings {
	return &Settings{dir: config, env: env, log: log}
}

// Setting returns the value of a setting as canonical JSON, or nil if there is none. Its errors come from reading the
// file.
func (s *Settings) Setting(key string) (json.RawMessage, error) { return s.find(key, s.File) }

// Secret returns the value of a secret as canonical JSON, or nil if there is none. Its errors come from reading the
// file.
func (s *Settings) Secret(key string) (json.RawMessage, error) { return s.find(key, s.secrets) }

// Text returns a setting that is a string, and false if it is missing or not a string.
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

// maxFile is the maximum size of a file (decision G13).
const maxFile = 2 << 20

// serverKey is the name of this server's own secret. Clients cannot read it as a setting or a secret (decision G32).
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

// File returns the mapping of config.yaml. If the file is missing or has no mapping, its newest backup with a mapping
// replaces it, or else an empty mapping (GA 10). A file without a mapping is kept under another name. A file that
// cannot be read counts as empty (decision G13).
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

// suffixes are the suffixes of a file's copies, newest first.
var suffixes = []string{"", ".1", ".2", ".3", ".4", ".5"}

// keepAside renames a broken file, and shifts the earlier copies by one.
func keepAside(path string) error {
	for i := len(suffixes) - 1; i > 0; i-- {
		if err := os.Rename(path+".broken"+suffixes[i-1], path+".broken"+suffixes[i]); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return os.Rename(path, path+".broken")
}

// secrets returns the mapping of secrets.yaml, or an empty one if there is no file.
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

// parseMapping parses a file that must hold a mapping. An empty file holds an empty one.
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

// replace replaces the content of a file.
func replace(path string, content []byte) error {
	return files.ReplacePrivate(path, strings.TrimSuffix(path, filepath.Ext(path))+".tmp", content)
}

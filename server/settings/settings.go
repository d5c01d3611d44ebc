// Package settings finds and changes the values of settings and secrets (GA 1.3, 1.4, 10). The environment comes first,
// then what is stored. That is read each time, so that manual edits take effect at once.
//
// Settings are in config.yaml. Secrets are in the keyring of the desktop, and in secrets.yaml (decisions G53 to G56).
// Each of them holds a mapping.
package settings

import (
	"log/slog"
	"path/filepath"
	"sync"

	"github.com/lockstep-dev/lockstep/server/files"
)

// Settings are the settings of one server. Its methods are safe for concurrent use.
type Settings struct {
	dir string
	env Lookup
	log *slog.Logger

	mu    sync.Mutex // guards the files: reading, changing and writing one is one step (decision G42)
	files *files.Cache[mapping]

	secrets secretStore
}

// New returns the settings of a configuration directory. The environment also says whether there is a keyring. The caller
// closes the settings.
func New(config string, env Lookup, log *slog.Logger) *Settings {
	return &Settings{dir: config, env: env, log: log, files: files.NewCache(files.MaxSettings, parseMapping)}
}

// A File is one of the files with values.
type File string

// The files. Secrets also stands for the secrets of the keyring.
const (
	Config  File = "config.yaml"
	Secrets File = "secrets.yaml"
)

func (s *Settings) path(f File) string { return filepath.Join(s.dir, string(f)) }

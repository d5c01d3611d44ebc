package settings

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// A Lookup returns an environment variable.
type Lookup func(name string) (value string, set bool)

// Directories are the directories of the server's files (GA 1.3).
type Directories struct {
	Config string // settings, secrets, permissions, custom providers, recipes
	Data   string // sessions, schedules
	State  string // logs
	Cache  string // prices of models; "" if there is no place for them
}

// Locate returns the directories that the environment selects. They need not exist. GOOSE_PATH_ROOT has precedence;
// otherwise they follow the XDG Base Directory Specification, which ignores relative paths.
func Locate(env Lookup) (Directories, error) {
	cache, err := locateCache(env)
	if err != nil {
		return Directories{}, err
	}
	if root, _ := env("GOOSE_PATH_ROOT"); root != "" {
		root, err := filepath.Abs(root)
		if err != nil {
			return Directories{}, fmt.Errorf("GOOSE_PATH_ROOT: %w", err)
		}
		d := Below(root)
		d.Cache = cache
		return d, nil
	}
	home, _ := env("HOME")
	find := func(variable, byDefault string) string {
		if base, _ := env(variable); filepath.IsAbs(base) {
			return filepath.Join(base, "goose")
		}
		return filepath.Join(home, byDefault, "goose")
	}
	d := Directories{
		Config: find("XDG_CONFIG_HOME", ".config"),
		Data:   find("XDG_DATA_HOME", ".local/share"),
		State:  find("XDG_STATE_HOME", ".local/state"),
		Cache:  cache,
	}
	for _, path := range []string{d.Config, d.Data, d.State} {
		if !filepath.IsAbs(path) {
			return Directories{}, errors.New("neither GOOSE_PATH_ROOT nor HOME says where sessions and settings are kept")
		}
	}
	return d, nil
}

// locateCache returns the directory of the cache (decision G69), or "" if there is none.
func locateCache(env Lookup) (string, error) {
	if dir, _ := env("GOOSE_CACHE_DIR"); dir != "" {
		dir, err := filepath.Abs(dir)
		if err != nil {
			return "", fmt.Errorf("GOOSE_CACHE_DIR: %w", err)
		}
		return dir, nil
	}
	if base, _ := env("XDG_CACHE_HOME"); filepath.IsAbs(base) {
		return filepath.Join(base, "goose"), nil
	}
	home, _ := env("HOME")
	if home == "" {
		return "", nil
	}
	return filepath.Join(home, ".cache", "goose"), nil
}

// Below returns the directories below a root, without a cache.
func Below(root string) Directories {
	return Directories{Config: filepath.Join(root, "config"), Data: filepath.Join(root, "data"), State: filepath.Join(root, "state")}
}

// Sessions returns the path of the database.
func (d Directories) Sessions() string { return filepath.Join(d.Data, "sessions", "sessions.db") }

// Leases returns the directory of the clients whose tools survive a disconnect.
func (d Directories) Leases() string { return filepath.Join(d.Data, "leases") }

// Recipes returns the directory of the recipe library.
func (d Directories) Recipes() string { return filepath.Join(d.Config, "recipes") }

// Logs returns the directory of the logs of calls to models.
func (d Directories) Logs() string { return filepath.Join(d.State, "logs") }

// ServerLogs returns the directory of the server's own logs, which has a folder for each day.
func (d Directories) ServerLogs() string { return filepath.Join(d.Logs(), "server") }

// Make creates the directories (GA 1.5), except those for logs, without which the server works too (decision S47).
// Only the user can read new ones.
func (d Directories) Make() error {
	for _, path := range []string{d.Config, filepath.Dir(d.Sessions())} {
		if err := os.MkdirAll(path, 0o700); err != nil {
			return err
		}
	}
	return nil
}

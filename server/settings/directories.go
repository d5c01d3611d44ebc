package settings

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// A Lookup finds a variable of the environment.
type Lookup func(name string) (value string, set bool)

// Directories are where the server keeps things (GA 1.3), as absolute paths.
type Directories struct {
	Config string // settings, secrets, permissions, custom providers, recipes
	Data   string // sessions, schedules
	State  string // logs
}

// Locate returns the directories that the environment asks for. They need not exist. GOOSE_PATH_ROOT wins; else they are
// those of the XDG Base Directory Specification, which does not take relative ones.
func Locate(env Lookup) (Directories, error) {
	if root, _ := env("GOOSE_PATH_ROOT"); root != "" {
		root, err := filepath.Abs(root)
		if err != nil {
			return Directories{}, fmt.Errorf("GOOSE_PATH_ROOT: %w", err)
		}
		return Below(root), nil
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
	}
	for _, path := range []string{d.Config, d.Data, d.State} {
		if !filepath.IsAbs(path) {
			return Directories{}, errors.New("neither GOOSE_PATH_ROOT nor HOME says where sessions and settings are kept")
		}
	}
	return d, nil
}

// Below returns the directories of a root.
func Below(root string) Directories {
	return Directories{Config: filepath.Join(root, "config"), Data: filepath.Join(root, "data"), State: filepath.Join(root, "state")}
}

// Sessions is the file of the database.
func (d Directories) Sessions() string { return filepath.Join(d.Data, "sessions", "sessions.db") }

// Recipes is the directory of the recipe library.
func (d Directories) Recipes() string { return filepath.Join(d.Config, "recipes") }

// Logs is the directory of the logs of calls to models.
func (d Directories) Logs() string { return filepath.Join(d.State, "logs") }

// ServerLogs is the directory of the server's own logs, which has one for each day.
func (d Directories) ServerLogs() string { return filepath.Join(d.Logs(), "server") }

// Make makes the directories (GA 1.5), but for those of logs, without which the server works as well (decision S47). Only
// the user can look into new ones.
func (d Directories) Make() error {
	for _, path := range []string{d.Config, filepath.Dir(d.Sessions())} {
		if err := os.MkdirAll(path, 0o700); err != nil {
			return err
		}
	}
	return nil
}

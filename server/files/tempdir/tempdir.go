// Package tempdir creates temporary directories for programs that the server runs. They are removed after use. If a
// server is killed, the next start of a server removes its directories.
//
// Each directory has a file that its server has locked. The system releases the lock when the process ends, however
// that happens, so the lock shows whether the directory is still in use.
package tempdir

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/google/uuid"
)

const (
	prefix   = "goose-"
	nameSize = len(prefix) + 36 // with a UUID
	lockFile = "lock"
)

// A Directory is a directory that only this user can read.
type Directory struct {
	Path string
	lock *os.File // nil on systems without locks
}

// Make creates a directory in the system's temporary directory.
func Make() (*Directory, error) {
	path := filepath.Join(os.TempDir(), prefix+uuid.NewString())
	if err := os.Mkdir(path, 0o700); err != nil {
		return nil, err
	}
	// The lock file gets its name only after it is locked, so that a sweep never finds an unlocked one of a live
	// server.
	hidden := filepath.Join(path, "."+lockFile)
	lock, err := locked(hidden)
	d := &Directory{path, lock}
	if err == nil && lock != nil {
		err = os.Rename(hidden, filepath.Join(path, lockFile))
	}
	if err != nil {
		return nil, errors.Join(err, d.Remove())
	}
	return d, nil
}

// Remove removes the directory and its content. It does nothing for a nil Directory.
func (d *Directory) Remove() error {
	if d == nil {
		return nil
	}
	err := os.RemoveAll(d.Path)
	if d.lock != nil {
		err = errors.Join(err, d.lock.Close())
	}
	return err
}

// Sweep removes the directories that servers of this user have left behind.
func Sweep(log *slog.Logger) {
	entries, err := os.ReadDir(os.TempDir())
	if err != nil {
		log.Debug("temporary directories not swept", "err", err)
	}
	for _, entry := range entries {
		if len(entry.Name()) != nameSize || entry.Name()[:len(prefix)] != prefix {
			continue
		}
		path := filepath.Join(os.TempDir(), entry.Name())
		lock := abandoned(path)
		if lock == nil {
			continue
		}
		err := (&Directory{path, lock}).Remove()
		log.Info("temporary directory of a server that was killed removed", "path", path, "err", err)
	}
}

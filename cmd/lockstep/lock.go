package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/lockstep-dev/lockstep/internal/regular"
)

// lockName is the file whose lock marks a folder as being written to. It stays empty.
const lockName = ".lock"

// ownFolder creates a folder if necessary and locks it for this process, so that no other run overwrites its files.
func ownFolder(dir string) (io.Closer, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, lockName)
	if err := regular.CheckNew(path); err != nil {
		return nil, err
	}
	lock, holder, err := lockFile(path)
	if err == nil && holder != "" {
		err = fmt.Errorf("%s is writing to %s", holder, dir)
	}
	return lock, err
}
